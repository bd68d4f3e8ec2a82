// tests/domains/calibrations_test.cpp - measurements on disk: what is taken, what is used, what a bad file
// does.
#include <headrace/core/log.hpp>
#include <headrace/domains/calibrations.hpp>
#include <headrace/internal/core/coexecution_sets.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace headrace {
namespace {

class CalibrationsOnDisk : public testing::Test {
protected:
    CalibrationsOnDisk() {
        gpu_.name = "gpu";
        gpu_.driver = "1.0";
        gpu_.peak_gflops = 1000;
        gpu_.kind = DeviceKind::gpu;
        cpu_.name = "cpu";
        cpu_.kind = DeviceKind::cpu;
        cpu_.compute_units = 16;
        cpu_.peak_gflops = 10;
        sink_ = set_log_sink([this](LogLevel, std::string_view line) { log_.append(line).append("\n"); });
    }
    ~CalibrationsOnDisk() override {
        set_log_sink(sink_);
        std::filesystem::remove_all(folder_);
    }

    [[nodiscard]] Calibrations open(const std::string& machine = "this one") const {
        return Calibrations(file_, machine);
    }
    void write(const std::string& text) const {
        std::filesystem::create_directories(file_.parent_path());
        std::ofstream(file_) << text;
    }

    const std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                          ("calibrations" + std::to_string(::getpid()) +
                                           testing::UnitTest::GetInstance()->current_test_info()->name());
    const std::filesystem::path file_ = folder_ / "deep" / "calibrations.json";
    const KernelKey kernel_{.kernel = "k", .work_units = 1000, .bytes = 4096};
    DeviceInfo gpu_, cpu_;
    std::string log_;
    LogSink sink_;
};

TEST_F(CalibrationsOnDisk, AreThereForTheNextProcess) {
    {
        Calibrations first(file_, "this one");
        EXPECT_FALSE(first.estimate(gpu_, kernel_).units_per_second);
        first.measured(gpu_, kernel_, 100);
        first.took(std::array<const DeviceInfo*, 1>{&gpu_}, kernel_, 2.5);
        EXPECT_EQ(first.estimate(gpu_, kernel_).units_per_second, 100);
    }
    const Calibrations next(file_, "this one");
    EXPECT_EQ(next.estimate(gpu_, kernel_).units_per_second, 100);
    EXPECT_EQ(next.estimate(gpu_, kernel_).peak, 1000);
    EXPECT_EQ(next.whole_jobs(std::array<const DeviceInfo*, 1>{&gpu_}, kernel_)->seconds, 2.5);
    EXPECT_FALSE(next.estimate(cpu_, kernel_).units_per_second) << "another device";
    KernelKey other = kernel_;
    other.kernel = "l";
    EXPECT_FALSE(next.estimate(gpu_, other).units_per_second) << "another kernel";
    DeviceInfo updated = gpu_;
    updated.driver = "2.0";
    EXPECT_FALSE(next.estimate(updated, kernel_).units_per_second) << "another driver";
    ASSERT_EQ(next.entries().size(), 2u);
    EXPECT_LT(next.entries()[0].age(), std::chrono::minutes(1));
}

TEST_F(CalibrationsOnDisk, OfWholeJobsAreApartBySetsOfDevices) {
    using Set = std::vector<const DeviceInfo*>;
    {
        Calibrations first(file_, "this one");
        first.took(Set{&cpu_, &gpu_}, kernel_, 3);
        first.took(Set{&gpu_, &cpu_}, kernel_, 5); // the same
        first.took(Set{&gpu_, &gpu_}, kernel_, 7);
    }
    const Calibrations next(file_, "this one");
    EXPECT_EQ(next.whole_jobs(Set{&gpu_, &cpu_}, kernel_)->jobs, 2U);
    EXPECT_EQ(next.whole_jobs(Set{&gpu_, &gpu_}, kernel_)->seconds, 7);
    EXPECT_FALSE(next.whole_jobs(Set{&gpu_}, kernel_));
    EXPECT_FALSE(next.estimate(gpu_, kernel_).units_per_second) << "that is another measurement";
}

TEST_F(CalibrationsOnDisk, CountForProblemsOfAboutTheirSize) {
    Calibrations known(file_, "this one");
    known.measured(gpu_, {.kernel = "k", .work_units = 1000, .bytes = 0}, 100);
    known.measured(gpu_, {.kernel = "k", .work_units = 4000, .bytes = 0}, 300);
    const auto estimate = [&](std::uint64_t work_units) {
        return known.estimate(gpu_, {.kernel = "k", .work_units = work_units, .bytes = 0}).units_per_second;
    };
    EXPECT_EQ(estimate(1100), 100);
    EXPECT_EQ(estimate(3000), 300) << "the nearest";
    EXPECT_EQ(estimate(60'000), 300);
    EXPECT_FALSE(estimate(100'000)) << "too far away";
    EXPECT_FALSE(known.whole_jobs(std::array<const DeviceInfo*, 1>{&gpu_},
                                  {.kernel = "k", .work_units = 1001, .bytes = 0}));
}

TEST_F(CalibrationsOnDisk, OfProblemsThatGrowTheLastOnesAreKept) {
    const auto of_size = [](std::uint64_t work_units) {
        return KernelKey{.kernel = "k", .work_units = work_units, .bytes = 0};
    };
    const std::array<const DeviceInfo*, 1> gpu{&gpu_};
    open("another one").took(gpu, of_size(1), 1);
    {
        Calibrations known(file_, "this one");
        known.measured(gpu_, {.kernel = "another", .work_units = 1, .bytes = 0}, 1);
        for (std::uint64_t size = 1; size <= 1000; ++size) known.took(gpu, of_size(size), 1);
        EXPECT_EQ(known.entries().size(), Calibrations::most_of_kernel + 1);
    }
    const Calibrations next(file_, "this one");
    EXPECT_EQ(next.entries().size(), Calibrations::most_of_kernel + 1);
    EXPECT_TRUE(next.whole_jobs(gpu, of_size(1000)));
    EXPECT_TRUE(next.whole_jobs(gpu, of_size(1001 - Calibrations::most_of_kernel)));
    EXPECT_FALSE(next.whole_jobs(gpu, of_size(1000 - Calibrations::most_of_kernel)));
    EXPECT_EQ(open("another one").entries().size(), 1u) << "which has its own";
}

TEST_F(CalibrationsOnDisk, APoisonedMeasurementDoesNotStick) {
    Calibrations known(file_, "this one");
    for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
        known.measured(gpu_, kernel_, bad);
    EXPECT_TRUE(known.entries().empty());
    for (int i = 0; i < 5; ++i) known.measured(gpu_, kernel_, 100);
    known.measured(gpu_, kernel_, 1e9);
    EXPECT_EQ(known.estimate(gpu_, kernel_).units_per_second, 100);
    EXPECT_GT(known.entries()[0].spread(), 1e6);
    // And what was true once is forgotten.
    for (int i = 0; i < 5; ++i) known.measured(gpu_, kernel_, 50);
    EXPECT_EQ(known.estimate(gpu_, kernel_).units_per_second, 50);
    EXPECT_EQ(known.entries()[0].measurements.size(), Calibrations::most_measurements);
}

TEST_F(CalibrationsOnDisk, AreCertainIfSeveralAgree) {
    Calibrations known(file_, "this one");
    const auto certain = [&] { return known.estimate(gpu_, kernel_).certain; };
    EXPECT_FALSE(certain());
    known.measured(gpu_, kernel_, 100);
    known.measured(gpu_, kernel_, 130);
    EXPECT_FALSE(certain()) << "two are not several";
    known.measured(gpu_, kernel_, 90);
    EXPECT_TRUE(certain());
    EXPECT_TRUE(
        known
            .estimate(gpu_, {.kernel = "k", .work_units = kernel_.work_units / 2 + 1, .bytes = kernel_.bytes})
            .certain);
    EXPECT_FALSE(
        known.estimate(gpu_, {.kernel = "k", .work_units = kernel_.work_units * 3, .bytes = kernel_.bytes})
            .certain)
        << "another size";
    known.measured(gpu_, kernel_, 200);
    EXPECT_FALSE(certain()) << "they do not agree";
    known.measured(gpu_, kernel_, 110);
    EXPECT_TRUE(certain()) << "one of five may have gone wrong";
    known.measured(gpu_, kernel_, 200);
    EXPECT_FALSE(certain()) << "two do not";
    Calibrations camps("", "this one");
    for (const double one : {100, 100, 199, 199}) camps.measured(gpu_, kernel_, one);
    EXPECT_FALSE(camps.estimate(gpu_, kernel_).certain) << "two and two do not";
}

TEST_F(CalibrationsOnDisk, OfTwoTheMedianIsBetweenThem) {
    Calibrations known(file_, "this one");
    known.measured(gpu_, kernel_, 100);
    known.measured(gpu_, kernel_, 130);
    EXPECT_EQ(known.estimate(gpu_, kernel_).units_per_second, 115);
}

/// Somebody's clock was.
TEST_F(CalibrationsOnDisk, WhatWasMeasuredInTheFutureIsOfNowOnceItIsMeasuredAgain) {
    open().measured(gpu_, kernel_, 100);
    std::ifstream in(file_);
    auto json = nlohmann::json::parse(in);
    json["entries"][0]["when"] = json["entries"][0]["when"].get<std::int64_t>() + 365 * 24 * 3600;
    std::ofstream(file_) << json;
    for (int i = 0; i < 2; ++i) open().measured(gpu_, kernel_, 100);
    EXPECT_TRUE(open().estimate(gpu_, kernel_).certain);
}

TEST_F(CalibrationsOnDisk, AreNotCertainForever) {
    {
        Calibrations known(file_, "this one");
        for (int i = 0; i < 3; ++i) known.measured(gpu_, kernel_, 100);
        EXPECT_TRUE(known.estimate(gpu_, kernel_).certain);
        known.took(std::array<const DeviceInfo*, 1>{&gpu_}, kernel_, 2);
    }
    std::ifstream in(file_);
    auto json = nlohmann::json::parse(in);
    for (auto& entry : json["entries"]) entry["when"] = entry["when"].get<std::int64_t>() - 8 * 24 * 3600;
    std::ofstream(file_) << json;
    const Estimate estimate = Calibrations(file_, "this one").estimate(gpu_, kernel_);
    EXPECT_EQ(estimate.units_per_second, 100);
    EXPECT_FALSE(estimate.certain) << "more than a week ago";
    EXPECT_EQ(
        Calibrations(file_, "this one").whole_jobs(std::array<const DeviceInfo*, 1>{&gpu_}, kernel_)->jobs,
        0U)
        << "to be tried again";
}

TEST_F(CalibrationsOnDisk, SeveralProcessesAddToOneFile) {
    {
        Calibrations one(file_, "this one"), other(file_, "this one");
        one.measured(gpu_, kernel_, 100);
        other.measured(cpu_, kernel_, 1);
    }
    EXPECT_EQ(open().entries().size(), 2u);
}

TEST_F(CalibrationsOnDisk, WhatIsAddedAtOneTimeIsThereAfterwards) {
    constexpr int processes = 4, each = 25;
    std::filesystem::create_directories(file_.parent_path());
    const auto add = [this](int process) {
        for (int i = 0; i < each; ++i)
            open().measured(gpu_, {.kernel = fmt::format("{} {}", process, i), .work_units = 1, .bytes = 0},
                            1);
    };
    std::vector<pid_t> children;
    for (int process = 0; process < processes; ++process) {
        children.push_back(::fork());
        ASSERT_GE(children.back(), 0);
        if (children.back() != 0) continue;
        try {
            add(process);
        } catch (...) {
            ::_exit(1);
        }
        ::_exit(0);
    }
    std::vector<std::jthread> threads; // as runtimes of one process are
    for (int thread = 0; thread < processes; ++thread)
        threads.emplace_back([&add, thread] { add(processes + thread); });
    threads.clear();
    for (const pid_t child : children) {
        int status = -1;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(open().entries().size(), std::size_t{2 * processes * each});
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file_.parent_path()), {}), 2)
        << "the file and its lock: no draft is left";
}

TEST_F(CalibrationsOnDisk, WhatIsNoFileIsLeftAlone) {
    std::filesystem::create_directories(file_);
    {
        Calibrations known(file_, "this one");
        EXPECT_NE(log_.find("it is no file"), std::string::npos) << log_;
        known.measured(gpu_, kernel_, 3);
        EXPECT_EQ(known.estimate(gpu_, kernel_).units_per_second, 3);
    }
    EXPECT_TRUE(std::filesystem::is_directory(file_));
    EXPECT_TRUE(std::filesystem::is_empty(file_));
}

TEST_F(CalibrationsOnDisk, WhatMayNotBeReadIsLeftAlone) {
    const std::string text = R"({"version": 2, "entries": []})";
    write(text);
    std::filesystem::permissions(file_, std::filesystem::perms::none);
    for (const auto& folder : {folder_, file_.parent_path()})
        std::filesystem::permissions(folder, std::filesystem::perms{0755});
    const uid_t user = ::geteuid();
    if (user == 0 && ::seteuid(65534) != 0) GTEST_SKIP() << "root may read everything";
    open().measured(gpu_, kernel_, 3);
    ASSERT_EQ(::seteuid(user), 0);
    EXPECT_NE(log_.find("is not used"), std::string::npos) << log_;
    std::filesystem::permissions(file_, std::filesystem::perms::owner_read);
    std::stringstream left;
    left << std::ifstream(file_).rdbuf();
    EXPECT_EQ(left.str(), text);
}

TEST_F(CalibrationsOnDisk, HalfOfAProcessorIsAnotherDevice) {
    const auto with_cores = [this](unsigned cores) {
        DeviceInfo part = cpu_;
        part.compute_units = cores;
        return part;
    };
    for (const unsigned threads : {2u, 4u, 6u, 12u, 16u, 24u, 64u, 128u}) {
        SCOPED_TRACE(threads);
        Calibrations known("", "this one", threads);
        known.measured(with_cores(threads), kernel_, 100);
        EXPECT_TRUE(known.estimate(with_cores(threads - threads / 4), kernel_).units_per_second)
            << "some are left to the program";
        const DeviceInfo half = with_cores(threads / 2);
        EXPECT_FALSE(known.estimate(half, kernel_).units_per_second);
        const DeviceInfo whole = with_cores(threads);
        known.took(std::array<const DeviceInfo*, 2>{&gpu_, &whole}, kernel_, 1);
        EXPECT_FALSE(known.whole_jobs(std::array<const DeviceInfo*, 2>{&gpu_, &half}, kernel_));
    }
}

TEST_F(CalibrationsOnDisk, OfMeasuredProcessorsAShareOfTheThreadsIsKnown) {
    Calibrations known("", "this one", 32);
    cpu_.compute_units = 16; // two threads each
    known.measured(cpu_, kernel_, 100);
    EXPECT_EQ(known.entries().front().device, "cpu / 2");
}

TEST_F(CalibrationsOnDisk, AnUnreadableFileIsKeptAsideAndSaid) {
    for (const std::string text :
         {"", "nonsense", "{}", R"({"version": 99, "entries": []})", R"({"version": 2, "entries": 3})",
          R"({"version": 2, "entries": [{"machine": 3}]})"}) {
        log_.clear();
        write(text);
        {
            Calibrations anew(file_, "this one");
            EXPECT_NE(log_.find("cannot be read"), std::string::npos) << text;
            EXPECT_NE(log_.find(file_.string()), std::string::npos) << "names the file";
            EXPECT_TRUE(std::filesystem::exists(file_)) << "nothing is to be written yet";
            anew.measured(gpu_, kernel_, 7);
        }
        EXPECT_EQ(open().estimate(gpu_, kernel_).units_per_second, 7) << text;
        std::stringstream aside;
        aside << std::ifstream(file_.string() + ".unreadable").rdbuf();
        EXPECT_EQ(aside.str(), text);
        std::filesystem::remove(file_);
    }
}

TEST_F(CalibrationsOnDisk, WhatIsNoWholeNumberMakesTheFileUnreadable) {
    const auto file_with = [](const std::string& units, const std::string& when) {
        return fmt::format(
            R"({{"version": 2, "entries": [{{"machine": "this one", "device": "gpu", "driver": "1.0",
            "kernel": "k", "work_units": {}, "bytes": 4096, "units_per_second": [5], "when": {}}}]}})",
            units, when);
    };
    write(file_with("1000", "18446744073709551615")); // in the future, as far as can be
    EXPECT_EQ(open().estimate(gpu_, kernel_).units_per_second, 5);
    EXPECT_EQ(log_, "");
    for (const std::string wrong : {"1e300", "-1", "1000.5", "true", "\"1000\"", "null"})
        for (const bool is_when : {false, true}) {
            log_.clear();
            write(is_when ? file_with("1000", wrong) : file_with(wrong, "5"));
            EXPECT_FALSE(open().estimate(gpu_, kernel_).units_per_second) << wrong;
            EXPECT_NE(log_.find("cannot be read"), std::string::npos) << wrong << ": " << log_;
        }
}

TEST_F(CalibrationsOnDisk, TheMedianOfHugeOnesIsFinite) {
    Calibrations known(file_, "this one");
    known.measured(gpu_, kernel_, 1e308);
    known.measured(gpu_, kernel_, 1.5e308);
    EXPECT_EQ(known.estimate(gpu_, kernel_).units_per_second, 1.25e308);
}

TEST_F(CalibrationsOnDisk, NumbersThatAreNoneAreLeftOut) {
    write(R"({"version": 2, "entries": [{"machine": "this one", "device": "gpu", "driver": "1.0",
              "kernel": "k", "work_units": 1000, "bytes": 4096, "when": 0,
              "units_per_second": [-5, 0, 42]}]})");
    EXPECT_EQ(open().estimate(gpu_, kernel_).units_per_second, 42);
}

TEST_F(CalibrationsOnDisk, NamesInNoEncodingStopNobody) {
    const KernelKey latin{.kernel = "Gr\xf6\xdf"
                                    "e",
                          .work_units = 1000,
                          .bytes = 4096};
    {
        Calibrations ours(file_, "this one");
        ours.measured(gpu_, latin, 7);
        ours.measured(gpu_, kernel_, 42);
    }
    EXPECT_EQ(open().estimate(gpu_, kernel_).units_per_second, 42);
}

TEST_F(CalibrationsOnDisk, ThoseOfAnotherMachineAreKeptAndNotUsed) {
    Calibrations(file_, "the other one").measured(gpu_, kernel_, 100);
    {
        Calibrations ours(file_, "this one");
        EXPECT_NE(log_.find("another machine (the other one)"), std::string::npos) << log_;
        EXPECT_FALSE(ours.estimate(gpu_, kernel_).units_per_second);
        ours.measured(gpu_, kernel_, 1);
    }
    EXPECT_EQ(open("the other one").estimate(gpu_, kernel_).units_per_second, 100);
    EXPECT_EQ(open().estimate(gpu_, kernel_).units_per_second, 1);
}

TEST_F(CalibrationsOnDisk, WhereNothingCanBeWrittenNothingIsLost) {
    {
        Calibrations nowhere("/proc/no/such/calibrations.json", "this one");
        nowhere.measured(gpu_, kernel_, 3);
        EXPECT_EQ(nowhere.estimate(gpu_, kernel_).units_per_second, 3);
    }
    EXPECT_NE(log_.find("cannot be written"), std::string::npos);
    Calibrations unnamed("", "this one");
    unnamed.measured(gpu_, kernel_, 3);
    unnamed.save();
}

/// As many jobs as are kept are enough for a verdict: a count that grows no more must not give chances.
TEST(Calibrations, KeepAsManyJobsAsSetsHaveChances) {
    const std::vector<Estimate> devices(2, Estimate{.peak = 1, .units_per_second = 1e3});
    const auto choose = [&](std::size_t jobs) {
        return choose_coexecution_set(devices, 1000,
                                      [&](const CoexecutionSet& set) -> std::optional<WholeJobs> {
                                          if (set.size() == 2) return WholeJobs{1.1, jobs, 1.1, 1e6};
                                          return WholeJobs{1, 3};
                                      });
    };
    EXPECT_EQ(choose(Calibrations::most_measurements - 1).size(), 2U);
    EXPECT_EQ(choose(Calibrations::most_measurements).size(), 1U);
}

} // namespace
} // namespace headrace
