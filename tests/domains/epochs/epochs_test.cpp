// Jobs in epochs have the results of one submission, wherever they are cut, stopped and resumed.
#include "numbered.hpp"

#include <core/log_lines.hpp>
#include <core/scratch_folder.hpp>
#include <domains/access.kernels.hpp>
#include <domains/cluster/ranks.hpp>
#include <domains/device_lists.hpp>
#include <domains/joining.kernels.hpp>
#include <headrace/domains/epochs.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headrace::test {
namespace {

constexpr std::uint64_t units = 30'011;
constexpr EpochOptions::Seconds at_each_commit{0};

template <class T>
std::vector<std::byte> bytes_of(const Domain<T>& domain) {
    const auto bytes = std::as_bytes(domain.gather());
    return {bytes.begin(), bytes.end()};
}

class Epochs : public OnDeviceLists {
protected:
    /// Epochs of random length, about `count` of them.
    [[nodiscard]] EpochOptions random_epochs(std::uint64_t count = 7) {
        EpochOptions options;
        options.identity = "program: a test";
        options.cut = [random = std::mt19937_64(random_()), count](std::uint64_t) mutable {
            return random() % (2 * units / count) + 1;
        };
        return options;
    }
    /// Runs a part of it, which is stored.
    void stop_after(std::uint64_t least_units, const Job& job, const std::filesystem::path& file) {
        EpochOptions options = random_epochs();
        options.checkpoint = file;
        std::uint64_t done = 0;
        options.on_progress = [&](std::uint64_t now) { done = now; };
        options.stops = [&] { return done >= least_units; };
        try {
            static_cast<void>(run_in_epochs(runtime(), job, options));
            FAIL() << "it was not stopped";
        } catch (const Error& error) {
            ASSERT_EQ(error.kind(), ErrorKind::cancelled) << error.what();
        }
    }

    const ScratchFolder folder_;
    const std::filesystem::path file_ = folder_.path() / "run.checkpoint";
};
INSTANTIATE_TEST_SUITE_P(On, Epochs, testing::Values("cpu", two_private_cpus, "cpu,opencl:pocl"), by_list);

TEST_P(Epochs, HaveTheResultOfOneJob) {
    const NumberedJob numbered{cells};
    const JobReport report = run_in_epochs(runtime(), numbered.job(units), random_epochs());
    EXPECT_EQ(numbered.result(), numbered.expected({0, units}));
    EXPECT_EQ(report.work_units, units);
    EXPECT_EQ(report.resumed_units, 0);
    EXPECT_EQ(report.job, "numbered");
    std::uint64_t done = 0;
    double share = 0;
    for (const DeviceReport& device : report.devices) {
        done += device.work_units;
        share += device.share;
        EXPECT_LE(device.finished_seconds, report.seconds * 1.01);
    }
    EXPECT_EQ(done, units);
    EXPECT_NEAR(share, 1, 1e-9);
    EXPECT_EQ(report.devices.size(), runtime().devices().size());
}

TEST_P(Epochs, CutByMeasuredTimesToo) {
    const NumberedJob numbered{cells};
    std::vector<std::uint64_t> told;
    EpochOptions options{.epoch = EpochOptions::Seconds(0.005)};
    options.on_progress = [&](std::uint64_t now) { told.push_back(now); };
    const JobReport report = run_in_epochs(runtime(), numbered.job(1'000'003), options);
    EXPECT_EQ(numbered.result(), numbered.expected({0, 1'000'003}));
    EXPECT_TRUE(std::ranges::is_sorted(told));
    EXPECT_EQ(told.back(), 1'000'003);
    EXPECT_GT(told.size(), 2u); // more than one epoch
}

TEST_P(Epochs, ShowTheirResultsWhenTheyAreCommitted) {
    const NumberedJob numbered{cells};
    EpochOptions options = random_epochs();
    std::uint64_t last = 0;
    int commits = 0;
    options.on_commit = [&](std::uint64_t done) {
        EXPECT_GT(done, last);
        EXPECT_EQ(numbered.result(), numbered.expected({0, done}));
        last = done;
        ++commits;
    };
    static_cast<void>(run_in_epochs(runtime(), numbered.job(units), options));
    EXPECT_EQ(last, units);
    EXPECT_GT(commits, 1);
    EXPECT_EQ(numbered.result(),
              numbered.expected({0, units})); // they may be looked at as often as one likes
    options.on_commit = [](std::uint64_t) { throw Error{ErrorKind::io, "the disk is full"}; };
    const NumberedJob other{cells};
    try {
        static_cast<void>(run_in_epochs(runtime(), other.job(units), options));
        FAIL() << "it went on";
    } catch (const Error& error) {
        EXPECT_EQ(error.message(), "the disk is full");
    }
}

TEST_P(Epochs, EndWhenTheirTimeIsUp) {
    constexpr std::uint64_t many = std::uint64_t{1} << 40; // weeks
    const NumberedJob numbered{cells};
    EpochOptions options{.checkpoint = file_,
                         .identity = "a test",
                         .epoch = EpochOptions::Seconds(60),
                         .time_limit = EpochOptions::Seconds(0.3)};
    std::uint64_t done = 0;
    options.on_commit = [&](std::uint64_t now) { done = now; };
    const auto begin = std::chrono::steady_clock::now();
    const JobReport report = run_in_epochs(runtime(), numbered.job(many), options);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_GT(report.work_units, 0);
    EXPECT_EQ(report.work_units, done);
    EXPECT_EQ(numbered.result(), numbered.expected({0, done}));
    EXPECT_LT(seconds, 20); // it is 0.3, on a machine that does nothing else; an epoch may take 60
    options.resume = file_; // there is more to do
    const NumberedJob resumed{cells};
    const JobReport later = run_in_epochs(runtime(), resumed.job(many), options);
    EXPECT_EQ(later.resumed_units, report.work_units);
    EXPECT_GT(later.work_units, 0);
    EXPECT_EQ(resumed.result(), resumed.expected({0, done}));
    options.time_limit = EpochOptions::Seconds(1e-9); // one epoch, in any case
    const NumberedJob shortest{cells};
    options.resume.clear();
    EXPECT_GT(run_in_epochs(runtime(), shortest.job(many), options).work_units, 0);
    options.least_units = 100'000; // also behind the limit
    const NumberedJob least{cells};
    EXPECT_GE(run_in_epochs(runtime(), least.job(many), options).work_units, 100'000);
    options.time_limit = EpochOptions::Seconds(1000);
    const NumberedJob whole{cells};
    EXPECT_EQ(run_in_epochs(runtime(), whole.job(units), options).work_units, units);
}

TEST_P(Epochs, AddToWhatWasThere) {
    const NumberedJob numbered{cells};
    std::ranges::fill(numbered.sums.fill(), 1000);
    static_cast<void>(run_in_epochs(runtime(), numbered.job(units), random_epochs()));
    auto expected = numbered.expected({0, units});
    for (std::uint64_t cell = 0; cell < cells; ++cell) expected[cell] += 1000;
    EXPECT_EQ(numbered.result(), expected);
}

TEST_P(Epochs, AreResumedWhereverTheyWereStopped) {
    const NumberedJob first{cells};
    std::ranges::fill(first.sums.fill(), 1000);
    stop_after(random_() % (units / 2), first.job(units), file_);
    const NumberedJob second{cells}; // another process, on other devices
    Runtime other({.devices = GetParam() == std::string("cpu") ? device_list(two_private_cpus) : "cpu"});
    EpochOptions options = random_epochs();
    options.resume = file_;
    const JobReport report = run_in_epochs(other, second.job(units), options);
    auto expected = second.expected({0, units});
    for (std::uint64_t cell = 0; cell < cells; ++cell) expected[cell] += 1000;
    EXPECT_EQ(second.result(), expected);
    EXPECT_GT(report.resumed_units, 0);
    EXPECT_EQ(report.work_units + report.resumed_units, units);
}

TEST_P(Epochs, ThatWereCompleteAreResumedAtOnce) {
    const NumberedJob first{cells};
    EpochOptions options = random_epochs();
    options.checkpoint = file_;
    static_cast<void>(run_in_epochs(runtime(), first.job(units), options));
    const NumberedJob second{cells};
    EpochOptions resumed = random_epochs();
    resumed.resume = file_;
    resumed.cut = [](std::uint64_t) -> std::uint64_t { throw Error{ErrorKind::internal, "nothing is left"}; };
    const JobReport report = run_in_epochs(runtime(), second.job(units), resumed);
    EXPECT_EQ(second.result(), second.expected({0, units}));
    EXPECT_EQ(report.resumed_units, units);
    EXPECT_EQ(report.work_units, 0);
    EXPECT_NE(report.json().find("\"resumed_units\": " + std::to_string(units)), std::string::npos);
}

TEST_P(Epochs, BeginAnewWithoutTheCheckpointIfItMayBeMissing) {
    const NumberedJob numbered{cells};
    EpochOptions options = random_epochs();
    options.resume = file_;
    EXPECT_THROW(static_cast<void>(run_in_epochs(runtime(), numbered.job(units), options)), Error);
    options.resume_may_be_missing = true;
    EXPECT_EQ(run_in_epochs(runtime(), numbered.job(units), options).resumed_units, 0);
    EXPECT_EQ(numbered.result(), numbered.expected({0, units}));
}

class EpochsOnProcessors : public Epochs {};
INSTANTIATE_TEST_SUITE_P(On, EpochsOnProcessors, testing::Values("cpu", two_private_cpus), by_list);

TEST_P(EpochsOnProcessors, RoundExactSumsOnce) {
    const Domain<std::uint64_t> words("words", {units});
    for (std::uint64_t& word : words.fill()) word = random_();
    struct Sums {
        Domain<ExactSum<double>> full{"full", {cells}};
        Domain<ExactSum<float>> floats{"floats", {cells}};
        Domain<ExactSum<double, ValueTable::DeclaredRange>> declared{"declared", {cells}};
        [[nodiscard]] Job job(const Domain<std::uint64_t>& of) const {
            return Job("exact", units)
                .reads(of)
                .accumulates(full, floats, declared)
                .kernel([=, *this](Task& task) {
                    return AddExactly{task.read(of), task.sum(full), task.sum(floats), task.sum(declared)};
                });
        }
    };
    const Sums once, in_epochs, resumed;
    runtime().submit(once.job(words));
    static_cast<void>(run_in_epochs(runtime(), in_epochs.job(words), random_epochs()));
    stop_after(random_() % (units / 2), Sums().job(words), file_);
    EpochOptions options = random_epochs();
    options.resume = file_;
    static_cast<void>(run_in_epochs(runtime(), resumed.job(words), options));
    for (const Sums* const other : {&in_epochs, &resumed}) {
        EXPECT_EQ(bytes_of(once.full), bytes_of(other->full));
        EXPECT_EQ(bytes_of(once.floats), bytes_of(other->floats));
        EXPECT_EQ(bytes_of(once.declared), bytes_of(other->declared));
    }
}

TEST_P(EpochsOnProcessors, KeepRecordsScatteredElementsReductionsAndRows) {
    const Domain<std::uint64_t> words("words", {units});
    for (std::uint64_t& word : words.fill()) word = random_() | 1; // not 0: that would be least
    const Domain<std::uint32_t> to("to", {units});
    std::iota(to.fill().begin(), to.fill().end(), 0);
    std::ranges::shuffle(to.fill(), random_);
    struct Results {
        Domain<Record> records{"records", {6 * units}};
        Domain<std::uint64_t> least{"least", {cells}}, scattered{"scattered", {units}},
            halves{"rows", {units, 2}};
    };
    const auto jobs_of = [&](const Results& results) {
        std::map<std::string, Job> jobs;
        jobs.emplace("append",
                     Job("append", units).reads(words).appends(results.records).kernel([=](Task& task) {
                         return AppendSome{task.read(words), task.append(results.records)};
                     }));
        jobs.emplace("least",
                     Job("least", units).reads(words).reduces<Min>(results.least).kernel([=](Task& task) {
                         return ReduceInto<Min>{task.read(words), task.reduce<Min>(results.least)};
                     }));
        jobs.emplace("scatter",
                     Job("scatter", units).reads(to).scatters(results.scattered).kernel([=](Task& task) {
                         return Permute{task.read(to), task.scatter(results.scattered), 1000};
                     }));
        jobs.emplace("rows", Job("rows", 2 * units).writes(rows(results.halves)).kernel([=](Task& task) {
            return HalfRows{task.write(results.halves)};
        }));
        return jobs;
    };
    const auto records_of = [](const Results& results) {
        const auto sorted = results.records.sorted_by(
            [](const Record& record) { return std::pair(record.unit, record.number); });
        return std::vector<Record>(sorted.begin(), sorted.end());
    };
    const Results once, in_epochs, begun, resumed;
    for (const auto& [name, job] : jobs_of(once)) runtime().submit(job);
    for (const auto& [name, job] : jobs_of(in_epochs))
        static_cast<void>(run_in_epochs(runtime(), job, random_epochs()));
    for (const auto& [name, job] : jobs_of(begun))
        stop_after(random_() % (units / 2), job, folder_.path() / name);
    for (const auto& [name, job] : jobs_of(resumed)) {
        EpochOptions options = random_epochs();
        options.resume = folder_.path() / name;
        static_cast<void>(run_in_epochs(runtime(), job, options));
    }
    for (const Results* const other : {&in_epochs, &resumed}) {
        EXPECT_EQ(records_of(once), records_of(*other));
        EXPECT_EQ(bytes_of(once.least), bytes_of(other->least));
        EXPECT_EQ(bytes_of(once.scattered), bytes_of(other->scattered));
        EXPECT_EQ(bytes_of(once.halves), bytes_of(other->halves));
    }
}

TEST_P(EpochsOnProcessors, GoOnWhenACheckpointCannotBeWritten) {
    const LogLines errors(LogLevel::error);
    const NumberedJob numbered{cells};
    EpochOptions options = random_epochs();
    options.checkpoint = folder_.path() / "missing" / "file";
    options.checkpoint_every = at_each_commit;
    static_cast<void>(run_in_epochs(runtime(), numbered.job(units), options));
    EXPECT_EQ(numbered.result(), numbered.expected({0, units}));
    ASSERT_FALSE(errors.lines().empty());
    EXPECT_NE(errors.lines()[0].find("the checkpoint cannot be written: No such file or directory"),
              std::string::npos)
        << errors.lines()[0];
}

TEST_P(EpochsOnProcessors, DoNotStopSilentlyWithoutTheirCheckpoint) {
    const LogLines errors(LogLevel::error);
    const NumberedJob numbered{cells};
    EpochOptions options = random_epochs();
    options.checkpoint = folder_.path() / "missing" / "file";
    std::uint64_t done = 0;
    options.on_progress = [&](std::uint64_t now) { done = now; };
    options.stops = [&] { return done > 0; };
    try {
        static_cast<void>(run_in_epochs(runtime(), numbered.job(units), options));
        ADD_FAILURE() << "it was not stopped";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
    }
    EXPECT_TRUE(errors.lines().empty()); // it is said once
}

TEST_P(EpochsOnProcessors, SayWhatIsStoredWhenTheyStop) {
    const NumberedJob numbered{cells};
    EpochOptions options = random_epochs();
    options.checkpoint = file_;
    options.cut = [](std::uint64_t) { return 100; };
    std::uint64_t done = 0, stored = 0;
    options.on_progress = [&](std::uint64_t now) { done = now; };
    options.on_checkpoint = [&](std::uint64_t index) { stored = index; };
    options.stops = [&] { return done >= 300; };
    try {
        static_cast<void>(run_in_epochs(runtime(), numbered.job(units), options));
        ADD_FAILURE() << "it was not stopped";
    } catch (const Error& error) {
        EXPECT_EQ(error.message(), "300 of " + std::to_string(units) +
                                       " work units are done, and are stored in " + file_.string());
    }
    EXPECT_EQ(stored, 300);
}

TEST_P(EpochsOnProcessors, ThatFailLeaveWhatIsCommitted) {
    const LogLines errors(LogLevel::error);
    const NumberedJob first{cells};
    EpochOptions options = random_epochs();
    options.checkpoint = file_;
    options.cut = [](std::uint64_t) { return 1000; };
    std::atomic<bool> fails = false;
    options.on_progress = [&](std::uint64_t now) { fails = now >= 5000; };
    Job failing = first.job(units);
    failing.on_tasks(
        [&](const TaskStatistics&) {
            if (fails) throw Error{ErrorKind::kernel, "it fails"};
        },
        {});
    EXPECT_THROW(static_cast<void>(run_in_epochs(runtime(), failing, options)), Error);
    const NumberedJob second{cells};
    EpochOptions resumed = random_epochs();
    resumed.resume = file_;
    EXPECT_EQ(run_in_epochs(runtime(), second.job(units), resumed).resumed_units, 5000);
    EXPECT_EQ(second.result(), second.expected({0, units}));
}

TEST_P(EpochsOnProcessors, OfAJobForSomeUnitsAreThese) {
    const NumberedJob numbered{cells};
    const IndexRange some{1'234, units - 5};
    stop_after(500, numbered.job(units).only_units(some), file_);
    const NumberedJob second{cells};
    EpochOptions options = random_epochs();
    options.resume = file_;
    static_cast<void>(run_in_epochs(runtime(), second.job(units).only_units(some), options));
    EXPECT_EQ(second.result(), second.expected(some));
    EXPECT_THROW(static_cast<void>(run_in_epochs(runtime(), second.job(units), options)), Error);
}

// Several ranks in this process.

struct OnRanks {
    int ranks;
    cluster::SimulatedNetwork network{ranks,
                                      {.seed = fresh_seed(), .most_delay = std::chrono::microseconds(300)}};

    void run(const std::function<void(int, Runtime&)>& program) {
        const auto outcomes = on_ranks(ranks, network, program);
        for (std::size_t rank = 0; rank < outcomes.size(); ++rank)
            EXPECT_FALSE(outcomes[rank].error) << "rank " << rank << ": " << outcomes[rank].error->what();
    }
};

EpochOptions options_of_ranks(const std::filesystem::path& file) {
    EpochOptions options;
    options.identity = "program: a test";
    options.checkpoint = file;
    options.cut = [random = std::mt19937_64(fresh_seed())](std::uint64_t) mutable {
        return random() % 8'000 + 1;
    };
    return options;
}

TEST(EpochsOfRanks, EndTogetherWhenTheTimeOfTheFirstIsUp) {
    std::mutex mutex;
    std::vector<std::uint64_t> ends;
    OnRanks{3}.run([&](int rank, Runtime& runtime) {
        const NumberedJob numbered{cells};
        EpochOptions options{.identity = "a test", .epoch = EpochOptions::Seconds(0.05)};
        options.time_limit = EpochOptions::Seconds(rank == 0 ? 0.3 : 1e-9); // rank 0 has the clock
        std::uint64_t done = 0, commits = 0;
        options.on_commit = [&](std::uint64_t now) {
            done = now;
            ++commits;
        };
        static_cast<void>(run_in_epochs(runtime, numbered.job(std::uint64_t{1} << 40), options));
        EXPECT_EQ(numbered.result(), numbered.expected({0, done}));
        EXPECT_GT(commits, 1);
        const std::scoped_lock lock(mutex);
        ends.push_back(done);
    });
    ASSERT_EQ(ends.size(), 3);
    EXPECT_EQ(ends[1], ends[0]);
    EXPECT_EQ(ends[2], ends[0]);
}

TEST(EpochsOfRanks, AreStoppedByAnyRankAndResumedByAnotherNumberOfThem) {
    const ScratchFolder folder;
    const std::filesystem::path file = folder.path() / "run.checkpoint";
    EpochOptions options = options_of_ranks(file);
    int seen = 0;
    std::mutex mutex;
    OnRanks{3}.run([&](int rank, Runtime& runtime) {
        const NumberedJob numbered{cells};
        EpochOptions mine = options;
        std::uint64_t done = 0;
        mine.on_progress = [&](std::uint64_t now) { done = now; };
        if (rank == 2) mine.stops = [&] { return done > 0; };
        try {
            static_cast<void>(run_in_epochs(runtime, numbered.job(units), mine));
            ADD_FAILURE() << "rank " << rank << " was not stopped";
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::cancelled) << error.what();
        }
        const std::scoped_lock lock(mutex);
        ++seen;
    });
    EXPECT_EQ(seen, 3);
    options = options_of_ranks({});
    options.resume = file;
    for (const int ranks : {2, 1}) {
        OnRanks{ranks}.run([&](int rank, Runtime& runtime) {
            const NumberedJob numbered{cells};
            const JobReport report = run_in_epochs(runtime, numbered.job(units), options);
            EXPECT_EQ(numbered.result(), numbered.expected({0, units})) << "rank " << rank;
            EXPECT_GT(report.resumed_units, 0);
        });
    }
}

TEST(EpochsOfRanks, AllLearnWhyACheckpointIsRefused) {
    const ScratchFolder folder;
    EpochOptions options = options_of_ranks({});
    options.resume = folder.write("run.checkpoint", "no checkpoint");
    OnRanks{2}.run([&](int rank, Runtime& runtime) {
        const NumberedJob numbered{cells};
        try {
            static_cast<void>(run_in_epochs(runtime, numbered.job(units), options));
            ADD_FAILURE() << "rank " << rank << " has accepted it";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("is no checkpoint of Headrace"), std::string::npos);
        }
    });
}

TEST(EpochsOfRanks, OfOtherUnitsAreNoSharedJob) {
    const LogLines errors(LogLevel::error);
    OnRanks ranks{2};
    const auto outcomes = on_ranks(2, ranks.network, [&](int rank, Runtime& runtime) {
        const NumberedJob numbered{cells};
        // So many that rank 0 hears of rank 1's before it is done with its own.
        constexpr std::uint64_t many = 20'000'000;
        const IndexRange some = rank == 0 ? IndexRange{100, many} : IndexRange{200, many + 100};
        runtime.submit(numbered.job(2 * many).only_units(some)).wait();
    });
    ASSERT_TRUE(outcomes[0].error);
    EXPECT_NE(std::string(outcomes[0].error->what()).find("'numbered from unit 200'"), std::string::npos)
        << outcomes[0].error->what();
}

TEST(EpochsOfRanks, OfAJobThatEachDoesWhollyHaveItsResult) {
    OnRanks{2}.run([&](int rank, Runtime& runtime) {
        const NumberedJob numbered{cells};
        const Job job = numbered.job(units).only_on({runtime.devices()[0]->id});
        static_cast<void>(run_in_epochs(runtime, job, options_of_ranks({})));
        EXPECT_EQ(numbered.result(), numbered.expected({0, units})) << "rank " << rank;
    });
}

} // namespace
} // namespace headrace::test
