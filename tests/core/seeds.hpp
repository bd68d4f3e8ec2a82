// tests/core/seeds.hpp - seeds of tests that draw random numbers: fixed, fresh or given.
//
// All seeds of a test come from one number, which the test prints before it draws and again when it fails.
// HEADRACE_SEED=n sets that number, so that a run is repeated. HEADRACE_FRESH_SEEDS=n, with n above 0, makes
// fixed seeds fresh; a test that tries a list of fixed seeds tries n fresh ones too.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace headrace::test {

/// The number in HEADRACE_FRESH_SEEDS. Other text counts as 1.
inline std::uint64_t fresh_seeds_wanted() {
    const char* const text = std::getenv("HEADRACE_FRESH_SEEDS");
    if (text == nullptr || *text == '\0') return 0;
    char* end = nullptr;
    const std::uint64_t number = std::strtoull(text, &end, 10);
    return end == text ? 1 : number;
}

/// The number from which the seeds of the running test come. The test draws them in one thread.
class SeedOfTest final : public testing::EmptyTestEventListener {
public:
    enum class Kind { none, fixed, fresh };

    static SeedOfTest& instance() {
        static SeedOfTest& only = []() -> SeedOfTest& {
            auto made = std::make_unique<SeedOfTest>();
            SeedOfTest& listener = *made;
            testing::UnitTest::GetInstance()->listeners().Append(made.release()); // which deletes it
            return listener;
        }();
        return only;
    }

    std::uint64_t number(Kind kind) {
        if (kind_ == Kind::none) {
            kind_ = kind;
            number_ = chosen(kind);
            std::cout << "HEADRACE_SEED=" << number_ << std::endl; // now: the test may crash or hang
            testing::Test::RecordProperty("seed", std::to_string(number_));
        }
        if (kind_ != kind) throw std::logic_error("a test has fixed seeds or fresh ones, not both");
        return number_;
    }
    std::uint32_t next(Kind kind) {
        const std::uint64_t all = number(kind);
        return mixed({static_cast<std::uint32_t>(all), static_cast<std::uint32_t>(all >> 32), ++draws_});
    }

private:
    void OnTestEnd(const testing::TestInfo& test) override {
        if (kind_ != Kind::none && test.result()->Failed())
            std::cout << "HEADRACE_SEED=" << number_ << " repeats the random numbers of this test"
                      << std::endl;
        kind_ = Kind::none;
        draws_ = 0;
    }

    /// The same with every standard library.
    static std::uint32_t mixed(const std::vector<std::uint32_t>& words) {
        std::uint32_t seed = 0;
        std::seed_seq(words.begin(), words.end()).generate(&seed, &seed + 1);
        return seed;
    }
    static std::uint64_t chosen(Kind kind) {
        const char* const given = std::getenv("HEADRACE_SEED");
        if (given != nullptr && *given != '\0') return std::strtoull(given, nullptr, 10);
        if (kind == Kind::fresh || fresh_seeds_wanted() > 0) return std::random_device{}();
        const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
        const std::string name = std::string(test.test_suite_name()) + "." + test.name();
        return mixed({name.begin(), name.end()});
    }

    Kind kind_ = Kind::none;
    std::uint64_t number_ = 0;
    std::uint32_t draws_ = 0;
};

/// For what holds for every seed: another one in each run. A failure is a fault.
inline std::uint32_t fresh_seed() { return SeedOfTest::instance().next(SeedOfTest::Kind::fresh); }

/// For what holds for most seeds, such as a mean within its standard error: the same one in each run, and
/// another one at each use.
inline std::uint32_t fixed_seed() { return SeedOfTest::instance().next(SeedOfTest::Kind::fixed); }

/// For a test that tries neighbouring seeds one after another and names the one that fails: the first of
/// them, fresh.
inline std::uint64_t first_seed() { return SeedOfTest::instance().number(SeedOfTest::Kind::fresh); }

} // namespace headrace::test
