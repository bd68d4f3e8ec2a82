// tests/domains/host_memory_test.cpp - a job for which the host has no memory: each allocation of a call
// fails once, and the job ends with the error. A program of its own, since it replaces operator new.
#include <core/fake_device.hpp>
#include <domains/two_devices.hpp>
#include <headrace/internal/domains/device_slots.hpp>
#include <headrace/internal/domains/launch_slot.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace {

thread_local long until_failure = -1; // allocations of this thread; negative: none fails

} // namespace

// Not inlined: compilers warn where they see one half of such a pair and not the other.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (until_failure >= 0 && until_failure-- == 0) throw std::bad_alloc();
    if (void* const memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace headrace::test {
namespace {

/// A report about a launch must not fail: its caller would free what the launch uses.
static_assert(noexcept(std::declval<JobExecution&>().launched(0, std::declval<const WorkRange&>(), 0, 0)));

std::uint64_t everything(IndexRange left, std::uint64_t) { return left.size(); }

/// Two devices whose names take memory of their own.
struct LongNames : Two {
    LongNames() {
        for (DeviceInfo* const one : {&fast, &slow})
            one->id += " that stands in a corner of the machine room";
    }
};

using Ask = std::function<std::optional<WorkRange>(JobExecution&)>;

/// Calls `asks` for a task of device 4, again and again, and lets one allocation more succeed each time,
/// until none fails. A call that fails gives nothing, and the job ends with the error. Returns how many
/// failed.
long ends_whatever_fails(const std::function<std::shared_ptr<JobExecution>(Two&)>& make, const Ask& asks) {
    for (long failures = 0;; ++failures) {
        LongNames two;
        const auto job = make(two);
        until_failure = failures;
        std::optional<WorkRange> work_range;
        EXPECT_NO_THROW(work_range = asks(*job));
        const bool has_failed = std::exchange(until_failure, -1) < 0;
        EXPECT_EQ(work_range.has_value(), !has_failed) << failures;
        if (!has_failed) return failures;
        EXPECT_TRUE(job->stopping()) << failures;
        for (const TaskInFlight& task : job->status().tasks)
            job->abandoned(task.number, task.work_range, nullptr);
        if (!job->event().done()) {
            ADD_FAILURE() << "without allocation " << failures << " the job has no end";
            return failures;
        }
        EXPECT_EQ(job->event().outcome()->kind(), ErrorKind::out_of_memory);
    }
}

TEST(HostMemory, AJobEndsIfThereIsNoneForAGrant) {
    const Domain<float> x("x", {1000});
    const auto make = [&](Two& two) {
        return two.run(Job("j", 1000).writes(part(x, [](IndexRange units) { return units; })));
    };
    // At least: the grant in the schedule, the part, and the entry of the task with the name of its device.
    EXPECT_GE(ends_whatever_fails(make, [](JobExecution& job) { return job.next(4, 1); }), 4);
}

TEST(HostMemory, AJobEndsIfThereIsNoneForTransferredUnits) {
    const auto make = [](Two& two) {
        auto job = two.run(Job("j", 100).split_by(everything).share_units());
        EXPECT_TRUE(job->next(7));
        job->transfers().idle(4, true);
        UnitBatch units(1, 1);
        for (std::uint32_t unit = 0; unit < 30; ++unit) units.add(0, &unit, 1);
        job->transfers().transfer(7, std::move(units));
        return job;
    };
    EXPECT_GE(
        ends_whatever_fails(make, [](JobExecution& job) { return job.transfers().next_transferred(4); }), 3);
}

/// The only job of a device.
class OneJob final : public JobSource {
public:
    std::shared_ptr<JobExecution> job;

    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> unfinished() const override { return {job}; }
    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> running() const override { return {job}; }
    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> by_turn() const override { return {job}; }
    void wake_all() override {}
};

/// Until the slot has the task.
TEST(HostMemory, AJobEndsIfThereIsNoneForATaskOfASlot) {
    const Domain<std::uint64_t> x("x", {1000});
    long allocations = 1; // of what start() does before that
    for (long failures = 0; failures < allocations; ++failures) {
        FakeDevice device;
        Controller controller(device);
        OneJob jobs;
        DeviceSlots slots(0, device, controller, 1, jobs);
        jobs.job = std::make_shared<JobExecution>(
            Job("j", 1000).writes(rows(x)).host_function("fake", [](Task&, const NativeStream&) {}),
            JobExecution::Scheduling{.policy = make_policy("static")},
            std::vector<JobExecution::Participant>{{0, &device.info(), Estimate{}, nullptr}});
        jobs.job->start();
        const WorkRange work_range = jobs.job->next(0, 1).value();
        const auto stream = device.make_stream(Timing::all);
        SlotEngine engine;
        TaskSubmission submission(slots, *stream, engine);
        constexpr long enough = 1000;
        until_failure = enough;
        submission.expect(jobs.job->job());
        engine.serve(jobs.job);
        static_cast<void>(submission.make(work_range));
        allocations = enough - std::exchange(until_failure, -1);
        LaunchSlot& slot = *slots.all().front();
        until_failure = failures;
        EXPECT_NO_THROW(slot.start(jobs.job, work_range, false));
        EXPECT_LT(std::exchange(until_failure, -1), 0);
        EXPECT_TRUE(slot.is_free()) << failures;
        ASSERT_TRUE(jobs.job->event().done()) << "without allocation " << failures << " the job has no end";
        EXPECT_EQ(jobs.job->event().outcome()->kind(), ErrorKind::out_of_memory);
    }
    EXPECT_GE(allocations, 2);
}

} // namespace
} // namespace headrace::test
