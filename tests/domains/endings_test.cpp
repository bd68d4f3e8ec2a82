// tests/domains/endings_test.cpp - what must not be pulled from under whoever still uses it: data under jobs,
// runtimes under jobs that begin, jobs under devices that go; and users' code that throws.
#include "two_devices.hpp"

#include <core/eventually.hpp>
#include <core/fake_device.hpp>
#include <core/flag.hpp>
#include <core/log_lines.hpp>
#include <core/waiting_call.hpp>
#include <headrace/headrace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace headrace {
namespace {

using namespace std::chrono_literals;
using test::FakeDevice;
using test::FakeOptions;
using test::FakeRequest;
using test::LogLines;

using Numbers = Domain<std::uint64_t>;

std::unique_ptr<Runtime> runtime_of(std::vector<FakeDevice*>& devices,
                                    const std::string& policy = "dynamic:8") {
    std::vector<std::unique_ptr<Device>> owned;
    for (const char* id : {"fake:0", "fake:1"}) {
        auto device = std::make_unique<FakeDevice>(FakeOptions{.id = id});
        devices.push_back(device.get());
        owned.push_back(std::move(device));
    }
    return std::make_unique<Runtime>(std::move(owned), RuntimeOptions{.policy = policy, .model = "peak"});
}

class Endings : public ::testing::Test {
protected:
    test::Flag may_go_on_;
    std::vector<FakeDevice*> devices_;
    std::unique_ptr<Runtime> runtime_ = runtime_of(devices_);

    /// Its tasks wait until they may go on.
    Job held(Job job, std::function<void(Task&)> work) {
        job.host_function("fake", [this, work = std::move(work)](Task& task, const NativeStream&) {
            may_go_on_.wait();
            work(task);
        });
        return job;
    }
    Job held_sum(const Numbers& sums) {
        return held(std::move(Job("sum", 64).accumulates(sums)), [sums](Task& task) {
            const auto view = task.sum(sums);
            for (auto i = task.range().begin; i < task.range().end; ++i) view.add(0, i);
        });
    }
    /// Expects that `call` waits until they may go on, and lets them.
    void expect_it_waits(const std::function<void()>& call) {
        test::WaitingCall waiting(call);
        EXPECT_TRUE(waiting.waits());
        may_go_on_.raise();
        waiting.join();
    }
};
constexpr std::uint64_t sum_of_64 = 63 * 64 / 2;

TEST_F(Endings, WhoGathersWaitsForTheJobsThatWrite) {
    const Numbers sums("sums", {1}), x("x", {64});
    const JobHandle adds = runtime_->submit(held_sum(sums));
    const JobHandle writes =
        runtime_->submit(held(std::move(Job("write", 64).writes(rows(x))), [x](Task& task) {
            const auto view = task.write(x);
            for (auto i = task.range().begin; i < task.range().end; ++i) view[i] = i;
        }));
    expect_it_waits([&] { EXPECT_EQ(sums.gather()[0], sum_of_64); });
    EXPECT_TRUE(adds.done());
    EXPECT_EQ(x.gather()[63], 63U);
    EXPECT_TRUE(writes.done());
}

TEST_F(Endings, WhoFillsWaitsForThoseThatReadToo) {
    const Numbers x("x", {64});
    std::ranges::fill(x.fill(), 1U);
    std::atomic<std::uint64_t> seen = 0;
    const JobHandle reads = runtime_->submit(held(std::move(Job("read", 64).reads(rows(x))), [&](Task& task) {
        const auto view = task.read(x);
        for (auto i = task.range().begin; i < task.range().end; ++i) seen += view[i];
    }));
    EXPECT_EQ(x.gather()[0], 1U) << "which does not wait for readers";
    expect_it_waits([&] { std::ranges::fill(x.fill(), 2U); });
    EXPECT_TRUE(reads.done());
    EXPECT_EQ(seen, 64U);
}

TEST_F(Endings, AnOrderThatNobodyAskedForPassesNoFailureOn) {
    const LogLines warnings(LogLevel::warning);
    const Numbers sums("sums", {1});
    sums.fill()[0] = 1;
    const JobHandle reads = runtime_->submit(held(std::move(Job("read", 64).reads(sums)), [](Task&) {}));
    const JobHandle adds = runtime_->submit(held_sum(sums));
    reads.cancel();
    may_go_on_.raise();
    EXPECT_THROW(reads.wait(), Error);
    EXPECT_NO_THROW(adds.wait());
    EXPECT_EQ(sums.gather()[0], 1 + sum_of_64);
}

TEST_F(Endings, ARuntimeTakesItsOwnSumsWithItAndNoOthers) {
    const Numbers sums("sums", {1});
    std::vector<FakeDevice*> devices;
    auto other = runtime_of(devices);
    other
        ->submit(std::move(Job("add", 8).accumulates(sums).host_function(
            "fake", [sums](Task& task, const NativeStream&) { task.sum(sums).add(0, task.range().size()); })))
        .wait();
    const JobHandle adds = runtime_->submit(held_sum(sums));
    ASSERT_TRUE(test::eventually([&] {
        return devices_[0]->requests(FakeRequest::launch) + devices_[1]->requests(FakeRequest::launch) > 0;
    }));
    other.reset();
    may_go_on_.raise();
    adds.wait();
    EXPECT_EQ(sums.gather()[0], 8 + sum_of_64);
}

TEST_F(Endings, SumsThatWereLostAreForgottenWhenTheDataAreFilled) {
    const Numbers sums("sums", {1});
    may_go_on_.raise();
    runtime_->submit(held_sum(sums)).wait();
    for (FakeDevice* device : devices_) device->fail_next(FakeRequest::launch);
    const Numbers other("other", {64});
    try { // each device fails with its first task
        runtime_->submit(held(std::move(Job("fails", 64).writes(rows(other))), [](Task&) {})).wait();
    } catch (const Error&) {
    }
    EXPECT_THROW(static_cast<void>(sums.gather()), Error);
    sums.fill()[0] = 7;
    EXPECT_EQ(sums.gather()[0], 7U);
}

/// Its last task waits for the first one's promise, on a stream of the same device, which fails.
TEST_F(Endings, ADeviceThatFailsDoesNotWaitForItself) {
    const LogLines errors(LogLevel::error);
    for (int i = 0; i < 20; ++i) {
        std::vector<FakeDevice*> devices;
        const auto runtime = runtime_of(devices);
        const Numbers x("x", {1});
        x.fill()[0] = 0;
        for (FakeDevice* device : devices) device->fail_next(FakeRequest::launch);
        const JobHandle job = runtime->submit(
            std::move(Job("update", 64).updates(x).host_function("fake", [](Task&, const NativeStream&) {})));
        ASSERT_TRUE(job.wait_for(100s)) << "it waits for ever";
        EXPECT_THROW(job.wait(), Error);
    }
}

TEST_F(Endings, SumsThatCannotBeSavedAreLostWithTheirRuntimeAndNothingElse) {
    const LogLines errors(LogLevel::error);
    const Numbers sums("sums", {1});
    may_go_on_.raise();
    runtime_->submit(held_sum(sums)).wait();
    for (FakeDevice* device : devices_) device->fill_host();
    runtime_.reset();
    EXPECT_FALSE(errors.lines().empty());
    EXPECT_THROW(static_cast<void>(sums.gather()), Error);
    EXPECT_THROW(static_cast<void>(sums.gather()), Error) << "and not of a device that is gone";
}

TEST_F(Endings, OfAChainOfJobsNobodyKeepsThePast) {
    const auto kept = std::make_shared<int>();
    const std::weak_ptr<int> past = kept;
    const auto link = [](std::shared_ptr<int> keeps) {
        return std::move(
            Job("link", 1).host_function("fake", [keeps = std::move(keeps)](Task&, const NativeStream&) {}));
    };
    JobHandle last = runtime_->submit(link(kept));
    for (int i = 0; i < 1000; ++i) last = runtime_->submit(std::move(link(nullptr).after(last)));
    last.wait();
    // Whoever ends a job keeps it for a moment.
    EXPECT_TRUE(test::eventually([&] { return past.use_count() == 1; })) << past.use_count();
}

TEST_F(Endings, NoDeviceKeepsAJobThatHasNoSuccessor) {
    const auto kept = std::make_shared<int>();
    runtime_->submit(Job("only", 1).host_function("fake", [kept](Task&, const NativeStream&) {})).wait();
    EXPECT_TRUE(test::eventually([&] { return kept.use_count() == 1; })) << kept.use_count();
}

/// Jobs of one runtime begin when those of another end, which may be when it goes itself.
TEST_F(Endings, ARuntimeWaitsForJobsThatAreAboutToBegin) {
    for (int i = 0; i < 50; ++i) {
        std::vector<FakeDevice*> devices;
        auto second = runtime_of(devices);
        const Numbers x("x", {64});
        may_go_on_.lower();
        const JobHandle first = runtime_->submit(held(Job("first", 1), [](Task&) {}));
        static_cast<void>(
            second->submit(std::move(Job("second", 64)
                                         .writes(rows(x))
                                         .after(first)
                                         .host_function("fake", [](Task&, const NativeStream&) {}))));
        const auto end = [&] {
            if (i % 2 == 0) first.cancel();
            may_go_on_.raise();
        };
        if (i % 3 == 0) { // `first` ends after the runtime of `second`
            second.reset();
            end();
            continue;
        }
        std::barrier both(2); // and at the same time
        const std::jthread ends([&] {
            both.arrive_and_wait();
            end();
        });
        both.arrive_and_wait();
        second.reset();
    }
}

enum class Throws : std::uint8_t { next, completed, takes_over };

class Thrower final : public Policy {
public:
    explicit Thrower(Throws where) : where_(where) {}
    std::uint64_t next(std::size_t, const Progress& progress) override {
        throw_if(where_ == Throws::next && progress.remaining < progress.total);
        if (where_ == Throws::takes_over && progress.remaining < progress.total) return 0;
        return 1;
    }
    void completed(std::size_t, std::uint64_t, std::chrono::nanoseconds) override {
        throw_if(where_ == Throws::completed);
    }
    bool takes_over(std::size_t, const Progress&) const override {
        throw_if(where_ == Throws::takes_over);
        return true;
    }

private:
    static void throw_if(bool does) {
        if (does) throw std::runtime_error("the user's own words");
    }
    Throws where_;
};

TEST_F(Endings, UsersCodeThatThrowsFailsItsJobAndNothingElse) {
    may_go_on_.raise();
    const auto expect_failure = [&](const Job& job) {
        const JobHandle handle = runtime_->submit(job);
        ASSERT_TRUE(handle.wait_for(100s));
        try {
            handle.wait();
            FAIL() << "no error";
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("the user's own words"), std::string::npos)
                << error.what();
        }
        const Numbers sums("sums", {1});
        runtime_->submit(held_sum(sums)).wait();
        EXPECT_EQ(sums.gather()[0], sum_of_64);
    };
    const auto nothing = [](Task&, const NativeStream&) {};
    for (const Throws where : {Throws::next, Throws::completed, Throws::takes_over})
        expect_failure(std::move(Job("own policy", 64)
                                     .host_function("fake", nothing)
                                     .policy([=] { return std::make_unique<Thrower>(where); }, "thrower")));
    expect_failure(std::move(Job("own division", 64)
                                 .host_function("fake", nothing)
                                 .split_by([](IndexRange left, std::uint64_t wanted) {
                                     // Not when it is submitted: there it would be thrown at the user.
                                     if (left.begin > 0) throw std::runtime_error("the user's own words");
                                     return wanted;
                                 })));
}

TEST(JobEndings, WaitForDevicesThatAreAboutToRetire) {
    test::Two devices;
    const Numbers sums("sums", {1});
    const auto job = devices.run(std::move(Job("sum", 100).accumulates(sums)));
    const auto mine = job->next(4);
    ASSERT_TRUE(mine);
    job->finished(4, {WorkRange(*mine)}, {});
    job->hold_for(4); // and drops its sums
    while (const auto range = job->next(7)) job->finished(7, {WorkRange(*range)}, {});
    EXPECT_FALSE(job->event().done()) << "without what the other one had added";
    job->retire(4, test::lost(), {});
    std::uint64_t again = 0;
    while (const auto range = job->next(7)) {
        again += range->size();
        job->finished(7, {WorkRange(*range)}, {});
    }
    EXPECT_EQ(again, mine->size());
    EXPECT_TRUE(job->event().done());
}

TEST(JobEndings, OfMoreUnitsThanCanBeCountedAreRefused) {
    EXPECT_THROW(Job("large", (std::uint64_t{1} << 63) + 1), Error);
    EXPECT_NO_THROW(Job("large", std::uint64_t{1} << 63));
}

TEST(JobEndings, AHaloOfAllRowsIsAllRows) {
    const Numbers x("x", {64});
    std::ranges::fill(x.fill(), 1U);
    std::vector<FakeDevice*> devices;
    const auto runtime = runtime_of(devices);
    std::atomic<bool> all = true;
    runtime
        ->submit(std::move(Job("read", 64)
                               .reads(rows(x, ~std::uint64_t{0}))
                               .host_function("fake",
                                              [&, x](Task& task, const NativeStream&) {
                                                  std::uint64_t sum = 0;
                                                  for (std::uint64_t i = 0; i < 64; ++i)
                                                      sum += task.read(x)[i];
                                                  if (sum != 64) all = false;
                                              })))
        .wait();
    EXPECT_TRUE(all);
}

} // namespace
} // namespace headrace
