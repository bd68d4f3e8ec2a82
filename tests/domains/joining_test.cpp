// tests/domains/joining_test.cpp - reductions, exact sums and appended records: the same on every device list
// of this machine, whatever the split.
#include "exact_reference.hpp"
#include "joining.cl.hpp"

#include <domains/checked_mode.hpp>
#include <domains/device_lists.hpp>
#include <domains/joining.kernels.hpp>
#include <domains/opencl_form.hpp>
#include <headrace/headrace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace headrace::test {
namespace {

OpenClKernel joining_form(const std::string& name) { return opencl_form(name, embedded::joining_cl); }

class Joinings : public OnDeviceLists {
protected:
    static constexpr std::uint64_t size = 20'011, cells = 7; // primes: no task size divides them

    /// Random ones; each job has its own.
    Domain<std::uint64_t> some_words(std::uint64_t count = size) {
        Domain<std::uint64_t> words("words", {count});
        for (std::uint64_t& word : words.fill()) word = random_();
        return words;
    }
};
INSTANTIATE_TEST_SUITE_P(On, Joinings, device_lists(), by_list);

// ---- reductions
// ----------------------------------------------------------------------------------------------------

/// The domains of ReduceWords, and what a loop makes of the same words.
class Reductions : public Joinings {
protected:
    struct Cell {
        float least = std::numeric_limits<float>::infinity();
        double greatest = -std::numeric_limits<double>::infinity();
        std::uint32_t all = ~0u;
        std::uint64_t any = 0, odd = 0;
        Hit nearest = Nearest::identity();
    };

    /// NaN is never before, nor is anything before or after it.
    template <class T>
    static bool is_before(T a, T b) {
        return a < b || (a == b && std::signbit(a) && !std::signbit(b));
    }
    void take_up(std::uint64_t i, std::uint64_t word) {
        Cell& cell = expected_[i % cells];
        if (const auto value = compared<float>(word); is_before(value, cell.least)) cell.least = value;
        if (const auto value = compared<double>(word); is_before(cell.greatest, value)) cell.greatest = value;
        cell.all &= ReduceWords::but_one(word);
        cell.any |= ReduceWords::one(word);
        cell.odd ^= word;
        cell.nearest = Nearest{}(cell.nearest, Values::hit(word));
    }
    /// A job of so many units, all of whose words are NaN if `is_nan`.
    void submit(std::uint64_t units, bool is_nan = false) {
        const auto words = some_words(std::max<std::uint64_t>(units, 1));
        for (std::uint64_t& word : words.fill()) word |= is_nan ? 0x7ff000017f800001 : 0;
        const auto all = words.gather();
        for (std::uint64_t i = 0; i < units; ++i) take_up(i, all[i]);
        jobs_.push_back(runtime().submit(
            Job("reduce", units)
                .reads(words)
                .reduces<Min>(least_)
                .reduces<Max>(greatest_)
                .reduces<BitAnd>(all_)
                .reduces<BitOr>(any_)
                .reduces<BitXor>(odd_)
                .reduces<Nearest>(nearest_)
                .kernel([=, this](Task& task) {
                    return ReduceWords{task.read(words),
                                       task.reduce<Min>(least_),
                                       task.reduce<Max>(greatest_),
                                       task.reduce<BitAnd>(all_),
                                       task.reduce<BitOr>(any_),
                                       task.reduce<BitXor>(odd_),
                                       task.reduce<Nearest>(nearest_)};
                })
                .opencl(joining_form("REDUCE_WORDS"), [=, this](Task& task, OpenClArguments& arguments) {
                    arguments.buffer(task.memory(words)).value(cells);
                    arguments.buffer(task.memory(least_)).buffer(task.memory(greatest_));
                    arguments.buffer(task.memory(all_)).buffer(task.memory(any_));
                    arguments.buffer(task.memory(odd_)).buffer(task.memory(nearest_));
                })));
    }
    void expect_right() {
        for (const JobHandle& job : jobs_) job.wait();
        const auto least = least_.gather();
        const auto greatest = greatest_.gather();
        for (std::uint64_t cell = 0; cell < cells; ++cell) {
            const Cell& wanted = expected_[cell];
            EXPECT_EQ(std::bit_cast<std::uint32_t>(least[cell]), std::bit_cast<std::uint32_t>(wanted.least));
            EXPECT_EQ(std::bit_cast<std::uint64_t>(greatest[cell]),
                      std::bit_cast<std::uint64_t>(wanted.greatest));
            EXPECT_EQ(all_.gather()[cell], wanted.all);
            EXPECT_EQ(any_.gather()[cell], wanted.any);
            EXPECT_EQ(odd_.gather()[cell], wanted.odd);
            EXPECT_EQ(nearest_.gather()[cell], wanted.nearest);
        }
    }

    const Domain<float> least_{"least", {cells}};
    const Domain<double> greatest_{"greatest", {cells}};
    const Domain<std::uint32_t> all_{"all", {cells}};
    const Domain<std::uint64_t> any_{"any", {cells}}, odd_{"odd", {cells}};
    const Domain<Hit> nearest_{"nearest", {cells}};
    std::vector<Cell> expected_ = std::vector<Cell>(cells);
    std::vector<JobHandle> jobs_;
};
INSTANTIATE_TEST_SUITE_P(On, Reductions, device_lists(), by_list);

TEST_P(Reductions, OfAllDevicesComeTogether) {
    submit(size);
    expect_right();
    submit(1); // fewer than devices
    submit(size / 3);
    submit(size);
    expect_right();
}

TEST_P(Reductions, BeginWithTheIdentityWhereNothingWasWritten) {
    submit(0);
    expect_right();
    submit(3);
    expect_right();
}

TEST_P(Reductions, TakeUpWhatWasThere) {
    for (std::uint64_t cell = 0; cell < cells; ++cell) {
        Cell& there = expected_[cell];
        least_.fill()[cell] = there.least = cell % 2 == 0 ? -std::numeric_limits<float>::max() : 1e30F;
        greatest_.fill()[cell] = there.greatest = cell % 2 == 0 ? std::numeric_limits<double>::max() : -1e300;
        all_.fill()[cell] = there.all = static_cast<std::uint32_t>(random_());
        any_.fill()[cell] = there.any = std::uint64_t{1} << 63;
        odd_.fill()[cell] = there.odd = random_();
        nearest_.fill()[cell] = there.nearest = {cell % 2 == 0 ? -1.0F : 0.0F, 3};
    }
    submit(size);
    expect_right();
    submit(2);
    expect_right();
}

TEST_P(Reductions, OfMinimumAndMaximumIgnoreNaN) {
    submit(size, true);
    expect_right();
    for (const float value : least_.gather()) EXPECT_EQ(value, std::numeric_limits<float>::infinity());
    std::ranges::fill(least_.fill(), std::numeric_limits<float>::quiet_NaN()); // any number replaces it
    submit(size);
    expect_right();
}

/// Two ways to reduce one domain: the second job begins with what the first one has left.
TEST_P(Reductions, ByDifferentOperationsFollowEachOther) {
    const Domain<std::uint64_t> x("x", {cells});
    std::vector<std::uint64_t> expected(cells, ~std::uint64_t{0});
    const auto words = some_words(), others = some_words();
    const auto reduce = [&]<class Op>(const Domain<std::uint64_t>& from, Op) {
        for (std::uint64_t i = 0; i < size; ++i) {
            std::uint64_t& cell = expected[i % cells];
            cell =
                std::is_same_v<Op, Min> ? std::min(cell, from.gather()[i]) : std::max(cell, from.gather()[i]);
        }
        return runtime().submit(
            Job("reduce", size)
                .reads(from)
                .template reduces<Op>(x)
                .kernel([=](Task& task) {
                    return ReduceInto<Op>{task.read(from), task.template reduce<Op>(x)};
                })
                .opencl(joining_form(std::is_same_v<Op, Min> ? "REDUCE_LEAST" : "REDUCE_GREATEST"),
                        [=](Task& task, OpenClArguments& arguments) {
                            arguments.buffer(task.memory(from)).buffer(task.memory(x)).value(cells);
                        }));
    };
    const JobHandle least = reduce(words, Min{}), greatest = reduce(others, Max{}),
                    again = reduce(others, Min{});
    for (const JobHandle& job : {least, greatest, again}) job.wait();
    EXPECT_TRUE(std::ranges::equal(x.gather(), expected));
}

// ---- exact sums
// ----------------------------------------------------------------------------------------------------

class ExactSums : public Joinings {
protected:
    using Range = ValueTable::DeclaredRange;
    static constexpr std::uint64_t sums = 131; // more than a block of add_planes, and no whole number of them
    template <class T, class R = FullRange>
    struct Kind {
        Domain<ExactSum<T, R>> domain{"sums", {sums}};
        std::vector<ReferenceSum<T>> expected = std::vector<ReferenceSum<T>>(sums);

        void expect_right() const {
            const auto found = domain.gather();
            for (std::uint64_t i = 0; i < sums; ++i) {
                const T value = found[i].value(), wanted = expected[i].value();
                EXPECT_EQ(detail::to_word(value), detail::to_word(wanted)) << i << ": " << value;
                EXPECT_FALSE(found[i].exceeds_range());
            }
        }
    };

    void submit(Runtime& runtime, std::uint64_t units) {
        submit(runtime, units, some_words(std::max<std::uint64_t>(units, 1)));
    }
    void submit(Runtime& runtime, std::uint64_t units, const Domain<std::uint64_t>& words) {
        const auto all = words.gather();
        for (std::uint64_t i = 0; i < units; ++i) {
            const std::uint64_t word = all[i], cell = i % sums;
            full_.expected[cell].add(term<double>(i, word));
            floats_.expected[cell].add(term<float>(i, word));
            declared_.expected[cell].add(declared_term<double>(word));
        }
        const auto full = full_.domain;
        const auto floats = floats_.domain;
        const auto declared = declared_.domain;
        runtime
            .submit(Job("add", units)
                        .reads(words)
                        .accumulates(full, floats, declared)
                        .kernel([=](Task& task) {
                            return AddExactly{task.read(words), task.sum(full), task.sum(floats),
                                              task.sum(declared)};
                        })
                        .opencl(joining_form("ADD_EXACTLY"),
                                [=](Task& task, OpenClArguments& arguments) {
                                    arguments.buffer(task.memory(words)).value(sums);
                                    arguments.value(task.sum(full).stride);
                                    arguments.buffer(task.memory(full)).buffer(task.memory(floats));
                                    arguments.buffer(task.memory(declared));
                                }))
            .wait();
    }
    void expect_right() const {
        full_.expect_right();
        floats_.expect_right();
        declared_.expect_right();
    }

    Kind<double> full_;
    Kind<float> floats_;
    Kind<double, Range> declared_;
};
INSTANTIATE_TEST_SUITE_P(On, ExactSums, device_lists(), by_list);

TEST_P(ExactSums, AreRoundedOnceWhateverTheSplit) {
    submit(runtime(), size);
    expect_right();
    submit(runtime(), 1);
    submit(*make_runtime("static"), size / 2); // goes, and leaves its sums
    submit(*make_runtime("dynamic:1009"), size);
    expect_right();
}

TEST_P(ExactSums, AreAddedToWhatWasThere) {
    submit(runtime(), 0);
    expect_right();
    for (std::uint64_t i = 0; i < sums; ++i) {
        const double there = term<double>(1, random_());
        ExactSum<double>& sum = full_.domain.fill()[i];
        sum += there; // the words of what there is are any that stand for the sum
        full_.expected[i].add(there);
    }
    submit(runtime(), size);
    expect_right();
}

/// Not only what they are rounded to.
TEST_P(ExactSums, HaveTheSameWordsOnEveryDeviceList) {
    std::vector<ExactSum<double>> serial(sums);
    for (int round = 0; round < 2; ++round) {
        const auto words = some_words();
        submit(runtime(), size, words);
        const auto all = words.gather();
        for (std::uint64_t i = 0; i < size; ++i) serial[i % sums] += term<double>(i, all[i]);
    }
    const auto found = full_.domain.gather();
    for (std::uint64_t i = 0; i < sums; ++i) {
        serial[i].normalise();
        EXPECT_TRUE(std::ranges::equal(found[i].words, serial[i].words)) << i;
    }
}

// ---- records
// ----------------------------------------------------------------------------------------------------

class Records : public Joinings {
protected:
    /// A job of so many units. What it appends is expected, in its order.
    JobHandle append(const Domain<Record>& x, std::uint64_t units) {
        const auto words = some_words(std::max<std::uint64_t>(units, 1));
        const auto all = words.gather();
        for (std::uint64_t i = 0; i < units; ++i)
            for (std::uint32_t number = 0; number < AppendSome::count(all[i]); ++number)
                expected_.push_back(AppendSome::record(i, all[i], number));
        return runtime().submit(
            Job("append", units)
                .reads(words)
                .appends(x)
                .kernel([=](Task& task) {
                    return AppendSome{task.read(words), task.append(x)};
                })
                .opencl(joining_form("APPEND_SOME"), [=](Task& task, OpenClArguments& arguments) {
                    arguments.buffer(task.memory(words)).buffer(task.memory(x)).value(x.size());
                }));
    }
    /// A job that adds up the members of so many records.
    static Job reading(const std::string& name, std::uint64_t count, const Domain<Record>& x,
                       const Domain<std::uint64_t>& sums) {
        return Job(name, count)
            .reads(x)
            .accumulates(sums)
            .kernel([=](Task& task) {
                return SumRecords{task.read(x), task.sum(sums)};
            })
            .opencl(joining_form("SUM_RECORDS"), [=](Task& task, OpenClArguments& arguments) {
                arguments.buffer(task.memory(x)).buffer(task.memory(sums));
            });
    }
    static bool is_before(const Record& a, const Record& b) {
        return std::tie(a.part, a.unit, a.number) < std::tie(b.part, b.unit, b.number);
    }
    void expect_right(const Domain<Record>& x) {
        EXPECT_EQ(x.count(), expected_.size());
        std::ranges::sort(expected_, is_before);
        const auto sorted = x.sorted_by(is_before);
        EXPECT_TRUE(std::ranges::equal(sorted, expected_));
        EXPECT_TRUE(std::ranges::equal(x.records(), expected_)) << "they stay sorted";
        EXPECT_EQ(x.gather().size(), x.size());
        // By a member alone: those that have the same go by their bytes, wherever they were before.
        std::ranges::shuffle(expected_, random_);
        x.assign(expected_);
        std::ranges::sort(expected_, [](const Record& a, const Record& b) {
            return a.unit != b.unit ? a.unit < b.unit : std::memcmp(&a, &b, sizeof a) < 0;
        });
        EXPECT_TRUE(std::ranges::equal(x.sorted_by(&Record::unit), expected_));
    }
    std::vector<Record> expected_;
};
INSTANTIATE_TEST_SUITE_P(On, Records, device_lists(), by_list);

TEST_P(Records, OfAllDevicesAndJobsComeTogether) {
    const Domain<Record> x("x", {18 * size + 5});
    EXPECT_EQ(x.count(), 0U);
    EXPECT_TRUE(x.records().empty());
    append(x, 0).wait();
    expect_right(x);
    append(x, size).wait();
    expect_right(x);
    const JobHandle one = append(x, 1), many = append(x, size);
    one.wait();
    many.wait();
    expect_right(x);
    x.clear();
    expected_.clear();
    EXPECT_EQ(x.count(), 0U);
    append(x, size).wait();
    expect_right(x);
}

TEST_P(Records, AreReadByTheJobsBehind) {
    const Domain<Record> x("x", {12 * size});
    const Domain<std::uint64_t> sums("sums", {3});
    std::ranges::fill(sums.fill(), 0U);
    for (int round = 0; round < 2; ++round) {
        append(x, size).wait();
        const JobHandle read = runtime().submit(reading("read", x.count(), x, sums));
        read.wait();
        std::uint64_t units = 0, numbers = 0, parts = 0;
        for (const Record& record : expected_) {
            units += record.unit;
            numbers += record.number;
            parts += record.part;
        }
        EXPECT_EQ(sums.gather()[0], units);
        EXPECT_EQ(sums.gather()[1], numbers);
        EXPECT_EQ(sums.gather()[2], parts);
        for (const DeviceReport& device : read.report().devices)
            EXPECT_LE(device.bytes_in, x.count() * sizeof(Record)) << "no more than there are";
        std::ranges::fill(sums.fill(), 0U);
    }
}

TEST_P(Records, AreAFrontierThatGoesOnAsLongAsThereAreAny) {
    constexpr std::uint32_t vertices = 30'000;
    Domain<std::uint32_t> frontier("frontier", {vertices}), next("next", {vertices});
    std::vector<std::uint32_t> expected{1, 4};
    frontier.assign(expected);
    int levels = 0;
    while (const std::uint64_t count = frontier.count()) {
        ASSERT_TRUE(std::ranges::equal(frontier.sorted_by([](auto vertex) { return vertex; }), expected));
        next.clear();
        runtime().submit(
            Job("level", count)
                .reads(frontier)
                .appends(next)
                .kernel([=](Task& task) {
                    return Level{task.read(frontier), task.count(frontier), count, task.append(next),
                                 vertices};
                })
                .opencl(joining_form("LEVEL"), [=](Task& task, OpenClArguments& arguments) {
                    arguments.buffer(task.memory(frontier)).value(task.count(frontier)).value(count);
                    arguments.buffer(task.memory(next)).value(next.size()).value(vertices);
                }));
        std::vector<std::uint32_t> behind;
        for (const std::uint32_t vertex : expected)
            for (const std::uint32_t neighbour : {2 * vertex + 1, 3 * vertex + 2})
                if (neighbour < vertices) behind.push_back(neighbour);
        std::ranges::sort(behind);
        expected = std::move(behind);
        std::swap(frontier, next);
        ++levels;
    }
    EXPECT_TRUE(expected.empty());
    EXPECT_GT(levels, 8);
}

TEST_P(Records, ThatAreOneTooManyAreAnErrorUntilTheDomainIsCleared) {
    const Domain<Record> large("large", {6 * size});
    append(large, size).wait();
    const std::uint64_t count = large.count();
    const std::vector<Record> records(large.records().begin(), large.records().end());

    const Domain<Record> x("the records", {count});
    x.assign(std::span(records).first(3));
    const Domain<Record> rest("rest", {count - 2});
    rest.assign(std::span(records).subspan(2)); // with the three, one too many
    const auto copy = [&](std::uint64_t units) {
        return runtime().submit(
            Job("copy", units)
                .reads(rest)
                .appends(x)
                .kernel([=](Task& task) {
                    return CopyRecords{task.read(rest), task.append(x)};
                })
                .opencl(joining_form("COPY_RECORDS"), [=](Task& task, OpenClArguments& arguments) {
                    arguments.buffer(task.memory(rest)).buffer(task.memory(x)).value(x.size());
                }));
    };
    copy(count - 3).wait();
    EXPECT_EQ(x.count(), count) << "it is full";
    expected_ = {records.begin(), records.begin() + 3};
    expected_.insert(expected_.end(), records.begin() + 2, records.end() - 1);
    expect_right(x);

    x.assign(std::span(records).first(3));
    copy(count - 2).wait();
    const auto expect_error = [&](auto&& ask) {
        try {
            ask();
            FAIL() << "nothing was said";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
            for (const auto& part :
                 {std::string("'the records'"), std::to_string(count), std::to_string(count + 1)})
                EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
        }
    };
    const auto reader = [&] {
        const Domain<std::uint64_t> sums("sums", {3});
        runtime().submit(reading("read", 1, x, sums)).wait();
    };
    if (random_() % 2 == 0) expect_error(reader); // whichever asks first
    expect_error([&] { static_cast<void>(x.count()); });
    expect_error([&] { static_cast<void>(x.gather()); });
    expect_error([&] { static_cast<void>(x.records()); });
    expect_error([&] { static_cast<void>(x.sorted_by(is_before)); });
    expect_error(reader);
    copy(1).wait();
    expect_error([&] { static_cast<void>(x.count()); });
    if (random_() % 2 == 0)
        x.clear();
    else
        static_cast<void>(x.fill());
    EXPECT_EQ(x.count(), 0U);
    copy(5).wait();
    EXPECT_EQ(x.count(), 5U);
    EXPECT_THROW(rest.assign(records), Error) << "more than it holds";
}

// ---- all of them, in a job that spawns and whose units go from device to device
// ----------------------------------------------------------------------------------------------------

TEST_P(Joinings, OfJobsThatSpawnAndShareUnits) {
    for (const auto& [seeds, depth] : {std::pair{23u, 9u}, {1u, 17u}}) { // of one seed all devices want units
        const std::uint64_t leaves_count = std::uint64_t{seeds} << depth;
        const Domain<std::uint64_t> greatest("greatest", {cells});
        const Domain<ExactSum<double>> sums("sums", {cells});
        const Domain<Sprout> leaves("leaves", {leaves_count});
        const Domain<std::uint32_t> paths("paths", {leaves_count});

        std::vector<std::uint64_t> greatest_expected(cells, 0);
        std::vector<ReferenceSum<double>> sums_expected(cells);
        std::vector<Sprout> leaves_expected;
        for (std::uint32_t seed = 0; seed < seeds; ++seed)
            for (std::uint32_t path = 1; path < 2u << depth; ++path) {
                const std::uint64_t word = Grove::word({seed, path});
                greatest_expected[seed % cells] = std::max(greatest_expected[seed % cells], word);
                sums_expected[seed % cells].add(term<double>(1, word));
                if (path >> depth != 0) leaves_expected.push_back({seed, path});
            }
        for (int round = 0; round < 2; ++round) {
            if (round == 1) {
                std::ranges::fill(sums.fill(), ExactSum<double>{});
                std::ranges::fill(paths.fill(), 0u);
                leaves.clear();
            }
            Job job("grove", seeds);
            job.reduces<Max>(greatest).accumulates(sums).appends(leaves).scatters(paths).share_units().policy(
                "demand");
            job.tune({.wishes = {}, .launch_time = std::chrono::milliseconds(1)});
            job.seeds(Seedlings{}).kernel([&, depth = depth](Task& task) {
                return Grove{task.reduce<Max>(greatest), task.sum(sums), task.append(leaves),
                             task.scatter(paths), depth};
            });
            OpenClKernel kernel = joining_form("GROVE");
            kernel.kinds = 1;
            kernel.unit_bytes = sizeof(Sprout);
            kernel.max_spawns = 2;
            job.opencl(kernel, [&](Task& task, OpenClArguments& arguments) {
                arguments.buffer(task.memory(greatest)).value(cells).buffer(task.memory(sums));
                arguments.value(task.sum(sums).stride).buffer(task.memory(leaves)).value(leaves.size());
                arguments.buffer(task.memory(paths)).value(depth);
            });
            const JobHandle run = runtime().submit(job);
            run.wait();
            for (const DeviceReport& device : run.report().devices)
                if (is_checked_mode() && device.units_transferred != 0)
                    ADD_FAILURE() << device.id << " has transferred units, which are not checked then";
            EXPECT_TRUE(std::ranges::equal(greatest.gather(), greatest_expected));
            for (std::uint64_t cell = 0; cell < cells; ++cell)
                EXPECT_EQ(sums.gather()[cell].value(), sums_expected[cell].value());
            const auto sorted = leaves.sorted_by([](const Sprout& a, const Sprout& b) {
                return std::pair(a.seed, a.path) < std::pair(b.seed, b.path);
            });
            EXPECT_TRUE(std::ranges::equal(sorted, leaves_expected));
            for (std::uint64_t i = 0; i < leaves_count; ++i)
                ASSERT_EQ(paths.gather()[i], (1u << depth) + i % (1u << depth)) << "leaf " << i;
        }
    }
}

} // namespace
} // namespace headrace::test
