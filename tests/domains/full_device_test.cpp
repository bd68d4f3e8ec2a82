// tests/domains/full_device_test.cpp - jobs on devices whose memory does not hold all of their data at once.
#include <core/eventually.hpp>
#include <core/fake_device.hpp>
#include <core/seeds.hpp>
#include <devices/devices_fixture.hpp>
#include <domains/checked_mode.hpp>
#include <domains/job.kernels.hpp>
#include <domains/small_device.hpp>
#include <headrace/headrace.hpp>
#include <headrace/internal/devices/cpu/cpu.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace headrace::test {
namespace {

using Word = std::uint64_t;
using Words = Domain<Word>;

/// Fake devices with so much memory each.
struct Fakes {
    std::vector<FakeDevice*> devices;
    std::unique_ptr<Runtime> runtime;

    Fakes(unsigned count, Bytes memory, const FakeOptions& like = {}) {
        std::vector<std::unique_ptr<Device>> owned;
        for (unsigned i = 0; i < count; ++i) {
            FakeOptions options = like;
            options.id = "fake:" + std::to_string(i);
            options.memory = memory;
            options.seed += i;
            auto device = std::make_unique<FakeDevice>(options);
            devices.push_back(device.get());
            owned.push_back(std::move(device));
        }
        runtime = std::make_unique<Runtime>(
            std::move(owned), RuntimeOptions{.devices = "", .policy = "demand:10", .model = "peak"});
    }
};

std::vector<Words> words(unsigned count, std::uint64_t size) {
    std::vector<Words> domains;
    for (unsigned i = 0; i < count; ++i)
        domains.emplace_back("datum " + std::to_string(i), Extent{{size, 1, 1}});
    return domains;
}

/// to[i] = from[size - 1 - i] + i, with the row of `to` alone and all of `from`.
Job mirror(const Words& from, const Words& to) {
    return Job("mirror " + from.name(), to.size())
        .in_order()
        .reads(from)
        .writes(rows(to))
        .host_function("fake", [from, to](Task& task, const NativeStream&) {
            const auto in = task.read(from);
            const auto out = task.write(to);
            for (std::uint64_t i = task.range().begin; i < task.range().end; ++i)
                out[i] = in[to.size() - 1 - i] + i;
        });
}

/// x[i] += amount, in place.
Job add(const Words& x, Word amount) {
    return Job("add to " + x.name(), x.size())
        .in_order()
        .updates(rows(x))
        .host_function("fake", [x, amount](Task& task, const NativeStream&) {
            const auto view = task.update(x);
            for (std::uint64_t i = task.range().begin; i < task.range().end; ++i) view[i] += amount;
        });
}

TEST(FullDevice, WhatEarlierJobsLeftThereMakesWay) {
    const auto domains = words(8, 100); // 800 bytes each
    const Fakes fakes(1, 2000);
    std::ranges::fill(domains[0].fill(), Word{1});
    for (int round = 0; round < 3; ++round)
        for (unsigned i = 0; i < 8; ++i)
            fakes.runtime->submit(mirror(domains[i], domains[(i + 1) % 8])).wait();
    std::vector<Word> expected(100, 1);
    for (int step = 0; step < 24; ++step) {
        std::ranges::reverse(expected);
        for (Word i = 0; i < 100; ++i) expected[i] += i;
    }
    EXPECT_TRUE(std::ranges::equal(domains[0].gather(), expected));
}

TEST(FullDevice, RandomJobsGiveWhatDoingThemOneAfterAnotherGives) {
    std::mt19937_64 random(fresh_seed());
    for (int round = 0; round < 24; ++round) {
        constexpr std::uint64_t size = 64, count = 6;
        const auto domains = words(count, size);
        std::vector<std::vector<Word>> expected(count, std::vector<Word>(size));
        for (unsigned d = 0; d < count; ++d) {
            for (Word i = 0; i < size; ++i) expected[d][i] = Word{1000} * d + i;
            std::ranges::copy(expected[d], domains[d].fill().begin());
        }
        const bool hurries = random() % 2 == 0;
        const Fakes fakes(static_cast<unsigned>(1 + random() % 3), (2 + random() % 2) * size * sizeof(Word),
                          {.has_peers = random() % 2 == 0,
                           .longest_delay = std::chrono::microseconds(hurries ? 0 : 50),
                           .seed = random()});
        std::vector<JobHandle> handles;
        for (int job = 0; job < 30; ++job) {
            const auto from = random() % count, to = random() % count;
            const Word amount = random() % 100;
            handles.push_back(fakes.runtime->submit(from == to ? add(domains[to], amount)
                                                               : mirror(domains[from], domains[to])));
            for (Word i = 0; i < size; ++i)
                expected[to][i] = from == to ? expected[to][i] + amount : expected[from][size - 1 - i] + i;
        }
        for (const JobHandle& handle : handles) handle.wait();
        for (unsigned d = 0; d < count; ++d)
            ASSERT_TRUE(std::ranges::equal(domains[d].gather(), expected[d])) << "round " << round;
    }
}

TEST(FullDevice, JobsThatFitAloneAndNotTogetherTakeTurns) {
    const auto domains = words(6, 100);
    const Fakes fakes(1, 1600, {.longest_delay = std::chrono::microseconds(100)}); // two of them
    std::vector<JobHandle> handles;
    for (unsigned i = 0; i < 6; i += 2) {
        std::ranges::fill(domains[i].fill(), Word{i});
        handles.push_back(fakes.runtime->submit(mirror(domains[i], domains[i + 1])));
    }
    for (const JobHandle& handle : handles) handle.wait();
    for (unsigned i = 0; i < 6; i += 2)
        for (Word k = 0; k < 100; ++k) ASSERT_EQ(domains[i + 1].gather()[k], i + k);
}

TEST(FullDevice, AJobThatIsCancelledWhileItWaitsForRoomEnds) {
    if (is_checked_mode()) GTEST_SKIP() << leaves_outputs_unwritten;
    const auto domains = words(4, 100);
    const Fakes fakes(1, 1600);
    std::atomic<bool> goes_on = false;
    for (const Words& domain : domains) std::ranges::fill(domain.fill(), Word{0});
    Job holds = mirror(domains[0], domains[1]);
    holds.host_function("fake", [&](Task&, const NativeStream&) { goes_on.wait(false); });
    const JobHandle first = fakes.runtime->submit(holds);
    ASSERT_TRUE(test::eventually([&] { return fakes.devices[0]->requests(FakeRequest::launch) > 0; }));
    const JobHandle second = fakes.runtime->submit(mirror(domains[2], domains[3]));
    EXPECT_FALSE(second.wait_for(std::chrono::milliseconds(20))) << "there is no room for it";
    second.cancel();
    goes_on = true;
    goes_on.notify_all();
    first.wait();
    EXPECT_THROW(second.wait(), Error);
}

Job count_up(const Words& sums, std::uint64_t units) {
    return Job("count", units)
        .accumulates(sums)
        .host_function("fake", [sums](Task& task, const NativeStream&) {
            const auto view = task.sum(sums);
            for (std::uint64_t i = task.range().begin; i < task.range().end; ++i)
                view.add(i % view.size(), 1);
        });
}

TEST(FullDevice, SumsFindRoom) {
    const auto domains = words(2, 100);
    const Words sums("sums", {100});
    const Fakes fakes(1, 1600);
    std::ranges::fill(domains[0].fill(), Word{3});
    fakes.runtime->submit(mirror(domains[0], domains[1])).wait();
    fakes.runtime->submit(count_up(sums, 1000)).wait();
    for (const Word sum : sums.gather()) ASSERT_EQ(sum, 10U);
    for (Word i = 0; i < 100; ++i) ASSERT_EQ(domains[1].gather()[i], 3 + i);
}

TEST(FullDevice, WhereNothingCanMakeWayTheErrorSaysWhatIsNeededAndTheRuntimeGoesOn) {
    const auto domains = words(2, 100);
    const Words sums("sums", {100});
    const Fakes fakes(1, 1600);
    std::ranges::fill(domains[0].fill(), Word{3});
    fakes.runtime->submit(count_up(sums, 1000)).wait(); // its sums stay until they are gathered
    const Job job = mirror(domains[0], domains[1]);
    try {
        fakes.runtime->submit(job).wait();
        ADD_FAILURE() << "there was room";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
        EXPECT_EQ(error.job(), "mirror datum 0");
        EXPECT_EQ(error.device(), "fake:0");
        for (const char* part : {"'datum 0' (800 bytes)", "'datum 1' (8 bytes)", "1600 bytes"})
            EXPECT_NE(error.message().find(part), std::string::npos) << error.what();
    }
    for (const Word sum : sums.gather()) ASSERT_EQ(sum, 10U);
    fakes.runtime->submit(job).wait();
    EXPECT_EQ(domains[1].gather()[1], 4U);
}

/// to[i] = from[i - 1] + from[i] + from[i + 1], each with its rows alone.
Job smooth(const Words& from, const Words& to) {
    return Job("smooth " + from.name(), to.size())
        .in_order()
        .reads(rows(from, 1))
        .writes(rows(to))
        .host_function("fake", [from, to](Task& task, const NativeStream&) {
            const auto in = task.read(from);
            const auto out = task.write(to);
            for (std::uint64_t i = task.range().begin; i < task.range().end; ++i)
                out[i] = (i > 0 ? in[i - 1] : 0) + in[i] + (i + 1 < in.size() ? in[i + 1] : 0);
        });
}

std::vector<Word> smoothed(const std::vector<Word>& in) {
    std::vector<Word> out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i)
        out[i] = (i > 0 ? in[i - 1] : 0) + in[i] + (i + 1 < in.size() ? in[i + 1] : 0);
    return out;
}

TEST(LargeJobs, AreDoneInTasksWhosePartsFit) {
    const auto domains = words(2, 5000); // 40 kB each
    const Fakes fakes(1, 10'000);
    std::vector<Word> expected(5000);
    for (Word i = 0; i < 5000; ++i) expected[i] = i * i;
    std::ranges::copy(expected, domains[0].fill().begin());
    const JobHandle handle = fakes.runtime->submit(smooth(domains[0], domains[1]));
    handle.wait();
    EXPECT_TRUE(std::ranges::equal(domains[1].gather(), smoothed(expected)));
    const JobReport report = handle.report();
    EXPECT_EQ(report.devices[0].work_units, 5000U);
    EXPECT_GE(report.devices[0].tasks, 8U);
}

TEST(LargeJobs, RandomOnesGiveWhatDoingThemOneAfterAnotherGives) {
    std::mt19937_64 random(fresh_seed());
    for (int round = 0; round < 24; ++round) {
        constexpr std::uint64_t size = 500, count = 4;
        const auto domains = words(count, size);
        std::vector<std::vector<Word>> expected(count, std::vector<Word>(size));
        for (unsigned d = 0; d < count; ++d) {
            for (Word i = 0; i < size; ++i) expected[d][i] = Word{1000} * d + i;
            std::ranges::copy(expected[d], domains[d].fill().begin());
        }
        // From a fifth of one of them to two and a half: some jobs fit, others do not.
        const Bytes memory = size * sizeof(Word) / 5 * (1 + random() % 12);
        const bool hurries = random() % 2 == 0;
        const Fakes fakes(static_cast<unsigned>(1 + random() % 3), memory,
                          {.has_peers = random() % 2 == 0,
                           .longest_delay = std::chrono::microseconds(hurries ? 0 : 50),
                           .seed = random()});
        std::vector<JobHandle> handles;
        for (int job = 0; job < 12; ++job) {
            const auto from = random() % count, to = random() % count;
            const Word amount = random() % 100;
            handles.push_back(fakes.runtime->submit(from == to ? add(domains[to], amount)
                                                               : smooth(domains[from], domains[to])));
            if (from == to)
                for (Word& word : expected[to]) word += amount;
            else
                expected[to] = smoothed(expected[from]);
        }
        for (const JobHandle& handle : handles) handle.wait();
        for (unsigned d = 0; d < count; ++d)
            ASSERT_TRUE(std::ranges::equal(domains[d].gather(), expected[d])) << "round " << round;
    }
}

TEST(LargeJobs, OfTwoAtOnceEachUnitIsDoneOnce) {
    for (const char* policy : {"adaptive", "static", "dynamic:7", "guided:1", "demand:3"}) {
        const auto domains = words(2, 3000);
        const Fakes fakes(2, 5000, {.longest_delay = std::chrono::microseconds(20)});
        std::vector<JobHandle> handles;
        for (const Words& domain : domains) {
            std::ranges::fill(domain.fill(), Word{5});
            Job job = add(domain, 1);
            job.policy(policy);
            handles.push_back(fakes.runtime->submit(job));
        }
        for (const JobHandle& handle : handles) handle.wait();
        for (const Words& domain : domains)
            for (const Word value : domain.gather()) ASSERT_EQ(value, 6U) << policy;
    }
}

TEST(LargeJobs, ADeviceThatTakesHandlesIsLeftOutOfThemInWords) {
    const auto domains = words(2, 5000);
    const Fakes fakes(1, 10'000, {.has_addresses = false});
    try {
        fakes.runtime->submit(smooth(domains[0], domains[1]));
        ADD_FAILURE() << "it was taken";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::unsupported);
        EXPECT_NE(error.message().find("40000 bytes"), std::string::npos) << error.what();
    }
}

TEST(LargeJobs, WhoseSmallestTaskDoesNotFitAreRefusedInWords) {
    const Words table("table", {10, 200});
    const Fakes fakes(1, 1000);
    Job job("rows", 10);
    job.updates(rows(table)).host_function("fake", [](Task&, const NativeStream&) {});
    try {
        fakes.runtime->submit(job);
        ADD_FAILURE() << "it was taken";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::unsupported);
        EXPECT_NE(error.message().find("1600 bytes"), std::string::npos) << error.what();
    }
}

Job increment(const Domain<std::uint32_t>& x) {
    return Job("increment", x.size()).in_order().updates(rows(x)).kernel([=](Task& task) {
        return Increment{task.update(x)};
    });
}

/// On processors with a megabyte each, and on a GPU with what its many more queues leave room in.
class LargeJobsOn : public OnDevices {
protected:
    Bytes memory() { return device().info().kind == DeviceKind::gpu ? Bytes{64} << 20 : Bytes{1} << 20; }
    std::unique_ptr<Runtime> runtime() {
        const Bytes each = memory(); // of the first, while it is there
        std::vector<std::unique_ptr<Device>> devices;
        for (auto& device : devices_)
            devices.push_back(std::make_unique<SmallDevice>(std::move(device), each));
        return std::make_unique<Runtime>(std::move(devices), RuntimeOptions{});
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, LargeJobsOn, testing::Values("cpu", two_private_cpus, "cuda:0"), test_name);

TEST_P(LargeJobsOn, TheEngineAreRight) {
    const Domain<std::uint32_t> large("large", {3 * memory()}); // twelve times as many bytes
    const auto runtime = this->runtime();
    std::ranges::fill(large.fill(), 7U);
    for (int i = 0; i < 2; ++i) runtime->submit(increment(large)).wait();
    for (const std::uint32_t value : large.gather()) ASSERT_EQ(value, 9U);
}

/// Nodes of full binary trees, by seed.
Job trees(const Domain<std::uint32_t>& nodes, std::uint32_t depth) {
    return Job("trees", nodes.size()).accumulates(nodes).seeds(Roots{}).kernel([=](Task& task) {
        return Tree{task.sum(nodes), depth};
    });
}

TEST(FullDevice, QueuesFindRoomAndGrowIntoIt) {
    constexpr std::uint32_t depth = 12;
    constexpr Bytes memory = Bytes{1} << 20; // launches with injection take a quarter of it
    for (const Bytes each : {Bytes{1} << 12, Bytes{1} << 16}) {
        std::vector<std::unique_ptr<Device>> devices;
        devices.push_back(std::make_unique<SmallDevice>(make_cpu_device(), memory));
        Runtime runtime(std::move(devices), {});
        std::vector<Domain<std::uint32_t>> large;
        for (Bytes i = 0; i < 2 * memory / each; ++i) {
            large.emplace_back("large " + std::to_string(i), Extent{{each / 4, 1, 1}});
            std::ranges::fill(large.back().fill(), 7U);
            runtime.submit(increment(large.back())).wait();
        }
        const Domain<std::uint32_t> nodes("nodes", {8});
        Job job = trees(nodes, depth);
        EngineOptions tuning;
        tuning.bundles = 1; // too few: the pool grows
        tuning.wishes.liq_units = 4;
        job.tune(tuning);
        runtime.submit(job).wait();
        for (const std::uint32_t count : nodes.gather()) ASSERT_EQ(count, (2U << depth) - 1);
        for (const auto& domain : large)
            for (const std::uint32_t value : domain.gather()) ASSERT_EQ(value, 8U);
    }
}

} // namespace
} // namespace headrace::test
