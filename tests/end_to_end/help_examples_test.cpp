// tests/end_to_end/help_examples_test.cpp - every --help begins with an example, and it works as it stands.
#include "end_to_end/program.hpp"
#include <core/environment_variable.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <string>
#include <string_view>

namespace headrace::end_to_end {
namespace {

struct HelpExample : testing::TestWithParam<const char*> {};

TEST_P(HelpExample, Works) {
    const Scratch folder;
    const auto in_shell = [&](const std::string& commands) {
        return Program("/bin/sh", {"-e", "-c", "PATH=\"$0:$PATH\"; " + commands, HEADRACE_PROGRAMS},
                       folder.path())
            .wait();
    };
    const Outcome help = in_shell(std::string(GetParam()) + " --help");
    ASSERT_EQ(help.exit_code, 0) << help.errors;
    constexpr std::string_view heading = "Example:\n";
    ASSERT_TRUE(help.output.starts_with(heading)) << help.output.substr(0, 200);
    const std::string example = help.output.substr(heading.size(), help.output.find("\n\n") - heading.size());
    EXPECT_NE(example.find(GetParam()), std::string::npos) << example;
    const test::EnvironmentVariable devices("HEADRACE_DEVICES", "cpu");
    const test::EnvironmentVariable calibrations("HEADRACE_CALIBRATIONS",
                                                 (folder.path() / "calibrations.json").string());
    const Outcome outcome = in_shell(example);
    const bool is_doctor =
        std::string_view(GetParam()).ends_with("doctor"); // 1: of the machine, not the example
    EXPECT_TRUE(outcome.exit_code == 0 || (is_doctor && outcome.exit_code == 1))
        << example << "\n"
        << outcome.exit_code << ": " << outcome.errors;
    EXPECT_FALSE(outcome.output.empty());
}

/// bash offers each option that --help has.
TEST_P(HelpExample, BashCompletesWhatHelpHas) {
    const Scratch folder;
    const std::string command = GetParam(), program = command.substr(0, command.find(' '));
    const bool is_command = command != program;
    const std::string offer = "PATH=\"" HEADRACE_PROGRAMS ":$PATH\"; source <(" + program +
                              " --bash-completion); COMP_WORDS=(" + command +
                              " --); COMP_CWORD=" + (is_command ? "2" : "1") + "; $(complete -p " + program +
                              " | sed 's/.*-F \\([^ ]*\\).*/\\1/'); printf '%s\\n' \"${COMPREPLY[@]}\"";
    const Outcome offered = Program("/bin/bash", {"-c", offer}, folder.path()).wait();
    ASSERT_EQ(offered.exit_code, 0) << offered.errors;
    const Outcome help =
        Program("/bin/sh", {"-c", "PATH=\"$0:$PATH\"; " + command + " --help", HEADRACE_PROGRAMS},
                folder.path())
            .wait();
    const std::regex option("\n  (?:-h,)?(--[a-zA-Z0-9-]+)");
    std::size_t options = 0;
    for (std::sregex_iterator at(help.output.begin(), help.output.end(), option), end; at != end;
         ++at, ++options)
        EXPECT_NE(("\n" + offered.output).find("\n" + at->str(1) + "\n"), std::string::npos)
            << at->str(1) << " is not in\n"
            << offered.output;
    EXPECT_GE(options, 2u) << help.output;
}

INSTANTIATE_TEST_SUITE_P(, HelpExample,
                         testing::Values("headrace", "headrace devices", "headrace calibrate",
                                         "headrace doctor", "headrace report", "headrace-barnes-hut",
                                         "headrace-chain-matmul", "headrace-coexec", "headrace-fluorescence",
                                         "headrace-hotspot", "headrace-mandelbrot", "headrace-matrix-pow",
                                         "headrace-optical-flow", "headrace-path-tracer", "headrace-sobel"),
                         [](const auto& tested) {
                             return std::regex_replace(tested.param, std::regex("[^a-z]"), "_");
                         });

} // namespace
} // namespace headrace::end_to_end
