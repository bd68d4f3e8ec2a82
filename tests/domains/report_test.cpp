// tests/domains/report_test.cpp - the figures of a report follow from their definitions.
#include <headrace/domains/report.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace headrace {
namespace {

JobReport two_devices() {
    JobReport report;
    report.job = "j";
    report.policy = "demand";
    report.seconds = 2;
    report.work_units = 100;
    report.devices.resize(2);
    report.devices[0].id = "cpu";
    report.devices[1].id = "cuda:0";
    report.left_out.push_back({"opencl:0", "the same", "used as cuda:0"});
    return report;
}

TEST(JobReport, SpeedUpAndEfficiencyFromTimesAlone) {
    JobReport report = two_devices();
    report.compare_with({6, 3}); // together at best 1 / (1/6 + 1/3) = 2 s
    ASSERT_TRUE(report.heterogeneous_speed_up.value);
    EXPECT_DOUBLE_EQ(*report.heterogeneous_speed_up.value, 1.5);
    EXPECT_DOUBLE_EQ(*report.heterogeneous_efficiency.value, 1.0);
}

TEST(JobReport, JsonHasNumbersOrReasons) {
    JobReport report = two_devices();
    report.energy_joules.why_absent = "no meter";
    report.balance.value = 0.5;
    report.devices[0].seeds_transferred = 7;
    report.devices[1].units_received = 9;
    const auto json = nlohmann::json::parse(report.json());
    EXPECT_EQ(json, nlohmann::json(report)) << "it converts without its text, too";
    EXPECT_EQ(json["schema_version"], 1);
    EXPECT_EQ(json["devices"].size(), 2U);
    EXPECT_EQ(json["devices"][1]["id"], "cuda:0");
    EXPECT_EQ(json["left_out"][0]["why"], "used as cuda:0");
    EXPECT_EQ(json["balance"], 0.5);
    EXPECT_EQ(json["devices"][0]["seeds_given"], 7);
    EXPECT_EQ(json["devices"][1]["units_received"], 9);
    EXPECT_EQ(json["devices"][1]["units_given"], 0);
    EXPECT_NE(report.table().find("transferred 7 seeds and 0 units"), std::string::npos);
    EXPECT_EQ(json["energy_joules"]["absent"], "no meter");
    EXPECT_NE(report.table().find("energy - (no meter)\n"), std::string::npos) << report.table();
}

TEST(JobReport, EnergyHasItsUnits) {
    JobReport report = two_devices();
    report.devices[1].energy_joules.value = 12.5;
    report.devices[1].energy_delay_product.value = 25;
    report.energy_joules.value = 12.5;
    report.energy_delay_product.value = 25;
    const auto json = nlohmann::json::parse(report.json());
    EXPECT_EQ(json["devices"][1]["energy_joules"], 12.5);
    EXPECT_EQ(json["devices"][1]["energy_delay_product"], 25);
    EXPECT_EQ(json["energy_delay_product"], 25);
    EXPECT_NE(report.table().find("energy 12.500 J   energy-delay product 25.000 J s\n"), std::string::npos)
        << report.table();
}

} // namespace
} // namespace headrace
