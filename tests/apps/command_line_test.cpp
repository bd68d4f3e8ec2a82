// The command line of every program: what is taken, and what is refused in words that name the option.
#include "program/command_line.hpp"
#include "program/used_files.hpp"
#include <core/scratch_folder.hpp>
#include <headrace/core/error.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace program {
namespace {

using headrace::test::ScratchFolder;

struct Values {
    int size = 64;
    std::uint64_t seed = 1;
    double share = 0.5;
    std::string name = "none";
    std::size_t mode = 1;
    bool loud = false;
    std::filesystem::path in, out, log;
    std::string film;
    std::vector<std::string> parts;
};

/// A program with an option of each kind, and what is read from its command line.
class CommandLineTest : public testing::Test {
protected:
    Values parse(std::vector<std::string> arguments) {
        Values values;
        CommandLine line("headrace-test", "Tests the command line.");
        line.group("Work");
        line.whole("--size", values.size, -1, 100, "N", "How many");
        line.whole("--seed", values.seed, 0, ~std::uint64_t{0}, "N", "Of random numbers");
        line.real("--share", values.share, 0, 1, "S", "How much");
        line.text("--name", values.name, "NAME", "Of something");
        line.choice("--mode", values.mode, {"slow", "fast", "idle"}, "How");
        line.flag("--loud", values.loud, "Or not");
        line.input("--in", values.in, "Read");
        line.output("--out", values.out, "Written");
        line.output("--log", values.log, "Written, too");
        line.texts("--parts", values.parts, "PART", "One or more");
        line.output_stream("--film", values.film, "FILE", "Written as it comes");
        arguments.insert(arguments.begin(), "headrace-test");
        forget_used_files(); // of the program before
        std::vector<char*> argv;
        for (std::string& argument : arguments) argv.push_back(argument.data());
        line.parse(static_cast<int>(argv.size()), argv.data());
        writes_to_stdout_ = line.writes_to_stdout();
        return values;
    }
    void expect_refused(const std::vector<std::string>& arguments, const std::string& words) {
        try {
            static_cast<void>(parse(arguments));
            ADD_FAILURE() << arguments.front() << " was taken";
        } catch (const headrace::Error& error) {
            EXPECT_TRUE(error.is_users_mistake());
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    }

    ScratchFolder folder_;
    bool writes_to_stdout_ = false;
};

TEST_F(CommandLineTest, ValuesAreTaken) {
    const std::string out = (folder_.path() / "out").string();
    const Values values =
        parse({"--size", "-1", "--seed", "18446744073709551615", "--share", "2.5e-1", "--name", "a b",
               "--mode", "idle", "--loud", "--in", "nowhere", "--out", out});
    EXPECT_EQ(values.size, -1);
    EXPECT_EQ(values.seed, ~std::uint64_t{0});
    EXPECT_EQ(values.share, 0.25);
    EXPECT_EQ(values.name, "a b");
    EXPECT_EQ(values.mode, 2u);
    EXPECT_TRUE(values.loud);
    EXPECT_EQ(values.in, "nowhere");
    EXPECT_EQ(values.out, out);
    EXPECT_EQ(folder_.files(), 0u) << "trying a file leaves nothing behind";
}

TEST_F(CommandLineTest, NumbersMayHavePlusSignsAndBeTooSmallForDoubles) {
    EXPECT_EQ(parse({"--share", "+0.25"}).share, 0.25);
    EXPECT_EQ(parse({"--share", "1e-400"}).share, 0);
    EXPECT_EQ(numbers("--at", "+1,-2e3,1e-999", 3, "three"), (std::vector<double>{1, -2000, 0}));
    for (const char* text : {"", "1", "1,2,", ",1,2", "1,2,3,4", "1,,3", "1,2,nan", "1,2,1e999", "1,2,+-3"})
        EXPECT_THROW(static_cast<void>(numbers("--at", text, 3, "three")), headrace::Error) << text;
}

TEST_F(CommandLineTest, ListsAreTakenFromEachPlaceInTurn) {
    const Values values = parse({"--parts", "a b", "-", "c,d", "--size", "2", "--parts", "e"});
    EXPECT_EQ(values.parts, (std::vector<std::string>{"a b", "-", "c,d", "e"}));
    EXPECT_EQ(values.size, 2);
    EXPECT_TRUE(parse({}).parts.empty());
    expect_refused({"--parts"}, "--parts");
    expect_refused({"--parts", "a", "--colour", "red"}, "--colour");
}

TEST_F(CommandLineTest, WhatIsNotSaidStaysAsItWas) {
    const Values values = parse({});
    EXPECT_EQ(values.size, 64);
    EXPECT_EQ(values.seed, 1u);
    EXPECT_EQ(values.share, 0.5);
    EXPECT_EQ(values.name, "none");
    EXPECT_EQ(values.mode, 1u);
    EXPECT_FALSE(values.loud);
    EXPECT_TRUE(values.out.empty());
}

TEST_F(CommandLineTest, MistakesNameTheOptionAndWhatItTakes) {
    for (const char* text : {"-2", "101", "1.5", "1e1", "many", "", " 1", "99999999999999999999"})
        expect_refused({"--size", text}, "--size");
    expect_refused({"--size", "101"}, "a whole number from -1 to 100");
    for (const char* text : {"-0.1", "1.01", "nan", "inf", "1e400", "+-1", "half", ""})
        expect_refused({"--share", text}, "--share");
    expect_refused({"--share", "2"}, "a number from 0 to 1");
    expect_refused({"--mode", "Fast"}, "slow or fast or idle");
    expect_refused({"--seed", "-1"}, "--seed");
    expect_refused({"--colour", "red"}, "--colour");
    expect_refused({"stray"}, "stray");
    expect_refused({"--size"}, "--size");
}

TEST_F(CommandLineTest, FilesThatCannotBeWrittenAreRefused) {
    expect_refused({"--out", (folder_.path() / "nowhere" / "a").string()}, "nowhere");
    expect_refused({"--out", folder_.path().string()}, "folder");
}

TEST_F(CommandLineTest, NoTwoOutputsAreOneFile) {
    const ScratchFolder folder;
    const std::string a = folder.path() / "a", b = folder.path() / "b";
    expect_refused({"--out", a, "--log", a}, "--out and --log are both written to " + a);
    expect_refused({"--film", a, "--log", a}, "--log and --film");
    expect_refused({"--out", a, "--log", folder.path() / "." / "a"}, "--out and --log");
    expect_refused({"--film", "-", "--log", "-"}, "standard output");
    parse({"--out", a, "--log", b, "--film", "-"});
    parse({"--out", "/dev/null", "--log", "/dev/null"});
    std::filesystem::create_symlink(folder.write("a", ""), b);
    expect_refused({"--out", a, "--log", b}, "--out and --log");
}

TEST_F(CommandLineTest, ADashIsStandardOutput) {
    for (const char* name : {"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
        EXPECT_EQ(parse({"--out", name}).out, "-");
        EXPECT_TRUE(writes_to_stdout_);
        EXPECT_EQ(parse({"--film", name}).film, "-");
    }
    EXPECT_EQ(parse({"--out", "-"}).out, "-");
    EXPECT_TRUE(writes_to_stdout_);
    static_cast<void>(parse({}));
    EXPECT_FALSE(writes_to_stdout_);
}

TEST_F(CommandLineTest, HelpShowsOptionsWithTheirDefaults) {
    testing::internal::CaptureStdout();
    EXPECT_THROW(static_cast<void>(parse({"--help"})), Answered);
    const std::string help = testing::internal::GetCapturedStdout();
    for (const char* words : {"Tests the command line.", "Work:", "--size N=64", "How many", "--share S=0.5",
                              "--mode slow|fast|idle=fast", "--loud", "--out FILE"})
        EXPECT_NE(help.find(words), std::string::npos) << words << "\n" << help;
}

TEST_F(CommandLineTest, VersionIsAnsweredAlone) {
    testing::internal::CaptureStdout();
    EXPECT_THROW(static_cast<void>(parse({"--version"})), Answered);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), HEADRACE_VERSION "\n");
}

} // namespace
} // namespace program
