// tests/fuzz/corpus_test.cpp - a fuzz target on the files that are kept for it, whole and cut off anywhere:
// what fuzzing found once is found again by every test run, under the sanitizers too.
#include <headrace/core/log.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

TEST(Corpus, IsReadOrRefused) {
    headrace::set_log_level(headrace::LogLevel::off);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(HEADRACE_CORPUS)) {
        std::ifstream stream(entry.path(), std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
        SCOPED_TRACE(entry.path());
        const std::size_t step = std::max<std::size_t>(1, bytes.size() / 500);
        for (std::size_t size = 0; size <= bytes.size(); size += step) {
            const std::string part = bytes.substr(0, size); // of its own: reading beyond it is noticed
            EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(part.data()), size), 0);
        }
        ++files;
    }
    EXPECT_GT(files, 0u);
}

} // namespace
