// tests/end_to_end/one_program.hpp - tests of one program on the processor, in a folder of their own.
#pragma once
#include "end_to_end/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace headrace::end_to_end {

class OneProgram : public testing::Test {
protected:
    /// `name`: what `shell` calls it.
    OneProgram(std::string program, std::string name)
        : program_(std::move(program)), name_(std::move(name)) {}

    /// On the processor, unless the options name devices.
    [[nodiscard]] Outcome run(std::vector<std::string> options) const {
        if (std::ranges::find(options, "--devices") == options.end())
            options.insert(options.end(), {"--devices", "cpu"});
        return Program(program_, std::move(options), folder_.path()).wait();
    }
    /// By name, on the processor.
    [[nodiscard]] Outcome shell(const std::string& command) const {
        const std::string function = name_ + "() { '" + program_ + "' --devices cpu \"$@\"; }; ";
        return Program("/bin/sh", {"-c", function + command}, folder_.path()).wait();
    }
    void expect_success(const Outcome& outcome) const {
        ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
        EXPECT_FALSE(outcome.timed_out);
    }
    /// One line on stderr with each of `words`, nothing on stdout. 2: a mistake of the user's, 1: a failure.
    void expect_refusal(const std::vector<std::string>& options, std::initializer_list<const char*> words,
                        int exit_code = 2) const {
        expect_words(run(options), words, exit_code);
    }
    void expect_words(const Outcome& outcome, std::initializer_list<const char*> words, int exit_code) const {
        SCOPED_TRACE(outcome.errors);
        EXPECT_EQ(outcome.exit_code, exit_code);
        EXPECT_EQ(outcome.signal, 0);
        EXPECT_EQ(std::ranges::count(outcome.errors, '\n'), 1) << "not one line";
        for (const char* word : words) EXPECT_NE(outcome.errors.find(word), std::string::npos) << word;
        EXPECT_TRUE(outcome.output.empty());
    }
    [[nodiscard]] std::string content(const std::string& name) const {
        std::ifstream stream(folder_.path() / name, std::ios::binary);
        EXPECT_TRUE(stream.is_open()) << name;
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    Scratch folder_;

private:
    const std::string program_, name_;
};

} // namespace headrace::end_to_end
