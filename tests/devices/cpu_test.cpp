// tests/devices/cpu_test.cpp - what the processor's backend promises beyond the contract.
#include <core/quiet_machine.hpp>
#include <devices/requests.hpp>
#include <headrace/devices/cpu/arena.hpp>
#include <headrace/internal/devices/cpu/arena_tbb.hpp>
#include <headrace/internal/devices/cpu/cpu.hpp>

#include <gtest/gtest.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <stdexcept>

#include <sched.h>

namespace headrace::test {
namespace {

using namespace std::chrono_literals;

std::vector<Core> all_cores() { return read_topology().cores; }

TEST(CpuArena, CallsEveryBodyOnce) {
    CpuArena arena(all_cores(), false);
    for (const unsigned n : {0u, 1u, 2u, 7u, 1000u}) {
        std::vector<std::atomic<int>> calls(n);
        arena.run(n, [&](unsigned i) { ++calls[i]; });
        for (const auto& count : calls) EXPECT_EQ(count, 1);
    }
}

TEST(CpuArena, RethrowsWhatABodyThrew) {
    CpuArena arena(all_cores(), false);
    EXPECT_THROW(arena.run(100, [](unsigned i) { i == 37 ? throw std::out_of_range("37") : void(); }),
                 std::out_of_range);
    std::atomic<int> calls = 0;
    arena.run(10, [&](unsigned) { ++calls; });
    EXPECT_EQ(calls, 10);
}

TEST(CpuArena, HasAThreadForEachHardwareThread) {
    std::size_t threads = 0;
    for (const Core& core : all_cores()) threads += core.size();
    EXPECT_EQ(CpuArena(all_cores(), false).threads(), threads);
    EXPECT_EQ(CpuArena(std::vector<Core>{all_cores().front()}, true).threads(), all_cores().front().size());
}

TEST(CpuArena, PinnedThreadsStayOnTheirCores) {
    const auto cores = all_cores();
    const std::set<unsigned> allowed(cores.back().begin(), cores.back().end());
    cpu_set_t before, after;
    sched_getaffinity(0, sizeof before, &before);
    CpuArena arena(std::vector<Core>{cores.back()}, true);
    std::atomic<int> outside = 0;
    arena.run(64, [&](unsigned) {
        cpu_set_t set;
        sched_getaffinity(0, sizeof set, &set);
        for (unsigned processor = 0; processor < CPU_SETSIZE; ++processor)
            if (CPU_ISSET(processor, &set) && !allowed.contains(processor)) ++outside;
    });
    EXPECT_EQ(outside, 0);
    sched_getaffinity(0, sizeof after, &after);
    EXPECT_TRUE(CPU_EQUAL(&before, &after)); // the caller's thread is its own again
}

TEST(CpuArena, IsAnArenaOfOneTbb) {
    CpuArena arena(all_cores(), false);
    const int sum = tbb_arena(arena).execute([] {
        return tbb::parallel_reduce(
            tbb::blocked_range<int>(0, 1000), 0,
            [](const tbb::blocked_range<int>& range, int start) {
                for (int i = range.begin(); i < range.end(); ++i) start += i;
                return start;
            },
            std::plus<>());
    });
    EXPECT_EQ(sum, 499'500);
}

TEST(CpuDevice, WorksInPlaceOnMemoryOfTheHost) {
    const auto device = make_cpu_device();
    const auto memory = device->allocate(64);
    ASSERT_NE(memory->address(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->address()) % 64, 0u);
    EXPECT_TRUE(device->info().shares_host_memory);
}

TEST(CpuDevice, TakesAsManyCoresAsItIsTold) {
    const unsigned cores = make_cpu_device()->info().compute_units;
    const auto one = make_cpu_device(1);
    EXPECT_EQ(one->info().compute_units, 1u);
    EXPECT_NEAR(one->info().peak_gflops * cores, make_cpu_device()->info().peak_gflops,
                0.2 * make_cpu_device()->info().peak_gflops); // the clock may have been read at two moments
    EXPECT_THROW(static_cast<void>(make_cpu_device(100'000)), Error);
}

TEST(CpuDevice, DoesNotPromiseTheSameMemoryTwice) {
    const auto device = make_cpu_device();
    // Other programs take memory and give it back meanwhile, but all of it together stays the machine's.
    const Bytes all = host_memory();
    std::vector<std::unique_ptr<Memory>> given; // never touched: the system would promise it again
    Bytes sum = 0;
    const auto take = [&] {
        given.push_back(device->allocate(all / 8));
        sum += all / 8;
    };
    EXPECT_THROW(while (sum <= 2 * all) take(), Error);
    EXPECT_LE(sum, all);
}

TEST(CpuDevice, DoesNotAskTheSystemForEachAllocation) {
    const auto device = make_cpu_device();
    on_a_quiet_machine([&] {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < 10'000; ++i) static_cast<void>(device->allocate(64));
        EXPECT_LT(std::chrono::steady_clock::now() - begin, 200ms); // a question takes about 0.1 ms
    });
}

TEST(CpuDevice, AKernelUsesTheArena) {
    const auto device = make_cpu_device();
    const auto stream = device->make_stream();
    std::vector<int> squares(1000);
    stream
        ->launch([&](const NativeStream& native) {
            static_cast<CpuArena*>(native.stream)->run(1000, [&](unsigned i) {
                squares[i] = static_cast<int>(i * i);
            });
        })
        .wait();
    EXPECT_EQ(squares[999], 998'001);
}

TEST(CpuDevice, OfAnyNameIsNamedByItsErrors) {
    const auto device = make_cpu_device("cpu:7", all_cores(), std::nullopt);
    const auto stream = device->make_stream(Timing::all);
    const auto who_fails = [](const auto& call) {
        try {
            call();
        } catch (const Error& error) {
            return error.device();
        }
        return std::string("nobody");
    };
    EXPECT_EQ(who_fails([&] {
                  stream->launch([](const NativeStream&) { throw std::runtime_error("broken"); }, {}).wait();
              }),
              "cpu:7");
    EXPECT_EQ(who_fails([&] { static_cast<void>(device->allocate(~Bytes{0} / 2)); }), "cpu:7");
    EXPECT_EQ(who_fails([&] { stream->fill_zero(*device->allocate(8), 4, 8, {}).wait(); }), "cpu:7");
}

} // namespace
} // namespace headrace::test
