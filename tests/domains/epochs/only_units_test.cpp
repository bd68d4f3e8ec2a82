// Jobs that do some of their work units alone, on every device list of this machine.
#include "numbered.hpp"

#include <core/log_lines.hpp>
#include <domains/device_lists.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace headrace::test {
namespace {

using OnlyUnits = OnDeviceLists;
INSTANTIATE_TEST_SUITE_P(On, OnlyUnits, device_lists(), by_list);

/// Cuts [0, units) at random multiples of `grain`.
std::vector<IndexRange> random_cuts(std::mt19937_64& random, std::uint64_t units, std::uint64_t grain = 1) {
    std::vector<std::uint64_t> ends{0, units};
    for (int i = 0; i < 5; ++i) ends.push_back(random() % (units / grain) * grain);
    std::ranges::sort(ends);
    std::vector<IndexRange> cuts;
    for (std::size_t i = 1; i < ends.size(); ++i) cuts.push_back({ends[i - 1], ends[i]});
    return cuts;
}

TEST_P(OnlyUnits, AreDoneOnceAndNoOthers) {
    constexpr std::uint64_t units = 100'003;
    for (const char* policy : {"adaptive", "static", "dynamic:7", "demand"}) {
        const NumberedJob numbered{cells};
        for (std::uint64_t& sum : numbered.sums.fill()) sum = 0;
        for (std::uint64_t& count : numbered.counts.fill()) count = 0;
        const IndexRange some{random_() % units, units - random_() % 100};
        if (some.empty()) continue;
        const JobHandle handle =
            runtime().submit(numbered.job(units).only_units(some).policy(std::string(policy)));
        handle.wait();
        ASSERT_EQ(numbered.result(), numbered.expected(some)) << policy;
        EXPECT_EQ(handle.finished_units(), some.size());
        EXPECT_EQ(handle.report().work_units, some.size());
        double share = 0;
        for (const DeviceReport& device : handle.report().devices) share += device.share;
        EXPECT_NEAR(share, 1, 1e-9);
    }
}

TEST_P(OnlyUnits, BeyondFourThousandMillion) {
    constexpr std::uint64_t first = (std::uint64_t{1} << 62) - 5, end = first + 30'000;
    const NumberedJob numbered{cells};
    runtime().submit(numbered.job(std::uint64_t{1} << 63).only_units({first, end})).wait();
    EXPECT_EQ(numbered.result(), numbered.expected({first, end}));
}

TEST_P(OnlyUnits, InRangesThatFollowEachOtherDoTheJob) {
    constexpr std::uint64_t units = 50'001;
    const NumberedJob numbered{cells};
    const Job job = numbered.job(units);
    for (const IndexRange range : random_cuts(random_, units))
        runtime().submit(Job(job).only_units(range)); // which may be empty
    EXPECT_EQ(numbered.result(), numbered.expected({0, units}));
}

class OnProcessors : public OnDeviceLists {};
INSTANTIATE_TEST_SUITE_P(On, OnProcessors, testing::Values("cpu", two_private_cpus), by_list);

TEST_P(OnProcessors, RowsStayAtTheirUnits) {
    constexpr std::uint64_t rows_count = 5'003, units = 2 * rows_count;
    const LogLines warnings(LogLevel::warning); // the rows to come are read before they are written
    const Domain<std::uint64_t> x("x", {rows_count, 2});
    Job job = Job("rows", units).writes(rows(x)).kernel([=](Task& task) { return HalfRows{task.write(x)}; });
    for (const IndexRange range : random_cuts(random_, units, 2)) {
        runtime().submit(Job(job).only_units(range)).wait();
        const auto written = x.gather(); // between the ranges, as a commit does
        for (std::uint64_t i = 0; i < range.end; ++i) ASSERT_EQ(written[i], mixed(i)) << i;
    }
}

TEST_P(OnProcessors, SeedsMakeTheirUnits) {
    constexpr std::uint64_t units = 20'011;
    const Domain<std::uint64_t> sums("sums", {cells});
    const IndexRange some{7'001, 19'999};
    Job job("twice", units);
    job.accumulates(sums).share_units().seeds(FirstTurns{}).only_units(some).kernel([=](Task& task) {
        return NumberedTwice{task.sum(sums)};
    });
    runtime().submit(job).wait();
    std::vector<std::uint64_t> expected(cells);
    for (std::uint64_t i = some.begin; i < some.end; ++i) expected[i % cells] += 2 * mixed(i) + 1;
    EXPECT_TRUE(std::ranges::equal(sums.gather(), expected));
}

TEST_P(OnProcessors, TheCallbackThatSplitsGetsTheirIndices) {
    const NumberedJob numbered{cells};
    const IndexRange some{1'000, 9'000};
    bool are_inside = true;
    runtime()
        .submit(numbered.job(10'000).only_units(some).split_by([&](IndexRange left, std::uint64_t wanted) {
            are_inside = are_inside && left.begin >= some.begin && left.end == some.end;
            return wanted;
        }))
        .wait();
    EXPECT_TRUE(are_inside);
    EXPECT_EQ(numbered.result(), numbered.expected(some));
}

void expect_refused(const std::function<void()>& call, const std::string& words) {
    try {
        call();
        ADD_FAILURE() << "was accepted, and should not be: " << words;
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
        EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
}

TEST(OnlyUnits, AreUnitsOfTheJob) {
    expect_refused([] { Job("a job", 10).only_units({5, 11}); }, "[5, 11) are not among its 10 units");
    expect_refused([] { Job("a job", 10).only_units({6, 5}); }, "are not among");
    EXPECT_EQ(Job("a job", 10).only_units({5, 10}).work_units(), 5);
    EXPECT_EQ(Job("a job", 10).only_units({5, 5}).work_units(), 0);
}

TEST(OnlyUnits, DoNotCutAGrain) {
    expect_refused([] { Job("a job", 10).grain(4).only_units({2, 8}); }, "begin or end inside a grain of 4");
    expect_refused([] { Job("a job", 10).grain(4).only_units({4, 9}); }, "inside a grain");
    expect_refused([] { Job("a job", 10).only_units({5, 10}).grain(2); }, "inside a grain");
    EXPECT_EQ(Job("a job", 10).grain(4).only_units({4, 10}).work_units(), 6); // the last grain is shorter
}

} // namespace
} // namespace headrace::test
