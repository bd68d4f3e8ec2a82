// domains/execution/device_worker.hpp - one device at work: asks jobs for ranges and keeps a window of tasks
// in flight. Private to domains/.
#pragma once
#include "execution/doorbell.hpp"
#include <headrace/core/controller.hpp>
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/job_execution.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace headrace {

/// The thread that feeds one device. While a task runs, the next one's inputs move: each place in the window
/// has a stream and engines of its own, so nothing of one task stands behind the other in a driver's queue.
/// Small tasks of a job go to a launch that runs, where the device can be fed. When other devices have
/// nothing to do, a launch is asked to park, where it hears that, and gives them some of what it has not
/// begun.
///
/// Threads   the public calls from any; everything else on the worker's own
class HEADRACE_EXPORT DeviceWorker {
public:
    /// What a worker asks of its runtime.
    class HEADRACE_EXPORT Colleagues {
    public:
        /// The jobs that have not ended, oldest first.
        [[nodiscard]] virtual std::vector<std::shared_ptr<JobExecution>> unfinished() const = 0;
        /// Those of them that have started.
        [[nodiscard]] virtual std::vector<std::shared_ptr<JobExecution>> running() const = 0;
        /// The same, in the order in which devices ask them.
        [[nodiscard]] virtual std::vector<std::shared_ptr<JobExecution>> by_turn() const = 0;
        /// There may be work again for other devices.
        virtual void wake_all() = 0;

    protected:
        ~Colleagues() = default;
    };

    DeviceWorker(std::size_t number, std::unique_ptr<Device> device, ControllerOptions options,
                 unsigned window, Colleagues& colleagues);
    ~DeviceWorker();
    /// After every job has ended, and before the first worker goes: they wake each other.
    void stop();

    [[nodiscard]] Device& device() const noexcept { return *device_; }
    [[nodiscard]] Controller& controller() noexcept { return *controller_; }
    /// Null while the device can be relied upon.
    [[nodiscard]] ErrorPtr retired() const;
    /// Something may have changed: a new job, ranges returned, a task's event.
    void wake() { bell_->ring(); }

private:
    using Clock = std::chrono::steady_clock;
    struct Held {
        Portion portion; ///< may have lost its end to others since the task began
        std::unique_ptr<Task> task;
        Promise done{};         ///< what other requests on the task's tiles wait for
        Event ready{};          ///< when it may be fed
        std::uint64_t upto = 0; ///< seeds that the launch was fed with it and those before
    };
    struct Place;
    using Step = void (DeviceWorker::*)(Place&); ///< of a task, that takes memory
    struct Inputs {
        std::vector<TileUse> uses;
        std::vector<Event> replicas; ///< that have their first contents
    };

    void run(const std::stop_token& stop);
    void add_place();
    [[nodiscard]] std::size_t tasks_at_work() const;
    void make_up_for_tasks_that_let_others_in();
    void start_a_task(Place& place);
    void start(Place& place, const std::shared_ptr<JobExecution>& job, const Portion& portion);
    void prepare_for(Place& place, const std::shared_ptr<JobExecution>& job, const Portion& first) const;
    [[nodiscard]] Held hold(const JobExecution& job, const Portion& portion) const;
    void note(const std::shared_ptr<DomainData>& domain);
    [[nodiscard]] Inputs bind(Place& place, Held& held);
    [[nodiscard]] Event submit(Place& place, Held& held, const Inputs& inputs,
                               const std::function<Event(std::span<const Event>)>& start);
    void begin(Place& place);
    [[nodiscard]] Event call_host_function(Place& place, std::span<const Event> ready);
    void check(Place& place);
    void settle(Place& place);
    void go_on(Place& place);
    void fail(Place& place, ErrorPtr error);
    void end_launches(const ErrorPtr& error);
    void retire(const ErrorPtr& error);
    void put_engine_aside(Place& place);
    void tell_of_idleness();
    [[nodiscard]] std::optional<Clock::time_point> steps_in() const;
    [[nodiscard]] std::optional<Clock::time_point> looks_again() const;
    void tell_of_idleness(bool idle);
    void tell_hook(const TaskHook& hook, const std::vector<Portion>& portions,
                   const TaskFigures& figures) const;
    void tell_of_launch(const Place& place, const Held& held, std::vector<Event> inputs);
    void watch(Place& place);
    void stay_awake_for(Clock::duration time);
    void stay_awake();

    // The device is full: device_room.cpp.
    void with_room(Place& place, Step step);
    [[nodiscard]] Event make_room(const Place& place, const Error& lack);
    [[nodiscard]] bool makes_do_with_less(Place& place);
    [[nodiscard]] bool halve(Place& place);
    [[nodiscard]] bool goes_elsewhere(Place& place);
    [[nodiscard]] bool is_short_of_room() const;

    // Small tasks go to a launch that runs: device_feeding.cpp.
    [[nodiscard]] Event open(Place& place, std::span<const Event> ready);
    void expect(Place& place, const JobExecution& job, const Portion& first) const;
    [[nodiscard]] bool hold_more(Place& place, std::uint64_t tasks);
    static void learn_length(Place& place, std::size_t ended);
    [[nodiscard]] static bool is_for_feeding(const Place& place, const Portion& portion);
    [[nodiscard]] std::uint64_t most_at_once(const Place& place) const;
    void feed(Place& place);
    void keep_fed(Place& place);
    void make_way(Place& place);

    // A launch parks; what it has not begun may go to others: device_pauses.cpp.
    void ask_to_pause(Place& place);
    void tell_of_pause(Place& place);
    void resume(Place& place);
    [[nodiscard]] std::chrono::nanoseconds launch_time(const JobExecution& job) const;
    [[nodiscard]] bool has_work_of_another(const JobExecution& job) const;
    [[nodiscard]] bool has_no_place_for_next() const;
    [[nodiscard]] bool another_is_more_urgent(const Place& place) const;
    [[nodiscard]] bool give_up_seeds(Place& place);
    void share_work(Place& place);
    [[nodiscard]] bool would_be_taken(const Place& place, std::uint64_t claimed, Clock::duration after) const;
    [[nodiscard]] bool give_seeds(Place& place, Clock::duration busy);
    [[nodiscard]] bool give_units(Place& place, Clock::duration busy);

    const std::size_t number_;
    std::unique_ptr<Device> device_;
    std::unique_ptr<Controller> controller_;
    const std::size_t window_;
    std::vector<std::unique_ptr<Place>> places_;     ///< more than the window, while tasks wait for jobs
    std::vector<std::weak_ptr<DomainData>> domains_; ///< that may have a replica here
    Colleagues& colleagues_;
    bool told_idle_ = false; ///< jobs
    Clock::time_point awake_until_;
    mutable std::mutex mutex_;
    ErrorPtr retired_;
    std::shared_ptr<Doorbell> bell_ =
        std::make_shared<Doorbell>(); ///< an event's late continuation may outlive us
    std::jthread thread_;
};

} // namespace headrace
