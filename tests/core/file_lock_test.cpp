// tests/core/file_lock_test.cpp - one at a time, among threads and among processes.
#include <headrace/internal/core/file_lock.hpp>

#include <core/eventually.hpp>
#include <core/scratch_folder.hpp>
#include <core/waiting_call.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headrace {
namespace {

using namespace std::chrono_literals;
using test::eventually;
using test::ScratchFolder;
using test::WaitingCall;

/// What processes that are forked from now on see, too.
class SharedCounter {
public:
    SharedCounter()
        : count_(
              static_cast<std::atomic<int>*>(::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
    ~SharedCounter() { ::munmap(count_, sizeof *count_); }
    SharedCounter(const SharedCounter&) = delete; // unmaps once
    SharedCounter& operator=(const SharedCounter&) = delete;
    std::atomic<int>& operator*() const { return *count_; }

private:
    std::atomic<int>* count_;
};

/// Each leaves it when another one asks for it, which would come in if it could.
TEST(FileLock, OneAtATimeHasIt) {
    const ScratchFolder folder;
    constexpr int contenders = 6;
    const SharedCounter asking, inside, together, ended;
    const auto enter = [&] {
        for (int i = 0; i < 20; ++i) {
            ++*asking;
            const FileLock alone(folder.path() / "lock", 7, 60s);
            --*asking;
            if (++*inside > 1) ++*together;
            static_cast<void>(
                eventually([&] { return *asking > 0 || *inside > 1 || *ended == contenders - 1; }, 60s));
            --*inside;
        }
        ++*ended;
    };
    std::vector<pid_t> processes;
    for (int i = 0; i < contenders / 2; ++i) {
        processes.push_back(::fork());
        ASSERT_GE(processes.back(), 0);
        if (processes.back() != 0) continue;
        enter();
        ::_exit(0);
    }
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < contenders / 2; ++i) threads.emplace_back(enter);
    }
    for (const pid_t process : processes) EXPECT_EQ(::waitpid(process, nullptr, 0), process);
    EXPECT_EQ(*together, 0);
}

TEST(FileLock, NobodyWaitsForAnotherNumberNorLongerThanHeLikes) {
    const ScratchFolder folder;
    const FileLock first(folder.path() / "lock", 1, 60s);
    const auto waited = [&](std::uint32_t number, std::chrono::seconds patience) {
        const auto asked = std::chrono::steady_clock::now();
        const FileLock second(folder.path() / "lock", number, patience);
        return std::chrono::steady_clock::now() - asked;
    };
    EXPECT_LT(waited(2, 60s), 30s);
    EXPECT_GE(waited(1, 1s), 1s);
}

TEST(FileLock, WhereThereCanBeNoneNobodyWaits) {
    const auto asked = std::chrono::steady_clock::now();
    const FileLock first("/proc/no/such/folder/lock", 0, 60s), second("/proc/no/such/folder/lock", 0, 60s);
    EXPECT_LT(std::chrono::steady_clock::now() - asked, 30s);
}

TEST(FileLock, AProcessThatEndsHasItNoMore) {
    const ScratchFolder folder;
    const SharedCounter has_it;
    const pid_t process = ::fork();
    ASSERT_GE(process, 0);
    if (process == 0) {
        const FileLock kept(folder.path() / "lock");
        ++*has_it;
        ::pause();
    }
    ASSERT_TRUE(eventually([&] { return *has_it != 0; }));
    const auto asked = std::chrono::steady_clock::now();
    WaitingCall next([&] { const FileLock ours(folder.path() / "lock", 0, 60s); });
    EXPECT_TRUE(next.waits());
    ::kill(process, SIGKILL);
    EXPECT_EQ(::waitpid(process, nullptr, 0), process);
    next.join();
    EXPECT_LT(std::chrono::steady_clock::now() - asked, 30s);
}

} // namespace
} // namespace headrace
