// What signals do to a program that ends within a second, and to one that stores what it has done first.
#include <core/eventually.hpp>
#include <job_program/interruption.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

#include <unistd.h>

namespace job_program {
namespace {

using namespace std::chrono_literals;

/// Longer than a program lives that has promised nothing else.
constexpr auto longer_than_the_promise = 1200ms;
/// Of a program that was still there at the end.
constexpr int stayed = 42;

void pass(std::chrono::milliseconds time) {
    static_cast<void>(headrace::test::eventually([] { return false; }, time));
}

class Signals : public testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
using testing::ExitedWithCode;

TEST_F(Signals, EndAProgramThatDoesNotAnswer) {
    EXPECT_EXIT(
        {
            watch_for_interruption();
            std::raise(SIGTERM);
            pass(20s);
        },
        ExitedWithCode(128 + SIGTERM), "did not answer in time");
}

TEST_F(Signals, BeforeAPromiseToStoreAreUnderIt) {
    EXPECT_EXIT(
        {
            watch_for_interruption();
            std::raise(SIGTERM);
            const EndsByItself stores;
            pass(longer_than_the_promise);
            ::_exit(interruption() == SIGTERM ? stayed : 1);
        },
        ExitedWithCode(stayed), "");
}

TEST_F(Signals, OfOneMomentAreOneWhileAProgramStores) {
    EXPECT_EXIT(
        {
            watch_for_interruption();
            {
                const EndsByItself stores;
                for (int i = 0; i < 3; ++i) std::raise(SIGTERM);
            }
            std::raise(SIGTERM); // it has been fast
            ::_exit(stayed);
        },
        ExitedWithCode(stayed), "");
    EXPECT_EXIT(
        {
            watch_for_interruption();
            std::raise(SIGTERM); // and no promise yet
            const EndsByItself stores;
            std::raise(SIGTERM);
            ::_exit(stayed);
        },
        ExitedWithCode(stayed), "");
    EXPECT_EXIT(
        {
            watch_for_interruption();
            const EndsByItself stores;
            note_interruption(SIGTERM); // of another rank
            std::raise(SIGTERM);
            ::_exit(stayed);
        },
        ExitedWithCode(stayed), "");
}

TEST_F(Signals, EndAProgramThatStoresIfTheSecondComesLater) {
    EXPECT_EXIT(
        {
            watch_for_interruption();
            const EndsByItself stores;
            std::raise(SIGTERM);
            pass(longer_than_the_promise);
            std::raise(SIGINT);
            ::_exit(stayed);
        },
        ExitedWithCode(128 + SIGINT), "interrupted twice");
}

TEST_F(Signals, EndAnyOtherProgramAtTheSecond) {
    EXPECT_EXIT(
        {
            watch_for_interruption();
            std::raise(SIGINT);
            std::raise(SIGINT);
            ::_exit(stayed);
        },
        ExitedWithCode(128 + SIGINT), "interrupted twice");
}

} // namespace
} // namespace job_program
