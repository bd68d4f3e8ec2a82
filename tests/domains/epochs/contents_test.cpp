// What a domain holds is taken out and put back, in the middle of other uses.
#include "numbered.hpp"

#include <core/log_lines.hpp>
#include <domains/device_lists.hpp>
#include <domains/joining.kernels.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace headrace::test {
namespace {

constexpr std::uint64_t first_units = 10'007;

using Contents = OnDeviceLists;
INSTANTIATE_TEST_SUITE_P(On, Contents, testing::Values("cpu", two_private_cpus), by_list);

TEST_P(Contents, OfSumsComeBack) {
    const NumberedJob numbered{cells};
    runtime().submit(numbered.job(first_units));
    const DomainData::Contents sums = numbered.sums.data()->contents(),
                               counts = numbered.counts.data()->contents();
    EXPECT_EQ(sums.written, (std::vector<IndexRange>{{0, cells}}));
    EXPECT_FALSE(sums.records);
    runtime().submit(numbered.job(777)); // is forgotten
    numbered.sums.data()->restore(sums);
    numbered.counts.data()->restore(counts);
    EXPECT_EQ(numbered.result(), numbered.expected({0, first_units}));
    runtime().submit(numbered.job(first_units + 100).only_units({first_units, first_units + 100}));
    EXPECT_EQ(numbered.result(), numbered.expected({0, first_units + 100}));
}

TEST_P(Contents, MayBeThatItWasNeverWritten) {
    const Domain<std::uint64_t> words("words", {first_units}), least("least", {cells});
    for (std::uint64_t i = 0; i < first_units; ++i) words.fill()[i] = i + 1;
    const auto job = Job("least", first_units).reads(words).reduces<Min>(least).kernel([=](Task& task) {
        return ReduceInto<Min>{task.read(words), task.reduce<Min>(least)};
    });
    const DomainData::Contents nothing = least.data()->contents();
    EXPECT_TRUE(nothing.written.empty());
    runtime().submit(job);
    EXPECT_EQ(least.gather()[0], 1);
    least.data()->restore(nothing);
    EXPECT_EQ(least.data()->contents(), nothing);
    runtime().submit(job); // zeroes would be less
    EXPECT_EQ(least.gather()[0], 1);
}

TEST_P(Contents, OfSomeRowsAreThese) {
    const Domain<std::uint64_t> x("x", {first_units, 2});
    Job job = Job("rows", first_units * 2).writes(rows(x)).kernel([=](Task& task) {
        return HalfRows{task.write(x)};
    });
    const std::uint64_t cut = random_() % (first_units - 2) + 1;
    runtime().submit(Job(job).only_units({0, 2 * cut})).wait();
    const DomainData::Contents some = x.data()->contents();
    EXPECT_EQ(some.written, (std::vector<IndexRange>{{0, 2 * cut}}));
    runtime().submit(Job(job).only_units({2 * cut, 2 * first_units})).wait();
    EXPECT_EQ(x.data()->contents().written, (std::vector<IndexRange>{{0, 2 * first_units}}));
    x.data()->restore(some);
    EXPECT_EQ(x.data()->contents(), some);
    runtime().submit(Job(job).only_units({2 * cut, 2 * first_units})).wait();
    for (std::uint64_t i = 0; i < 2 * first_units; ++i) ASSERT_EQ(x.gather()[i], mixed(i));
}

TEST_P(Contents, OfRecordsAreTheRecords) {
    const Domain<std::uint64_t> words("words", {first_units});
    for (std::uint64_t& word : words.fill()) word = random_();
    const Domain<Record> records("records", {6 * first_units});
    const auto append = [&](IndexRange some) {
        return Job("append", first_units)
            .only_units(some)
            .reads(words)
            .appends(records)
            .kernel([=](Task& task) {
                return AppendSome{task.read(words), task.append(records)};
            });
    };
    const auto by_unit = [](const Record& record) { return std::pair(record.unit, record.number); };
    const DomainData::Contents nothing = records.data()->contents();
    runtime().submit(append({0, 100}));
    const DomainData::Contents some = records.data()->contents();
    EXPECT_EQ(some.records, records.count());
    runtime().submit(append({100, first_units}));
    const auto all = records.sorted_by(by_unit);
    const std::vector<Record> expected(all.begin(), all.end());
    for (const auto& [from, contents] :
         {std::pair<std::uint64_t, DomainData::Contents>{0, nothing}, {100, some}}) {
        records.data()->restore(contents);
        runtime().submit(append({from, first_units}));
        EXPECT_TRUE(std::ranges::equal(records.sorted_by(by_unit), expected)) << from;
    }
}

TEST_P(Contents, ComeBackAfterAFailure) {
    const LogLines quiet(LogLevel::error);
    const NumberedJob numbered{cells};
    runtime().submit(numbered.job(first_units));
    const DomainData::Contents sums = numbered.sums.data()->contents(),
                               counts = numbered.counts.data()->contents();
    const JobHandle failing = runtime().submit(numbered.job(first_units)
                                                   .on_tasks(
                                                       [](const TaskStatistics&) {
                                                           throw Error{ErrorKind::kernel, "it fails"};
                                                       },
                                                       {}));
    EXPECT_THROW(failing.wait(), Error);
    EXPECT_THROW(static_cast<void>(numbered.sums.gather()), Error);
    EXPECT_THROW(static_cast<void>(numbered.counts.data()->contents()), Error);
    numbered.sums.data()->restore(sums);
    numbered.counts.data()->restore(counts);
    EXPECT_EQ(numbered.result(), numbered.expected({0, first_units}));
}

TEST(Contents, OfAnotherDomainAreRefused) {
    const Domain<std::uint64_t> x("x", {4});
    const auto expect_refused = [&](const DomainData::Contents& contents) {
        EXPECT_THROW(x.data()->restore(contents), Error);
    };
    const std::vector<std::byte> bytes(32);
    expect_refused({{{0, 5}}, std::vector<std::byte>(40), {}});
    expect_refused({{{0, 3}}, bytes, {}});
    expect_refused({{{0, 2}, {1, 3}}, bytes, {}});
    expect_refused({{{2, 2}}, {}, {}});
    expect_refused({{{0, 4}}, bytes, 5});
    x.data()->restore({{{0, 4}}, bytes, {}});
    EXPECT_EQ(x.gather()[3], 0);
}

} // namespace
} // namespace headrace::test
