// tests/domains/joining_test.cpp - reductions, exact sums and appended records: the same on every device list
// of this machine, whatever the split, and what a failure leaves of them.
#include "exact_reference.hpp"
#include "joining.cl.hpp"

#include <core/fake_device.hpp>
#include <domains/device_lists.hpp>
#include <domains/joining.kernels.hpp>
#include <headrace/headrace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace headrace::test {
namespace {

OpenClKernel twin(const std::string& name) {
    return {.name = name, .source = "#define " + name + "\n" + std::string(embedded::joining_cl)};
}

class Joinings : public OnDeviceLists {
protected:
    static constexpr std::uint64_t size = 20'011, cells = 7; // primes: no task size divides them

    /// Random ones; each job has its own.
    Domain<std::uint64_t> some_words(std::uint64_t count = size) {
        const Domain<std::uint64_t> words("words", {count});
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
                .opencl(twin("REDUCE_WORDS"), [=, this](Task& task, OpenClArguments& arguments) {
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
            Job("reduce", size).reads(from).template reduces<Op>(x).kernel([=](Task& task) {
                return ReduceInto<Op>{task.read(from), task.template reduce<Op>(x)};
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
                        .opencl(twin("ADD_EXACTLY"),
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
                .opencl(twin("APPEND_SOME"), [=](Task& task, OpenClArguments& arguments) {
                    arguments.buffer(task.memory(words)).buffer(task.memory(x)).value(x.size());
                }));
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
    const Domain<Record> x("x", {6 * 3 * size + 5});
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
    const Domain<Record> x("x", {2 * 6 * size});
    const Domain<std::uint64_t> sums("sums", {3});
    std::ranges::fill(sums.fill(), 0U);
    for (int round = 0; round < 2; ++round) {
        append(x, size).wait();
        const JobHandle read =
            runtime().submit(Job("read", x.count()).reads(x).accumulates(sums).kernel([&](Task& task) {
                return SumRecords{task.read(x), task.sum(sums)};
            }));
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
        runtime().submit(Job("level", count).reads(frontier).appends(next).kernel([=](Task& task) {
            return Level{task.read(frontier), task.count(frontier), count, task.append(next), vertices};
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
        return runtime().submit(Job("copy", units).reads(rest).appends(x).kernel([=](Task& task) {
            return CopyRecords{task.read(rest), task.append(x)};
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
        runtime()
            .submit(Job("read", 1).reads(x).accumulates(sums).kernel([=](Task& task) {
                return SumRecords{task.read(x), task.sum(sums)};
            }))
            .wait();
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
            OpenClKernel kernel = twin("GROVE");
            kernel.kinds = 1;
            kernel.unit_bytes = sizeof(Sprout);
            kernel.max_spawns = 2;
            job.opencl(kernel, [&](Task& task, OpenClArguments& arguments) {
                arguments.buffer(task.memory(greatest)).value(cells).buffer(task.memory(sums));
                arguments.value(task.sum(sums).stride).buffer(task.memory(leaves)).value(leaves.size());
                arguments.buffer(task.memory(paths)).value(depth);
            });
            runtime().submit(job).wait();
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

// ---- failures, on fake devices
// ----------------------------------------------------------------------------------------------------

/// Two fake devices, each of which gets one of the two units of a job.
class FailingJoinings : public testing::Test {
protected:
    static constexpr std::uint64_t size = 64;
    using Op = BitXor; // done twice it shows
    std::vector<FakeDevice*> fakes_;
    std::optional<Runtime> runtime_{std::in_place,
                                    [this] {
                                        std::vector<std::unique_ptr<Device>> devices;
                                        for (const char* id : {"fake:0", "fake:1"}) {
                                            auto fake = std::make_unique<FakeDevice>(FakeOptions{.id = id});
                                            fakes_.push_back(fake.get());
                                            devices.push_back(std::move(fake));
                                        }
                                        return devices;
                                    }(),
                                    RuntimeOptions{.policy = "static", .model = "peak"}};
    const Domain<std::uint64_t> odd_{"odd", {size}};
    const Domain<ExactSum<float, ExponentRange<-10, 20>>> sums_{"sums", {size}};
    const Domain<std::uint32_t> records_{"records", {size}};

    /// Each unit does something to each domain. `fails`: the job does.
    JobHandle submit(bool fails = false) {
        return runtime_->submit(
            Job("job", 2).reduces<Op>(odd_).accumulates(sums_).appends(records_).host_function(
                "fake", [=, this](Task& task, const NativeStream&) {
                    for (auto i = task.range().begin; i < task.range().end; ++i) {
                        task.reduce<Op>(odd_).combine(i, 5 + i);
                        task.sum(sums_).add(i, 1.5F);
                        task.append(records_).append(static_cast<std::uint32_t>(100 + i));
                    }
                    if (fails) throw Error{ErrorKind::kernel, "it fails"};
                }));
    }
    void expect_right(std::uint64_t jobs) {
        for (std::uint64_t i = 0; i < 2; ++i) {
            EXPECT_EQ(odd_.gather()[i], jobs % 2 * (5 + i));
            EXPECT_EQ(sums_.gather()[i].value(), 1.5F * static_cast<float>(jobs));
        }
        const auto records = records_.sorted_by(std::less<>{});
        ASSERT_EQ(records.size(), 2 * jobs);
        EXPECT_EQ(std::ranges::count(records, 100U), static_cast<std::ptrdiff_t>(jobs));
    }
    void expect_errors(ErrorKind kind) {
        const auto kind_of = [](auto&& ask) {
            try {
                ask();
                return std::optional<ErrorKind>();
            } catch (const Error& error) {
                return std::optional(error.kind());
            }
        };
        for (int again = 0; again < 2; ++again) {
            EXPECT_EQ(kind_of([&] { static_cast<void>(odd_.gather()); }), kind);
            EXPECT_EQ(kind_of([&] { static_cast<void>(sums_.gather()); }), kind);
            EXPECT_EQ(kind_of([&] { static_cast<void>(records_.count()); }), kind);
            EXPECT_EQ(kind_of([&] { static_cast<void>(records_.gather()); }), kind);
        }
    }
    void heal() {
        std::ranges::fill(odd_.fill(), 0U);
        std::ranges::fill(sums_.fill(), ExactSum<float, ExponentRange<-10, 20>>{});
        records_.clear();
    }
};

TEST_F(FailingJoinings, WhatALostDeviceWasToDoIsDoneElsewhereOnce) {
    fakes_[1]->fail_next(FakeRequest::launch);
    submit().wait();
    submit().wait();
    expect_right(2);
}

TEST_F(FailingJoinings, WhatALostDeviceHeldOfJobsThatEndedIsMissed) {
    submit().wait();
    fakes_[1]->fail_next(FakeRequest::launch);
    submit().wait();
    expect_errors(ErrorKind::device);
    heal();
    submit().wait();
    expect_right(1);
}

TEST_F(FailingJoinings, WhatAFailedJobWasToDoIsMissed) {
    submit().wait();
    expect_right(1);
    const JobHandle failed = submit(true);
    EXPECT_THROW(failed.wait(), Error);
    submit().wait(); // with a job behind it that ends well
    expect_errors(ErrorKind::kernel);
    const Domain<std::uint32_t> copy("copy", {size});
    const JobHandle reads = runtime_->submit(
        Job("reads", 1).reads(records_).writes(copy).host_function("fake", [](Task&, const NativeStream&) {
        }));
    EXPECT_THROW(reads.wait(), Error);
    heal();
    submit().wait();
    expect_right(1);
}

TEST_F(FailingJoinings, WhoseCopyFailedCanBeAskedForAgain) {
    for (const std::uint64_t device : {0U, 1U}) {
        heal();
        submit().wait();
        fakes_[device]->fail_next(FakeRequest::copy_out);
        EXPECT_THROW(static_cast<void>(odd_.gather()), Error);
        fakes_[device]->fail_next(FakeRequest::copy_out);
        EXPECT_THROW(static_cast<void>(sums_.gather()), Error);
        fakes_[device]->fail_next(FakeRequest::copy_out);
        EXPECT_THROW(static_cast<void>(records_.count()), Error);
        expect_right(1);
    }
}

/// More than comes to the host at once.
class ManyExactSums : public FailingJoinings {
protected:
    static constexpr std::uint64_t many = 60'007;
    static constexpr int copies_of_piece = 40; ///< one of each plane; then the next piece begins
    const Domain<ExactSum<double>> x_{"x", {many}};
    std::vector<double> there_ = std::vector<double>(many);

    void fill() {
        const auto sums = x_.fill();
        for (std::uint64_t i = 0; i < many; ++i) {
            there_[i] = 0x1p+60 + static_cast<double>(i);
            sums[i] = {};
            sums[i] += there_[i];
        }
    }
    /// Terms that plain sums would lose.
    void add() {
        runtime_
            ->submit(Job("add", 2).accumulates(x_).host_function(
                "fake",
                [=, this](Task& task, const NativeStream&) {
                    for (auto unit = task.range().begin; unit < task.range().end; ++unit)
                        for (std::uint64_t i = 0; i < many; ++i)
                            task.sum(x_).add(i, unit == 0 ? static_cast<double>(i) * 0x1p-70 : -0x1p+60);
                }))
            .wait();
    }
};

TEST_F(ManyExactSums, ComeToTheHostInPieces) {
    add();
    for (std::uint64_t i = 0; i < many; ++i) ASSERT_EQ(x_.gather()[i].value(), -0x1p+60);
    fill();
    add();
    const auto sums = x_.gather();
    for (std::uint64_t i = 0; i < many; ++i) {
        const double left = there_[i] - 0x1p+60; // of numbers so near to each other, exact
        ASSERT_EQ(sums[i].value(), left == 0 ? static_cast<double>(i) * 0x1p-70 : left) << i;
    }
}

TEST_F(ManyExactSums, OfWhichSomeWereAddedAreMissed) {
    fill();
    add();
    fakes_[1]->fail_next(FakeRequest::copy_out, 1, copies_of_piece);
    EXPECT_THROW(static_cast<void>(x_.gather()), Error);
    EXPECT_THROW(static_cast<void>(x_.gather()), Error) << "some would be added twice";
}

TEST_F(ManyExactSums, WhereNothingWasCanBeAskedForAgain) {
    add();
    fakes_[1]->fail_next(FakeRequest::copy_out, 1, copies_of_piece);
    EXPECT_THROW(static_cast<void>(x_.gather()), Error);
    for (std::uint64_t i = 0; i < many; ++i) ASSERT_EQ(x_.gather()[i].value(), -0x1p+60);
}

TEST_F(FailingJoinings, ARuntimeThatGoesLeavesWhatItsDevicesDid) {
    submit().wait();
    submit().wait();
    submit().wait();
    runtime_.reset();
    expect_right(3);
}

TEST_F(FailingJoinings, MoveNoMoreThanThereIs) {
    const Domain<std::uint32_t> records("records", {1'000'000});
    runtime_
        ->submit(Job("append", 2)
                     .appends(records)
                     .host_function("fake",
                                    [=](Task& task, const NativeStream&) {
                                        for (auto i = task.range().begin; i < task.range().end; ++i)
                                            task.append(records).append(7);
                                    }))
        .wait();
    EXPECT_EQ(records.count(), 2U);
    EXPECT_EQ(fakes_[0]->bytes_in() + fakes_[1]->bytes_in(), 0U);
    EXPECT_LT(fakes_[0]->bytes_out() + fakes_[1]->bytes_out(), 100U);
    const Domain<std::uint32_t> copy("copy", {2});
    runtime_
        ->submit(Job("read", 2)
                     .reads(records)
                     .writes(rows(copy))
                     .host_function("fake",
                                    [=](Task& task, const NativeStream&) {
                                        EXPECT_EQ(task.count(records), 2U);
                                        for (auto i = task.range().begin; i < task.range().end; ++i)
                                            task.write(copy)[i] = task.read(records)[i];
                                    }))
        .wait();
    EXPECT_LT(fakes_[0]->bytes_in() + fakes_[1]->bytes_in(), 100U);
    EXPECT_TRUE(std::ranges::equal(copy.gather(), std::vector{7U, 7U}));

    const Domain<double> least("least", {100'000});
    runtime_
        ->submit(Job("reduce", 1)
                     .reduces<Min>(least)
                     .host_function(
                         "fake",
                         [=](Task& task, const NativeStream&) { task.reduce<Min>(least).combine(1, -2.0); }))
        .wait();
    EXPECT_LT(fakes_[0]->bytes_in() + fakes_[1]->bytes_in(), 100U) << "identities are made on the device";
    EXPECT_EQ(least.gather()[1], -2.0);
    EXPECT_EQ(least.gather()[0], std::numeric_limits<double>::infinity());
}

TEST_F(FailingJoinings, AJobThatWritesLeavesNoRecords) {
    records_.assign(std::vector{1U, 2U});
    EXPECT_EQ(records_.count(), 2U);
    runtime_
        ->submit(Job("write", size)
                     .writes(rows(records_))
                     .host_function("fake",
                                    [=, this](Task& task, const NativeStream&) {
                                        for (auto i = task.range().begin; i < task.range().end; ++i)
                                            task.write(records_)[i] = static_cast<std::uint32_t>(i);
                                    }))
        .wait();
    EXPECT_EQ(records_.count(), 0U);
    EXPECT_EQ(records_.gather()[size - 1], size - 1);
    submit().wait();
    expect_right(1); // elements that were no records are in the way of none
}

TEST_F(FailingJoinings, AnOperationThatTheJobDoesNotDeclareIsNamed) {
    const auto expect_named = [&](Job job, const auto& body, std::initializer_list<const char*> names) {
        try {
            runtime_->submit(job.host_function("fake", body)).wait();
            FAIL() << "nothing was said";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
            for (const char* name : names)
                EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
        }
    };
    expect_named(Job("least", 1).reduces<Min>(odd_),
                 [=, this](Task& task, const NativeStream&) { static_cast<void>(task.reduce<Max>(odd_)); },
                 {"reduces<headrace::Max>()", "reduces<headrace::Min>()"});
    std::ranges::fill(odd_.fill(), 0U);
    expect_named(Job("sums", 1).accumulates(odd_),
                 [=, this](Task& task, const NativeStream&) { static_cast<void>(task.append(odd_)); },
                 {"appends()", "accumulates()"});
    expect_named(Job("appends", 1).appends(records_),
                 [=, this](Task& task, const NativeStream&) { static_cast<void>(task.count(records_)); },
                 {"'records'"});
}

} // namespace
} // namespace headrace::test
