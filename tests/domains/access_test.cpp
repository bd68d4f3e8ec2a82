// tests/domains/access_test.cpp - what an access means does not depend on how many devices take part: what is
// written anywhere, whole or in parts, on every device list of this machine.
#include "access.cl.hpp"

#include <core/fake_device.hpp>
#include <core/log_lines.hpp>
#include <core/seeds.hpp>
#include <domains/access.kernels.hpp>
#include <domains/checked_child.hpp>
#include <domains/checked_mode.hpp>
#include <domains/device_lists.hpp>
#include <domains/opencl_form.hpp>
#include <headrace/headrace.hpp>
#include <headrace/internal/domains/written_parts.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace headrace::test {
namespace {

OpenClKernel access_form(const std::string& name) { return opencl_form(name, embedded::access_cl); }

using Where = Domain<std::uint32_t>;
using Words = Domain<std::uint64_t>;
using Octets = Domain<std::uint8_t>;

/// Unit i writes `base` + i to x[where[i]].
Job permuting(const std::string& name, std::uint64_t units, const Where& where, const Words& x,
              std::uint64_t base) {
    return Job(name, units)
        .reads(where)
        .scatters(x)
        .kernel([=](Task& task) {
            return Permute{task.read(where), task.scatter(x), base};
        })
        .opencl(access_form("PERMUTE"), [=](Task& task, OpenClArguments& arguments) {
            arguments.buffer(task.memory(where)).buffer(task.memory(x)).value(base);
        });
}

/// Gives the job, which writes or updates all of `x`, its kernel.
Job permuting_into(Job job, const Where& where, const Words& x, std::uint64_t base, bool is_update) {
    const std::uint64_t keep = is_update ? 1 : 0;
    return std::move(job)
        .kernel([=](Task& task) {
            return PermuteInto{task.read(where), is_update ? task.update(x) : task.write(x), base, keep};
        })
        .opencl(access_form("PERMUTE_INTO"), [=](Task& task, OpenClArguments& arguments) {
            arguments.buffer(task.memory(where)).buffer(task.memory(x)).value(base).value(keep);
        });
}

/// Adds to the elements of the units, or writes them, from the domain's end on.
Job going_backwards(const Where& x, bool is_update) {
    const auto mirrored = part(x, [size = x.size()](IndexRange units) {
        return IndexRange{size - units.end, size - units.begin};
    });
    Job job("parts", x.size());
    const auto arguments = [=](Task& task, OpenClArguments& all) {
        all.buffer(task.memory(x)).value(x.size());
    };
    if (is_update)
        job.updates(mirrored)
            .kernel([=](Task& task) { return AddBackwards{task.update(x)}; })
            .opencl(access_form("ADD_BACKWARDS"), arguments);
    else
        job.writes(mirrored)
            .kernel([=](Task& task) { return WriteBackwards{task.write(x)}; })
            .opencl(access_form("WRITE_BACKWARDS"), arguments);
    return job;
}

/// Gives the job, which writes or updates rows of `x`, its kernel.
Job writing_bytes(Job job, const Octets& x, const Words& sums, std::uint64_t end, std::uint64_t shift,
                  bool is_update = false) {
    return std::move(job)
        .accumulates(sums)
        .kernel([=](Task& task) {
            return WriteBytes{is_update ? task.update(x) : task.write(x), task.sum(sums), end, shift};
        })
        .opencl(access_form("WRITE_BYTES"), [=](Task& task, OpenClArguments& arguments) {
            arguments.buffer(task.memory(x))
                .value(x.size())
                .buffer(task.memory(sums))
                .value(end)
                .value(shift);
        });
}

using Accesses = OnDeviceLists;
INSTANTIATE_TEST_SUITE_P(On, Accesses, device_lists(), by_list);

TEST_P(Accesses, ScatteredElementsComeTogetherWhicheverDeviceWroteThem) {
    constexpr std::uint64_t size = 100'003, units = 60'000; // units write every second element or so
    std::vector<std::uint32_t> to(size);
    std::iota(to.begin(), to.end(), 0);
    std::ranges::shuffle(to, random_);
    const Domain<std::uint32_t> where("where", {size});
    std::ranges::copy(to, where.fill().begin());
    const Domain<std::uint64_t> x("x", {size});
    for (const bool is_written : {false, true, true}) {
        const std::uint64_t there = is_written ? 77 : 0;
        if (is_written) std::ranges::fill(x.fill(), there);
        runtime().submit(permuting("scatter", units, where, x, 1000)).wait();
        const auto result = x.gather();
        for (std::uint64_t i = 0; i < units; ++i) ASSERT_EQ(result[to[i]], 1000 + i) << to[i];
        for (std::uint64_t i = units; i < size; ++i) ASSERT_EQ(result[to[i]], there) << to[i];
    }
    // A second scattering finds what the first one has left.
    std::ranges::copy(to, where.fill().begin());
    std::ranges::reverse(where.fill());
    runtime().submit(permuting("scatter the rest", size - units, where, x, 5000)).wait();
    const auto result = x.gather();
    for (std::uint64_t i = 0; i < units; ++i) ASSERT_EQ(result[to[i]], 1000 + i);
    for (std::uint64_t i = units; i < size; ++i) ASSERT_EQ(result[to[i]], 5000 + (size - 1 - i));
}

TEST_P(Accesses, SoMuchIsScatteredThatDevicesJoinItOverTheirLink) {
    constexpr std::uint64_t size = 3'000'017, units = 2'000'003, step = 1'000'003; // prime to size
    const Domain<std::uint32_t> where("where", {size});
    const std::span<std::uint32_t> to = where.fill();
    for (std::uint64_t i = 0; i < size; ++i) to[i] = static_cast<std::uint32_t>(i * step % size);
    const Domain<std::uint64_t> x("x", {size});
    for (const bool is_written : {false, true}) {
        if (is_written) std::ranges::fill(x.fill(), 77);
        runtime().submit(permuting("scatter", units, where, x, 1000)).wait();
        const auto result = x.gather();
        std::uint64_t wrong = 0;
        for (std::uint64_t i = 0; i < size; ++i)
            wrong += result[i * step % size] != (i < units ? 1000 + i : is_written ? 77 : 0);
        EXPECT_EQ(wrong, 0u);
    }
}

TEST_P(Accesses, ElementsOfAnySizeAreScatteredWhole) {
    constexpr std::uint64_t size = 30'011;
    const Domain<Odd> odd("odd", {size});
    const Domain<std::uint8_t> bytes("bytes", {size});
    for (Odd& one : odd.fill()) one = {{9, 9, 9}};
    std::ranges::fill(bytes.fill(), std::uint8_t{1});
    runtime()
        .submit(Job("odd", size)
                    .scatters(odd, bytes)
                    .kernel([&](Task& task) {
                        return ScatterOdd{task.scatter(odd), task.scatter(bytes)};
                    })
                    .opencl(access_form("SCATTER_ODD"),
                            [&](Task& task, OpenClArguments& arguments) {
                                arguments.buffer(task.memory(odd)).buffer(task.memory(bytes)).value(size);
                            }))
        .wait();
    const auto odds = odd.gather();
    const auto all_bytes = bytes.gather();
    for (std::uint64_t i = 0; i < size; ++i) {
        const std::uint64_t j = size - 1 - i; // written by unit i, unless that is a multiple of three
        const Odd expected = i % 3 == 0 ? Odd{{9, 9, 9}} : odd_of(i);
        ASSERT_TRUE(std::ranges::equal(odds[j].part, expected.part)) << j;
        ASSERT_EQ(all_bytes[j], i % 3 == 0 ? 1 : static_cast<std::uint8_t>(i)) << j;
    }
}

/// Any unit may write any element: what the README's first reader writes.
TEST_P(Accesses, WholeDomainsAreWrittenAndUpdatedOnOneMemory) {
    constexpr std::uint64_t size = 300'007;
    std::vector<std::uint32_t> to(size);
    std::iota(to.begin(), to.end(), 0);
    std::ranges::shuffle(to, random_);
    const Domain<std::uint32_t> where("where", {size});
    std::ranges::copy(to, where.fill().begin());
    const Domain<std::uint64_t> x("x", {size});
    const LogLines warnings(LogLevel::warning);
    for (int round = 0; round < 3; ++round) {
        runtime()
            .submit(permuting_into(Job("write all", size).reads(where).writes(x), where, x, 1000, false))
            .wait();
        const JobHandle handle = runtime().submit(
            permuting_into(Job("update all", size).reads(where).updates(x), where, x, 5, true));
        handle.wait();
        const auto result = x.gather();
        for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(result[to[i]], 1005 + 2 * i) << to[i];
        if (GetParam() != two_private_cpus) continue;
        const JobReport report = handle.report();
        ASSERT_EQ(report.devices.size(), 2U);
        EXPECT_TRUE(report.devices[0].tasks == 0 || report.devices[1].tasks == 0) << report.table();
        EXPECT_NE(report.table().find("scatters(x)"), std::string::npos) << report.table();
    }
    if (GetParam() == two_private_cpus) {
        ASSERT_EQ(warnings.lines().size(), 2U) << "one for each kernel";
        EXPECT_NE(warnings.lines()[0].find("'write all'"), std::string::npos) << warnings.lines()[0];
        EXPECT_NE(warnings.lines()[0].find("rows(x)"), std::string::npos) << warnings.lines()[0];
    }
}

/// A device that fails with its k-th task, of a job that writes all of a domain, and the other one goes on.
TEST(OneMemory, OfALostDeviceIsLeftForAnother) {
    for (int tasks_before = 0; tasks_before < 4; ++tasks_before) {
        SCOPED_TRACE(tasks_before);
        const LogLines errors(LogLevel::error);
        std::vector<FakeDevice*> fakes;
        std::vector<std::unique_ptr<Device>> devices;
        for (const char* id : {"fake:0", "fake:1"}) {
            devices.push_back(std::make_unique<FakeDevice>(FakeOptions{.id = id}));
            fakes.push_back(static_cast<FakeDevice*>(devices.back().get()));
        }
        Runtime runtime(std::move(devices), {.policy = "dynamic:8", .model = "peak"});
        const Domain<std::uint64_t> x("x", {64});
        std::atomic<int> launches = 0;
        const JobHandle job = runtime.submit(
            Job("write", 64).writes(x).host_function("fake", [&](Task& task, const NativeStream&) {
                if (launches++ == tasks_before)
                    throw Error{ErrorKind::device, "fell off the bus"}.on_device(task.device().info().id);
                for (auto i = task.range().begin; i < task.range().end; ++i) task.write(x)[63 - i] = i + 1;
            }));
        job.wait();
        const auto result = x.gather();
        for (std::uint64_t i = 0; i < 64; ++i) ASSERT_EQ(result[63 - i], i + 1);
        EXPECT_EQ(
            std::ranges::count_if(job.report().devices, [](const auto& one) { return one.work_units > 0; }),
            1);
    }
}

/// The first memory has no room for the domain when it comes to that, for other data are in use there.
TEST(OneMemory, OfAFullDeviceIsLeftForAnother) {
    constexpr std::uint64_t size = 4096;
    std::vector<std::unique_ptr<Device>> devices;
    devices.push_back(std::make_unique<FakeDevice>(
        FakeOptions{.id = "fake:0", .memory = size * 8 * 3 / 2, .peak_gflops = 2000}));
    devices.push_back(std::make_unique<FakeDevice>(FakeOptions{.id = "fake:1"}));
    Runtime runtime(std::move(devices), {.policy = "dynamic:8", .model = "peak"});
    const Domain<std::uint64_t> sums("sums", {size}), x("x", {size});
    std::ranges::fill(x.fill(), 5U);
    const auto on_first = [](Job& job) { job.only_on({"fake:0"}); };
    auto adds = Job("add", 1).accumulates(sums).host_function(
        "fake", [=](Task& task, const NativeStream&) { task.sum(sums).add(7, 1); });
    on_first(adds);
    runtime.submit(adds).wait(); // its replica stays until it is gathered
    const JobHandle job = runtime.submit(
        Job("update", size).updates(x).host_function("fake", [=](Task& task, const NativeStream&) {
            for (auto i = task.range().begin; i < task.range().end; ++i) task.update(x)[size - 1 - i] += i;
        }));
    job.wait();
    const auto result = x.gather();
    for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(result[size - 1 - i], 5 + i);
    EXPECT_EQ(job.report().devices[1].work_units, size) << job.report().table();
    EXPECT_EQ(sums.gather()[7], 1U);
}

TEST(Parts, OfTwoTasksThatOverlapAreAnErrorThatNamesBoth) {
    for (const bool updates : {false, true}) {
        std::vector<std::unique_ptr<Device>> devices;
        for (const char* id : {"fake:0", "fake:1"})
            devices.push_back(std::make_unique<FakeDevice>(FakeOptions{.id = id}));
        Runtime runtime(std::move(devices), {.policy = "dynamic:8", .model = "peak"});
        const Domain<std::uint64_t> x("the data", {100});
        std::ranges::fill(x.fill(), 0U);
        const auto overlapping = part(x, [](IndexRange units) {
            return IndexRange{units.begin, std::min<std::uint64_t>(units.end + 1, 64)};
        });
        Job job("overlap", 64);
        updates ? job.updates(overlapping) : job.writes(overlapping);
        job.host_function("fake", [](Task&, const NativeStream&) {});
        try {
            runtime.submit(job).wait();
            FAIL() << "nothing was said";
        } catch (const Error& error) {
            const std::string what = error.what();
            EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
            EXPECT_EQ(error.job(), "overlap");
            EXPECT_NE(what.find("'the data'"), std::string::npos) << what;
            EXPECT_NE(what.find("[0, 8)"), std::string::npos) << what;
            EXPECT_NE(what.find("[8, 16)"), std::string::npos) << what;
            EXPECT_NE(what.find("[0, 9)"), std::string::npos) << what;
        }
    }
}

/// Parts that do not overlap are entered once, whatever becomes of their tasks.
TEST_P(Accesses, PartsThatDoNotOverlapAreWritten) {
    constexpr std::uint64_t size = 200'003;
    const Domain<std::uint32_t> x("x", {size});
    for (const char* policy : {"dynamic:37", "adaptive", "static"}) {
        std::ranges::fill(x.fill(), 1U);
        runtime().submit(going_backwards(x, true).policy(policy)).wait();
        const auto result = x.gather();
        for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(result[size - 1 - i], 1 + i) << policy;
        runtime().submit(going_backwards(x, false).policy(policy)).wait();
        const auto written = x.gather();
        for (std::uint64_t i = 0; i < size; ++i) ASSERT_EQ(written[size - 1 - i], 7 * i) << policy;
    }
}

TEST(WrittenParts, FindsEveryOverlap) {
    std::mt19937 random(fresh_seed());
    for (int round = 0; round < 300; ++round) {
        WrittenParts parts;
        std::vector<std::pair<IndexRange, IndexRange>> model; // units, elements
        for (std::uint64_t unit = 0; unit < 40; ++unit) {
            if (!model.empty() && random() % 4 == 0) {
                const auto at = model.begin() + static_cast<std::ptrdiff_t>(random() % model.size());
                parts.remove(at->first);
                model.erase(at);
            }
            const std::uint64_t begin = random() % 100;
            const IndexRange units{unit, unit + 1}, elements{begin, begin + random() % 9};
            const auto overlaps = [&](const auto& one) {
                return std::max(one.second.begin, elements.begin) < std::min(one.second.end, elements.end);
            };
            const auto other = parts.enter(units, elements);
            ASSERT_EQ(other.has_value(), std::ranges::any_of(model, overlaps));
            if (!other) model.emplace_back(units, elements);
            if (other) {
                const auto named =
                    std::ranges::find_if(model, [&](const auto& one) { return one.first == *other; });
                ASSERT_TRUE(named != model.end() && overlaps(*named));
            }
        }
    }
}

/// In a process of its own, whose environment asks for the checked mode: kernels that write too little, too
/// much, or just what the patterns are.
class Checked : public Accesses {
protected:
    static void expect_said(const std::string& pattern, const std::function<void(Runtime&)>& run) {
        expect_said_in_checked_mode(pattern, [&] { run(*make_runtime("dynamic:37")); });
    }
};
INSTANTIATE_TEST_SUITE_P(On, Checked, device_lists(), by_list);

TEST_P(Checked, NamesTheFirstElementThatIsWrongAndNothingElse) {
    constexpr std::uint64_t size = 1003;
    const Domain<std::uint8_t> x("x", {size});
    const Domain<std::uint64_t> sums("sums", {1});
    std::ranges::fill(x.fill(), std::uint8_t{1});
    // Every value of a byte, those of the patterns too; sums are added once although tasks run twice.
    const auto all = [&](Runtime& runtime) {
        runtime.submit(writing_bytes(Job("all", size).writes(rows(x)), x, sums, size, 0)).wait();
        for (std::uint64_t i = 0; i < size; ++i)
            if (x.gather()[i] != static_cast<std::uint8_t>(i))
                throw Error{ErrorKind::internal, "wrong bytes"};
        if (sums.gather()[0] != size) throw Error{ErrorKind::internal, "wrong sums"};
    };
    expect_said("^well", all);
    expect_said("no unit wrote element 700 of domain 'x'", [&](Runtime& runtime) {
        runtime.submit(writing_bytes(Job("too little", size).writes(rows(x)), x, sums, 700, 0)).wait();
    });
    expect_said("wrote element [0-9]+ of domain 'x', whose part is", [&](Runtime& runtime) {
        runtime.submit(writing_bytes(Job("too much", size).updates(rows(x)), x, sums, size, 100, true))
            .wait();
    });
}

/// With each number that is added, some byte would look unwritten if the second run began where the first
/// ended.
TEST_P(Checked, RunsATaskAgainOnWhatWasThereBefore) {
    constexpr std::uint64_t size = 256;
    const Domain<std::uint8_t> to("to", {size}), from("from", {size});
    expect_said("^well", [&](Runtime& runtime) {
        for (unsigned more = 0; more < size; ++more) {
            std::iota(from.fill().begin(), from.fill().end(), std::uint8_t{0});
            runtime
                .submit(Job("take", size)
                            .writes(rows(to))
                            .updates(rows(from))
                            .kernel([&](Task& task) {
                                return TakeAndAdd{task.write(to), task.update(from),
                                                  static_cast<std::uint8_t>(more)};
                            })
                            .opencl(access_form("TAKE_AND_ADD"),
                                    [&](Task& task, OpenClArguments& arguments) {
                                        arguments.buffer(task.memory(to)).buffer(task.memory(from));
                                        arguments.value(static_cast<std::uint8_t>(more));
                                    }))
                .wait();
            for (std::uint64_t i = 0; i < size; ++i)
                if (to.gather()[i] != i || from.gather()[i] != static_cast<std::uint8_t>(i + more))
                    throw Error{ErrorKind::internal, "wrong bytes"};
        }
    });
}

TEST_P(Checked, NamesAnElementThatTwoTasksScatterDifferently) {
    constexpr std::uint64_t size = 1003;
    const Domain<std::uint8_t> x("x", {size});
    std::ranges::fill(x.fill(), std::uint8_t{1});
    const auto scatter = [&](Runtime& runtime, std::uint8_t other) {
        runtime
            .submit(Job("scatter", size)
                        .scatters(x)
                        .policy("dynamic:8")
                        .kernel([&](Task& task) {
                            return ScatterBytes{task.scatter(x), other};
                        })
                        .opencl(access_form("SCATTER_BYTES"),
                                [&](Task& task, OpenClArguments& arguments) {
                                    arguments.buffer(task.memory(x)).value(x.size()).value(other);
                                }))
            .wait();
        for (std::uint64_t i = 0; i < size; ++i)
            if (x.gather()[i] != static_cast<std::uint8_t>(i))
                throw Error{ErrorKind::internal, "wrong bytes"};
    };
    expect_said("^well", [&](Runtime& runtime) { scatter(runtime, 5); });
    // Outside of checked mode a device that writes what was there writes nothing.
    for (const int other : {0x01, 0xA5, 0x5B})
        expect_said("two tasks wrote element 5 of domain 'x' differently",
                    [&](Runtime& runtime) { scatter(runtime, static_cast<std::uint8_t>(other)); });
}

/// On devices whose kernels have no const views.
class CheckedInputs : public Checked {};
INSTANTIATE_TEST_SUITE_P(On, CheckedInputs, testing::Values("cpu", two_private_cpus, "opencl:pocl"), by_list);

TEST_P(CheckedInputs, AnElementThatATaskOnlyReadsAndWroteIsNamed) {
    constexpr std::uint64_t size = 1003;
    const Domain<std::uint8_t> to("to", {size}), from("from", {size});
    const auto take = [&](Runtime& runtime, bool in_parts, std::uint8_t more) {
        std::iota(from.fill().begin(), from.fill().end(), std::uint8_t{0});
        runtime
            .submit(Job("take", size)
                        .writes(rows(to))
                        .reads(in_parts ? rows(from) : Slice(from))
                        .host_function("cpu",
                                       [=](Task& task, const NativeStream&) {
                                           const auto all = task.read(from);
                                           for (auto i = task.range().begin; i < task.range().end; ++i) {
                                               task.write(to)[i] = all[i];
                                               auto& element = const_cast<std::uint8_t&>(all[i]);
                                               if (i >= 700) element = static_cast<std::uint8_t>(i + more);
                                           }
                                       })
                        .opencl(access_form("TAKE_AND_ADD"),
                                [=](Task& task, OpenClArguments& arguments) {
                                    arguments.buffer(task.memory(to)).buffer(task.memory(from)).value(more);
                                }))
            .wait();
        for (std::uint64_t i = 0; i < size; ++i)
            if (to.gather()[i] != static_cast<std::uint8_t>(i))
                throw Error{ErrorKind::internal, "wrong bytes"};
    };
    for (const bool in_parts : {false, true}) {
        expect_said("^well", [&](Runtime& runtime) { take(runtime, in_parts, 0); });
        expect_said(
            "the task wrote element [0-9]+ of domain 'from', of which the job declares reads\\(\\).*job take",
            [&](Runtime& runtime) { take(runtime, in_parts, 1); });
    }
}

/// Two fake devices, each of which gets one of the two units.
class TwoWriters : public testing::Test {
protected:
    using Numbers = Domain<std::uint64_t>;
    Runtime runtime_{[] {
                         std::vector<std::unique_ptr<Device>> devices;
                         for (const char* id : {"fake:0", "fake:1"})
                             devices.push_back(std::make_unique<FakeDevice>(FakeOptions{.id = id}));
                         return devices;
                     }(),
                     {.policy = "static", .model = "peak"}};
    JobHandle scatter(const Numbers& x, std::uint64_t first, std::uint64_t second) {
        return runtime_.submit(
            Job("scatter", 2).scatters(x).host_function("fake", [=](Task& task, const NativeStream&) {
                const auto view = task.scatter(x);
                for (auto i = task.range().begin; i < task.range().end; ++i)
                    view[5] = i == 0 ? first : second;
            }));
    }
};

TEST_F(TwoWriters, WhatTwoDevicesWroteDifferentlyIsAnErrorThatNamesTheElement) {
    if (is_checked_mode()) GTEST_SKIP() << "checked mode: the job itself fails";
    const Numbers x("the data", {64});
    std::ranges::fill(x.fill(), 1U);
    scatter(x, 7, 8).wait();
    for (int again = 0; again < 2; ++again) try {
            static_cast<void>(x.gather());
            FAIL() << "nothing was said";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("element 5 of domain 'the data'"), std::string::npos)
                << error.what();
        }
    std::ranges::fill(x.fill(), 1U);
    scatter(x, 7, 7).wait();
    EXPECT_EQ(x.gather()[5], 7U) << "the same";
    scatter(x, 9, 7).wait();
    EXPECT_EQ(x.gather()[5], 9U) << "what was there is nothing new";
}

/// The first runtime takes its replicas with it while the second one still writes to its own.
TEST_F(TwoWriters, ARuntimeThatGoesTakesUpItsOwnAndNoOthers) {
    const Numbers x("x", {64});
    std::ranges::fill(x.fill(), 1U);
    std::vector<std::unique_ptr<Device>> devices;
    devices.push_back(std::make_unique<FakeDevice>(FakeOptions{.id = "fake:2"}));
    auto other = std::make_unique<Runtime>(std::move(devices), RuntimeOptions{.model = "peak"});
    scatter(x, 7, 7).wait();
    other
        ->submit(Job("elsewhere", 1)
                     .scatters(x)
                     .host_function("fake", [=](Task& task, const NativeStream&) { task.scatter(x)[6] = 9; }))
        .wait();
    other.reset();
    const auto all = x.gather();
    EXPECT_EQ(all[5], 7U);
    EXPECT_EQ(all[6], 9U);
    EXPECT_EQ(std::ranges::count(all, 1U), 62);
}

TEST_F(TwoWriters, AnAccessThatTheJobDoesNotDeclareIsNamed) {
    const Numbers x("x", {64});
    const JobHandle job = runtime_.submit(Job("adds", 1).accumulates(x).host_function(
        "fake", [=](Task& task, const NativeStream&) { static_cast<void>(task.scatter(x)); }));
    try {
        job.wait();
        FAIL() << "nothing was said";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("scatters()"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("accumulates()"), std::string::npos) << error.what();
    }
}

} // namespace
} // namespace headrace::test
