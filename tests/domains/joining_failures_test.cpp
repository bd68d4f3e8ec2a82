// tests/domains/joining_failures_test.cpp - what becomes of reductions, exact sums and records when devices
// are lost or jobs fail, on fake devices.
#include <core/fake_device.hpp>
#include <core/seeds.hpp>
#include <headrace/headrace.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headrace::test {
namespace {

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

// Else the caller may destroy the domain while a request writes to its memory.
TEST(UnfinishedJoinings, AJobThatFailsBeforeItsKernelStartsWaitsForItsReplicas) {
    auto device = std::make_unique<FakeDevice>(
        FakeOptions{.id = "fake:0", .longest_delay = std::chrono::milliseconds(20), .seed = fresh_seed()});
    const FakeDevice& fake = *device;
    std::vector<std::unique_ptr<Device>> devices;
    devices.push_back(std::move(device));
    Runtime runtime(std::move(devices), {});
    const Domain<std::uint64_t> odd("odd", {64}), least("least", {64});
    Job job("job", 2);
    job.reduces<BitXor>(odd).reduces<Min>(least).host_function("fake", [](Task&, const NativeStream&) {});
    job.on_tasks([](const TaskStatistics&) { throw Error{ErrorKind::kernel, "it fails"}; }, {});
    EXPECT_THROW(runtime.submit(job).wait(), Error);
    EXPECT_EQ(fake.requests(FakeRequest::fill), 2u);
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
