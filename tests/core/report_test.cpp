// tests/core/report_test.cpp - a report as JSON and as text.
#include <headrace/core/figure.hpp>
#include <headrace/core/report.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace headrace {
namespace {

using Json = nlohmann::ordered_json;

TEST(Report, IsAnObjectThatBeginsWithItsVersion) {
    EXPECT_EQ(report_json(Json::object()), "{\n  \"schema_version\": 1\n}");
    EXPECT_EQ(report_json(Json{{"b", 1}, {"a", {{"c", nullptr}}}}),
              "{\n  \"schema_version\": 1,\n  \"b\": 1,\n  \"a\": {\n    \"c\": null\n  }\n}");
    const std::string report = report_json(Json{{"a", 1}});
    EXPECT_EQ(report_json(Json::parse(report)), report) << "a report may be filled from another one";
}

TEST(Report, NumbersKeepTheirLastBit) {
    const std::vector<double> numbers{0.1, 1.0 / 3, 1e-300, 5e-324, 1.7976931348623157e308, -0.0, 402062.0};
    const Json json = Json::parse(report_json(Json{{"numbers", numbers}}));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        EXPECT_EQ(json["numbers"][i].get<double>(), numbers[i]);
        EXPECT_EQ(std::signbit(json["numbers"][i].get<double>()), std::signbit(numbers[i]));
    }
    const std::string text = report_json(Json{{"tenth", 0.1}, {"three", 3.0}, {"most", ~std::uint64_t{0}}});
    for (const char* line : {"\"tenth\": 0.1,", "\"three\": 3.0,", "\"most\": 18446744073709551615\n"})
        EXPECT_NE(text.find(line), std::string::npos) << text;
}

TEST(Report, WhatIsNoNumberIsNull) {
    const double infinity = std::numeric_limits<double>::infinity();
    const Json json = Json::parse(report_json(Json{{"list", {infinity, -infinity, std::nan(""), 0.5}}}));
    EXPECT_EQ(json["list"].dump(), "[null,null,null,0.5]");
}

TEST(Report, AFigureIsItsNumberOrWhyThereIsNone) {
    EXPECT_EQ(Json(Figure{0.5, {}}).dump(), "0.5");
    EXPECT_EQ(Json(Figure{std::nullopt, "no meter"}).dump(), R"({"absent":"no meter"})");
}

TEST(Report, TextIsQuotedAndIsUtf8) {
    const std::string text = "a \"b\" \\ \n \x01 \xC2\xB5";
    const std::string report = report_json(Json{{"text", text}, {"no \xff UTF-8", "\xff"}});
    EXPECT_NE(report.find(R"("a \"b\" \\ \n \u0001 )"
                          "\xC2\xB5\""),
              std::string::npos)
        << report;
    const Json json = Json::parse(report);
    EXPECT_EQ(json.at("text"), text);
    EXPECT_EQ(json.at("no \xEF\xBF\xBD UTF-8"), "\xEF\xBF\xBD");
}

TEST(ReportText, HasATableAndLines) {
    ReportText text("a job", {{"tasks", 6}, {"out", 8}});
    text.device("cpu", "a name of more than thirty-four letters", {"12", mebibytes(3 << 19)});
    text.line("    retired: lost");
    text.left_out("hip", "not in this build");
    EXPECT_EQ(text.text(), "a job\n"
                           "  device       name                                tasks      out\n"
                           "  cpu          a name of more than thirty-four le     12      1.5\n"
                           "    retired: lost\n"
                           "  hip          left out: not in this build\n");
}

} // namespace
} // namespace headrace
