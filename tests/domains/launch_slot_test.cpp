// tests/domains/launch_slot_test.cpp - a launch slot by hand, step by step. The device's half of its engine
// is a script of the test. Together the scenarios take every transition in the table of launch_state.hpp.
#include <core/eventually.hpp>
#include <core/fake_device.hpp>
#include <headrace/headrace.hpp>
#include <headrace/internal/domains/device_slots.hpp>
#include <headrace/internal/domains/device_worker.hpp>
#include <headrace/internal/domains/launch_slot.hpp>
#include <headrace/persistent/sync.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bitset>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace headrace::test {
namespace {

/// What the launches of a kernel do. They run on the thread of a fake stream.
struct Script {
    std::function<void(HrControl& control, HrInjection& injection)> launch;
    EngineShape shape = {.lanes = 4, .groups = 1, .least_claim = 1};
};

struct Scripted {
    Script* script;
    HEADRACE_KERNEL void operator()(auto&, std::uint64_t) const {}
};

class ScriptedKernel final : public BoundKernel {
public:
    explicit ScriptedKernel(Script& script) : script_(script) {}
    EngineShape prepare(const NativeStream&, const EngineWishes&) override { return script_.shape; }
    void enqueue(const NativeStream&, const EngineMemory& memory) override {
        script_.launch(memory.image, *memory.injection);
    }
    [[nodiscard]] bool is_same(const BoundKernel& other) const override {
        return &static_cast<const ScriptedKernel&>(other).script_ == &script_;
    }

private:
    Script& script_;
};

/// A launch that does so many seeds, and then ends, or pauses for the reason `pause`.
std::function<void(HrControl&, HrInjection&)> does(std::uint64_t seeds, std::uint32_t pause = HR_RUN) {
    return [=](HrControl& control, HrInjection&) {
        control.seed_cursor.value += seeds;
        control.pending.value -= seeds;
        control.pause = pause;
    };
}

/// A launch that does what is injected, until it is closed or asked to pause.
void does_what_is_injected(HrControl& control, HrInjection& injection) {
    static_cast<void>(eventually([&] {
        const std::uint64_t injected = HostSync::load(injection.injected, HostSync::acquire);
        HostSync::store(injection.consumed, injected & ~HR_INJECTION_CLOSED, HostSync::relaxed);
        HostSync::store(injection.completed, injected & ~HR_INJECTION_CLOSED, HostSync::release);
        const bool is_closed = (injected & HR_INJECTION_CLOSED) != 0;
        if (is_closed) control.poller.open = 0;
        const bool is_asked = HostSync::load(injection.pause, HostSync::relaxed) != 0;
        control.pause = is_asked ? HR_PAUSE_HOST : HR_RUN;
        return is_closed || is_asked;
    }));
}

/// A launch that does all that it gets, in one of the two ways.
void does_all(HrControl& control, HrInjection& injection) {
    if (control.poller.open != 0)
        does_what_is_injected(control, injection);
    else
        does(control.pending.value)(control, injection);
}

} // namespace
} // namespace headrace::test

template <>
headrace::Launcher
headrace::compiled_for<headrace::technology::Cuda,
                       headrace::EngineKernel<headrace::test::Scripted, headrace::Indices>>() {
    return {[](const void* kernel, std::size_t, const void*, std::size_t) -> std::unique_ptr<BoundKernel> {
        return std::make_unique<test::ScriptedKernel>(*static_cast<const test::Scripted*>(kernel)->script);
    }};
}
template <>
headrace::Launcher
headrace::compiled_for<headrace::technology::Cpu,
                       headrace::EngineKernel<headrace::test::Scripted, headrace::Indices>>() {
    return {};
}
template <>
headrace::Launcher
headrace::compiled_for<headrace::technology::Hip,
                       headrace::EngineKernel<headrace::test::Scripted, headrace::Indices>>() {
    return {};
}

namespace headrace::test {
namespace {

using namespace std::chrono_literals;
using Taken = std::bitset<LaunchState::count * LaunchState::count>;
using Numbers = Domain<std::uint64_t>;

template <class From, class To>
constexpr std::size_t transition = LaunchState::number_of<From>() * LaunchState::count
                                   + LaunchState::number_of<To>();
using Free = LaunchState::Free;
using Preparing = LaunchState::Preparing;
using WaitingForMemory = LaunchState::WaitingForMemory;
using Running = LaunchState::Running;
using Injecting = LaunchState::Injecting;
using Paused = LaunchState::Paused;
using Collecting = LaunchState::Collecting;

/// The jobs of one device.
class Jobs final : public JobSource {
public:
    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> unfinished() const override { return all(); }
    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> running() const override { return all(); }
    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> by_turn() const override {
        auto jobs = all();
        std::ranges::stable_sort(jobs, std::greater<>{},
                                 [](const auto& job) { return job->job().priority(); });
        return jobs;
    }
    void wake_all() override {}

    std::shared_ptr<JobExecution> submit(const Job& job, const DeviceInfo& device,
                                         const std::string& policy = "static") {
        const auto execution = std::make_shared<JobExecution>(
            job, JobExecution::Scheduling{make_policy(policy), true},
            std::vector<JobExecution::Participant>{{0, &device, Estimate{}, nullptr}});
        execution->start();
        const std::scoped_lock lock(mutex_);
        jobs_.push_back(execution);
        return execution;
    }

private:
    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> all() const {
        const std::scoped_lock lock(mutex_);
        return jobs_;
    }

    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<JobExecution>> jobs_;
};

FakeOptions scripted_device(FakeOptions options = {}) {
    options.technology = "cuda";
    options.fine_grained_host_coherence = true;
    return options;
}

Job scripted(Script& script, std::uint64_t units) {
    return Job("scripted", units).kernel([&script](Task&) { return Scripted{&script}; });
}

/// A device with one slot, and jobs that only it does.
class Bench {
public:
    explicit Bench(FakeOptions options = {}) : device_(scripted_device(std::move(options))) {}

    std::shared_ptr<JobExecution> submit(const Job& job, const std::string& policy = "static") {
        return jobs_.submit(job, device_.info(), policy);
    }
    Job scripted(std::uint64_t units) { return test::scripted(script, units); }
    void start(const std::shared_ptr<JobExecution>& job) { slot().start(job, job->next(0).value(), false); }
    /// As a device loop does, until the condition holds.
    [[nodiscard]] bool steps_until(const std::function<bool()>& holds) {
        return eventually(
            [&] {
                if (holds()) return true;
                slot().advance();
                slot().tend();
                return false;
            },
            20s);
    }
    [[nodiscard]] bool steps_until_free() {
        return steps_until([this] { return slot().is_free(); });
    }
    /// With all tasks of the job, in as many launches as it takes: a busy machine may need several.
    [[nodiscard]] bool steps_until_done(const std::shared_ptr<JobExecution>& job) {
        return steps_until([&] {
            if (slot().is_free() && !job->event().done())
                if (const auto next = job->next(0)) slot().start(job, *next, false);
            return job->event().done();
        });
    }
    [[nodiscard]] LaunchSlot& slot() { return *slots.all().front(); }
    [[nodiscard]] Taken taken() { return slot().state().taken(); }
    [[nodiscard]] Controller& controller() { return controller_; }

private:
    FakeDevice device_;
    Controller controller_{device_};
    Jobs jobs_;

public:
    Script script;
    DeviceSlots slots{0, device_, controller_, 1, jobs_};
};

ErrorPtr device_error() { return std::make_shared<const Error>(ErrorKind::device, "fell off the bus"); }

Taken a_task_in_one_launch() {
    Bench bench;
    bench.script.launch = does(100);
    const auto job = bench.submit(bench.scripted(100));
    bench.start(job);
    EXPECT_TRUE(bench.slot().state().is<Running>());
    EXPECT_TRUE(bench.steps_until_free());
    EXPECT_TRUE(job->event().done());
    EXPECT_EQ(job->finished_units(), 100U);
    return bench.taken();
}

Taken a_task_that_pauses() {
    Bench bench;
    bench.script.launch = [launch = 0](HrControl& control, HrInjection& injection) mutable {
        does(50, ++launch < 2 ? HR_PAUSE_BUDGET : HR_RUN)(control, injection);
    };
    const auto job = bench.submit(bench.scripted(100));
    bench.start(job);
    EXPECT_TRUE(bench.steps_until_free());
    EXPECT_EQ(job->finished_units(), 100U);
    EXPECT_EQ(job->report().devices.at(0).engine.launches, 2U);
    return bench.taken();
}

/// A job whose first task has shown that its tasks are small.
std::shared_ptr<JobExecution> begin_small_tasks(Bench& bench, const Job& job) {
    bench.script.launch = does(10);
    const auto execution = bench.submit(job, "dynamic:64");
    bench.start(execution);
    EXPECT_TRUE(bench.steps_until_free());
    EXPECT_EQ(execution->finished_units(), 10U);
    return execution;
}

Taken small_tasks_that_are_injected() {
    Bench bench;
    const auto job = begin_small_tasks(bench, bench.scripted(640));
    bench.script.launch = does_all;
    bench.start(job);
    EXPECT_TRUE(bench.slot().is_injecting());
    EXPECT_TRUE(bench.steps_until_done(job));
    EXPECT_TRUE(job->event().done());
    EXPECT_EQ(job->finished_units(), 640U);
    EXPECT_LT(job->report().devices.at(0).engine.launches, 64U);
    return bench.taken();
}

Taken an_injected_launch_that_pauses() {
    Bench bench;
    const auto job = begin_small_tasks(bench, bench.scripted(640));
    bench.script.launch = [launch = 0](HrControl& control, HrInjection& injection) mutable {
        if (++launch == 1)
            control.pause = HR_PAUSE_BUDGET;
        else
            does_all(control, injection);
    };
    bench.start(job);
    EXPECT_TRUE(bench.steps_until_done(job));
    EXPECT_EQ(job->finished_units(), 640U);
    return bench.taken();
}

Taken held_tasks_that_wait_for_their_inputs() {
    Bench bench;
    const Numbers x("x", {640});
    std::ranges::fill(x.fill(), 1U);
    Promise inputs;
    const Tile late = x.data()->storage().tile(30 * sizeof(std::uint64_t), 640 * sizeof(std::uint64_t));
    const std::vector<TileUse> uses = {{late, Access::update}};
    const auto job = begin_small_tasks(bench, bench.scripted(640).reads(rows(x)));
    static_cast<void>(
        bench.controller().submit("late", uses, [&](std::span<const Event>) { return inputs.event(); }));
    bench.script.launch = does_all;
    bench.start(job);
    EXPECT_TRUE(bench.steps_until([&] { return bench.taken().test(transition<Collecting, Injecting>); }));
    EXPECT_LE(job->finished_units(), 30U);
    inputs.complete();
    EXPECT_TRUE(bench.steps_until_done(job));
    EXPECT_EQ(job->finished_units(), 640U);
    return bench.taken();
}

Taken a_task_that_transfers_all() {
    Bench bench;
    bench.script.launch = does(10, HR_PAUSE_BUDGET);
    const auto job = bench.submit(bench.scripted(100));
    bench.start(job);
    const auto urgent = bench.submit(bench.scripted(100).priority(1));
    EXPECT_TRUE(bench.steps_until_free());
    EXPECT_EQ(job->finished_units(), 10U);
    EXPECT_EQ(job->next(0), (IndexRange{10, 100})) << "the rest is the job's again";
    return bench.taken();
}

/// The device is full of `x`, which only it has.
struct FullBench {
    Bench bench;
    Numbers x;

    explicit FullBench(Bytes memory, Bytes of_x)
        : bench({.longest_delay = 40ms, .memory = memory}), x("x", {of_x / sizeof(std::uint64_t)}) {
        const std::vector<TileUse> uses = {{x.data()->storage().tile(0, of_x), Access::write}};
        bench.controller().submit("fill", uses, [&](std::span<const Event>) { return Event{}; }).wait();
    }
};

Taken a_task_that_waits_for_memory() {
    FullBench full(1 << 20, 900'000);
    const Numbers y("y", {100'000});
    full.bench.script.launch = does(100'000);
    const auto job = full.bench.submit(full.bench.scripted(100'000).writes(rows(y)));
    full.bench.start(job);
    EXPECT_TRUE(full.bench.slot().waits_for_memory());
    EXPECT_TRUE(full.bench.steps_until_free());
    EXPECT_EQ(job->finished_units(), 100'000U);
    return full.bench.taken();
}

/// A launch that ran out of bundles, and there is no memory for more.
EngineShape with_queues() {
    return {.lanes = 4, .groups = 1, .kinds = 1, .unit_words = 16, .max_spawns = 2, .liq_units = 4};
}

Taken a_pause_that_waits_for_memory() {
    FullBench full(1 << 20, 700'000);
    Bench& bench = full.bench;
    bench.script.shape = with_queues();
    bench.script.launch = [launch = 0](HrControl& control, HrInjection& injection) mutable {
        does(50, ++launch < 2 ? HR_PAUSE_POOL : HR_RUN)(control, injection);
    };
    // 256 KiB for the first pool, which doubles.
    const auto job = bench.submit(bench.scripted(100).tune({.wishes = {}, .bundles = 1024}));
    bench.start(job);
    EXPECT_TRUE(bench.steps_until([&] { return bench.slot().waits_for_memory(); }));
    EXPECT_TRUE(bench.steps_until_free());
    EXPECT_EQ(job->finished_units(), 100U);
    return bench.taken();
}

Taken a_pause_without_memory() {
    Bench bench({.memory = 400'000});
    bench.script.shape = with_queues();
    bench.script.launch = does(50, HR_PAUSE_POOL);
    const auto job = bench.submit(bench.scripted(100).tune({.wishes = {}, .bundles = 1024}));
    bench.start(job);
    EXPECT_TRUE(bench.steps_until_free());
    EXPECT_EQ(job->event().outcome()->kind(), ErrorKind::out_of_memory);
    return bench.taken();
}

Taken a_hook_that_throws() {
    Bench bench;
    const auto job = bench.submit(bench.scripted(100).on_tasks(
        [](const TaskStatistics&) { throw std::runtime_error("not in the mood"); }, {}));
    bench.start(job);
    EXPECT_TRUE(bench.slot().is_free());
    EXPECT_TRUE(job->event().outcome());
    return bench.taken();
}

Taken a_launch_that_fails() {
    Bench bench;
    bench.script.launch = [](HrControl&, HrInjection&) { throw std::runtime_error("not in the mood"); };
    const auto job = bench.submit(bench.scripted(100));
    bench.start(job);
    EXPECT_TRUE(bench.steps_until_free());
    EXPECT_TRUE(job->event().outcome());
    return bench.taken();
}

Taken a_device_that_is_lost_while_it_is_injected_to() {
    Bench bench;
    const auto job = begin_small_tasks(bench, bench.scripted(640));
    bench.script.launch = does_what_is_injected;
    bench.start(job);
    EXPECT_TRUE(bench.slot().is_injecting());
    bench.slots.retire(device_error());
    EXPECT_TRUE(bench.slot().is_free());
    EXPECT_EQ(job->event().outcome()->kind(), ErrorKind::device) << "no other device is left";
    return bench.taken();
}

Taken a_device_that_is_lost_while_it_is_full() {
    FullBench full(1 << 20, 900'000);
    const Numbers y("y", {100'000});
    const auto job = full.bench.submit(full.bench.scripted(100'000).writes(rows(y)));
    full.bench.start(job);
    EXPECT_TRUE(full.bench.slot().waits_for_memory());
    full.bench.slots.retire(device_error());
    EXPECT_TRUE(full.bench.slot().is_free());
    EXPECT_TRUE(job->event().outcome());
    return full.bench.taken();
}

class LaunchSlotTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (is_checked_mode()) GTEST_SKIP() << "tasks that are checked are launched one by one, and twice";
    }
};
using DeviceWorkerTest = LaunchSlotTest;

TEST_F(LaunchSlotTest, DoesATaskInOneLaunch) { a_task_in_one_launch(); }
TEST_F(LaunchSlotTest, GoesOnAfterAPause) { a_task_that_pauses(); }
TEST_F(LaunchSlotTest, InjectsSmallTasks) { small_tasks_that_are_injected(); }
TEST_F(LaunchSlotTest, InjectsMoreAfterAPause) { an_injected_launch_that_pauses(); }
TEST_F(LaunchSlotTest, OpensAnotherLaunchForTasksThatWaitForInputs) {
    held_tasks_that_wait_for_their_inputs();
}
TEST_F(LaunchSlotTest, GivesUpWhatIsUnbegunToAMoreUrgentJob) { a_task_that_transfers_all(); }
TEST_F(LaunchSlotTest, WaitsForMemory) { a_task_that_waits_for_memory(); }
TEST_F(LaunchSlotTest, WaitsForMemoryForAPausedTask) { a_pause_that_waits_for_memory(); }
TEST_F(LaunchSlotTest, FailsAPausedTaskThatGetsNoMemory) { a_pause_without_memory(); }
TEST_F(LaunchSlotTest, FailsATaskWhoseHookThrows) { a_hook_that_throws(); }
TEST_F(LaunchSlotTest, FailsATaskWhoseLaunchFails) { a_launch_that_fails(); }
TEST_F(LaunchSlotTest, IsFreeWhenItsDeviceIsLostUnderALaunch) {
    a_device_that_is_lost_while_it_is_injected_to();
}
TEST_F(LaunchSlotTest, IsFreeWhenItsDeviceIsLostWhileItIsFull) { a_device_that_is_lost_while_it_is_full(); }

TEST_F(LaunchSlotTest, TakesEveryTransitionOfItsTableAndNoOther) {
    Taken taken;
    for (const auto scenario :
         {a_task_in_one_launch, a_task_that_pauses, small_tasks_that_are_injected,
          an_injected_launch_that_pauses, held_tasks_that_wait_for_their_inputs, a_task_that_transfers_all,
          a_task_that_waits_for_memory, a_pause_that_waits_for_memory, a_pause_without_memory,
          a_hook_that_throws, a_launch_that_fails, a_device_that_is_lost_while_it_is_injected_to,
          a_device_that_is_lost_while_it_is_full})
        taken |= scenario();
    for (std::size_t from = 0; from < LaunchState::count; ++from)
        for (std::size_t to = 0; to < LaunchState::count; ++to)
            EXPECT_EQ(taken.test(from * LaunchState::count + to), LaunchState::may_follow(from, to))
                << "from state " << from << " to state " << to;
}

TEST(LaunchStateDeathTest, AnotherTransitionAborts) {
    LaunchState state;
    EXPECT_DEATH(state.enter(Running{}), "may_follow");
    state.enter(Preparing{});
    state.enter(Injecting{});
    EXPECT_DEATH(state.enter(Collecting{}), "may_follow");
}

TEST_F(DeviceWorkerTest, DoesTheJobsOfItsSource) {
    Jobs jobs;
    Script script;
    script.launch = does_all;
    DeviceWorker worker(0, std::make_unique<FakeDevice>(scripted_device()), {}, 2, jobs);
    const auto small = jobs.submit(scripted(script, 6400), worker.device().info(), "dynamic:640");
    const auto large = jobs.submit(scripted(script, 100), worker.device().info());
    worker.wake();
    EXPECT_TRUE(small->event().wait_for(20s) && large->event().wait_for(20s));
    EXPECT_EQ(small->finished_units(), 6400U);
    EXPECT_EQ(large->finished_units(), 100U);
    worker.stop();
}

TEST_F(DeviceWorkerTest, LetsAMoreUrgentJobComeBetween) {
    Jobs jobs;
    std::atomic<bool> may_end = false;
    Script script, urgent;
    urgent.launch = does(100);
    script.launch = [&](HrControl& control,
                        HrInjection& injection) { // pauses before its last seed, until it may end
        const bool ends = may_end;
        const std::uint64_t left = control.pending.value;
        does(ends ? left : left > 1 ? 1 : 0, ends ? HR_RUN : HR_PAUSE_BUDGET)(control, injection);
    };
    DeviceWorker worker(0, std::make_unique<FakeDevice>(scripted_device()), {}, 1, jobs);
    const auto first = jobs.submit(scripted(script, 100'000), worker.device().info());
    worker.wake();
    const auto second = jobs.submit(scripted(urgent, 100).priority(1), worker.device().info());
    worker.wake();
    EXPECT_TRUE(second->event().wait_for(20s));
    EXPECT_FALSE(first->event().done());
    may_end = true;
    EXPECT_TRUE(first->event().wait_for(20s));
    EXPECT_EQ(first->finished_units(), 100'000U);
    worker.stop();
}

TEST_F(DeviceWorkerTest, TakesNoTaskAfterItsDeviceIsLost) {
    Jobs jobs;
    Script script;
    script.launch = [](HrControl&, HrInjection&) { throw Error(*device_error()); };
    DeviceWorker worker(0, std::make_unique<FakeDevice>(scripted_device()), {}, 2, jobs);
    const auto first = jobs.submit(scripted(script, 100), worker.device().info());
    worker.wake();
    EXPECT_TRUE(first->event().wait_for(20s));
    EXPECT_EQ(first->event().outcome()->kind(), ErrorKind::device);
    EXPECT_TRUE(worker.retired());
    worker.stop();
}

} // namespace
} // namespace headrace::test
