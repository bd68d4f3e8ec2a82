// What scripts of users rely on: the text of --help, the keys of --report, the form of --trace. The first
// two are compared with files in golden/. A change that is meant is written with HEADRACE_WRITE_GOLDEN=1, and
// stands in CHANGELOG.md.
#include "end_to_end/program.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace headrace::end_to_end {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Run {
    std::string program;   ///< without "headrace-"
    std::string arguments; ///< of a short run
};
std::ostream& operator<<(std::ostream& out, const Run& run) { return out << run.program; }

const std::vector<Run> runs = {
    {"barnes-hut", "--plummer 100 --steps 1"},
    {"chain-matmul", "--size 32 --iterations 2"},
    {"coexec", "--problem matmul --size 64"},
    {"fluorescence", "--photons 1000 --input " HEADRACE_SEEDS "/layers.mci"},
    {"hotspot", "--size 32 --iterations 4"},
    {"mandelbrot", "--width 32 --height 32 --frames 2"},
    {"matrix-pow", "--size 32 --steps 2"},
    {"optical-flow", "--input memory:3 --width 64 --height 64"},
    {"path-tracer", "--scene s.obj --width 16 --height 16 --spp 1 --out o.pfm"},
    {"sobel", "--input memory:2 --output memory:2 --width 32 --height 32"},
};
/// What each trace has, in the form of forms_of().
const std::set<std::string> spans = {"M: args name ph pid tid = process_name",
                                     "M: args name ph pid tid = thread_name", "X: dur name ph pid tid ts"};
/// What a trace has besides, if data went from one span to another.
const std::set<std::string> arrows = {"s: bp cat id name ph pid tid ts", "f: bp cat id name ph pid tid ts"};
constexpr const char* triangle = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nf 1 2 3\n";

/// Each key's path: `devices[].id`. A figure that may be absent has one path, known or not.
void collect_keys(const Json& value, const std::string& path, std::set<std::string>& keys) {
    if (value.is_object() && value.size() == 1 && value.contains("absent")) {
        keys.insert(path);
    } else if (value.is_object()) {
        for (const auto& [key, inner] : value.items())
            collect_keys(inner, path.empty() ? key : path + "." + key, keys);
    } else if (value.is_array()) {
        keys.insert(path + "[]");
        for (const Json& inner : value) collect_keys(inner, path + "[]", keys);
    } else {
        keys.insert(path);
    }
}

/// Phases of events with the names of their members; of metadata also what is named.
std::set<std::string> forms_of(const Json& trace) {
    std::set<std::string> forms;
    for (const Json& event : trace.at("traceEvents")) {
        std::string form = event.at("ph").get<std::string>() + ":";
        for (const auto& [key, value] : event.items()) form += " " + key;
        if (event.at("ph") == "M") form += " = " + event.at("name").get<std::string>();
        forms.insert(form);
    }
    return forms;
}

std::string lines_of(const std::set<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

class Golden : public testing::TestWithParam<Run> {
protected:
    [[nodiscard]] fs::path program() const { return HEADRACE_PROGRAMS "/headrace-" + GetParam().program; }

    void expect_golden(const std::string& folder, const std::string& text) const {
        const fs::path file = fs::path(HEADRACE_GOLDEN) / folder / (GetParam().program + ".txt");
        if (std::getenv("HEADRACE_WRITE_GOLDEN") != nullptr) {
            fs::create_directories(file.parent_path());
            std::ofstream(file, std::ios::binary) << text;
        }
        std::ifstream stream(file, std::ios::binary);
        ASSERT_TRUE(stream) << "there is no " << file;
        EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(stream), {})) << file;
    }

    /// Runs it on the processor with `option FILE`, and returns the file.
    [[nodiscard]] Json output_of(const std::string& option) const {
        const Scratch folder;
        folder.write("s.obj", triangle);
        const Outcome outcome = Program("/bin/sh",
                                        {"-c", program().string() + " " + GetParam().arguments +
                                                   " --devices cpu --quiet " + option + " out.json"},
                                        folder.path())
                                    .wait();
        EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
        std::ifstream stream(folder.path() / "out.json");
        return Json::parse(stream);
    }
};

TEST_P(Golden, HelpIsAsItWas) {
    const Scratch folder;
    const Outcome outcome = Program(program(), {"--help"}, folder.path()).wait();
    ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
    std::string text = outcome.output;
    const std::string where = HEADRACE_PROGRAMS "/";
    for (std::size_t at; (at = text.find(where)) != std::string::npos;) text.erase(at, where.size());
    // Its default is the number of the machine's cores.
    text = std::regex_replace(text, std::regex("--host-threads N=[0-9]+ *"), "--host-threads N=CORES ");
    expect_golden("help", text);
}

TEST_P(Golden, ReportHasTheKeysThatItHad) {
    std::set<std::string> keys;
    collect_keys(output_of("--report"), "", keys);
    expect_golden("report", lines_of(keys));
}

TEST_P(Golden, TraceHasTheFormThatItHad) {
    std::set<std::string> forms = forms_of(output_of("--trace"));
    const bool has_arrows = forms.contains(*arrows.begin());
    for (const std::string& arrow : arrows) EXPECT_EQ(forms.erase(arrow), has_arrows ? 1U : 0U) << arrow;
    EXPECT_EQ(lines_of(forms), lines_of(spans));
}

std::string by_program(const testing::TestParamInfo<Run>& of) {
    std::string name = of.param.program;
    std::ranges::replace(name, '-', '_');
    return name;
}
INSTANTIATE_TEST_SUITE_P(Of, Golden, testing::ValuesIn(runs), by_program);

} // namespace
} // namespace headrace::end_to_end
