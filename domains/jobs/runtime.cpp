// domains/jobs/runtime.cpp - see runtime.hpp.
#include "cluster/host_share.hpp"
#include "cluster/ranks_below.hpp"
#include "jobs/continuations.hpp"
#include "jobs/job_order.hpp"
#include "jobs/job_planner.hpp"
#include "jobs/running_jobs.hpp"
#include <headrace/core/log.hpp>
#include <headrace/domains/calibrations.hpp>
#include <headrace/domains/runtime.hpp>
#include <headrace/internal/core/turns.hpp>
#include <headrace/internal/devices/serial_executor.hpp>
#include <headrace/internal/domains/cluster/current_node.hpp>
#include <headrace/internal/domains/cluster/shared_job.hpp>
#include <headrace/internal/domains/device_worker.hpp>
#include <headrace/internal/domains/watchdog.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace headrace {

class Runtime::Impl final : public JobSource {
public:
    Impl(DeviceSelection selection, RuntimeOptions options)
        : options_(std::move(options)),
          left_out_(std::make_shared<std::vector<LeftOut>>(std::move(selection.left_out))) {
        if (selection.devices.empty()) throw Error{ErrorKind::invalid_argument, "a runtime needs a device"};
        for (std::size_t i = 0; i < selection.devices.size(); ++i)
            take_on(std::move(selection.devices[i]), selection.controllers.at(i), selection.named);
        if (workers_.empty()) throw Error{ErrorKind::device, "no device starts: " + reasons(*left_out_)};
        check_powers(options_.powers, devices(), *left_out_);
        planner_ = std::make_unique<JobPlanner>(options_, workers_, left_out_);
        if (node_) planner_->take_ranks_below(std::make_unique<cluster::RanksBelow>(node_, devices()));
        if (options_.patience > options_.patience.zero())
            watchdog_.emplace(
                options_.patience, [this] { return unfinished(); }, options_.on_hang);
    }

    ~Impl() {
        const auto going = std::make_shared<const Error>(ErrorKind::cancelled, "the runtime is going away");
        {
            const std::scoped_lock lock(mutex_);
            is_going_ = true; // functions that run when jobs end may submit others
        }
        for (const auto& job : unfinished()) job->stop(going);
        wake_all();
        std::unique_lock lock(mutex_);
        nobody_is_left_.wait(lock, [this] { return jobs_.empty() && starting_ == 0; });
        lock.unlock();
        continuations_->close(); // waits for running functions
        for (const auto& worker : workers_) worker->stop();
    }

    [[nodiscard]] const ProcessMark& process() const noexcept { return process_; }

    JobHandle submit(const Job& job) {
        process_.check("a Runtime");
        TaskScope::check_may_submit();
        const auto shared = node_ && cluster::is_shared_by_ranks(job)
                                ? std::make_shared<cluster::SharedJob>(node_, node_->next_job())
                                : nullptr;
        const auto execution = planner_->plan(job, observer_, continuations_, shared);
        {
            const std::scoped_lock lock(mutex_);
            if (is_going_) throw Error{ErrorKind::cancelled, "the runtime is going away"}.in_job(job.name());
            jobs_.emplace(execution->scheduling().number, execution);
        }
        std::vector<Predecessor> before = enter(job, execution->node(), shared != nullptr);
        for (std::size_t i = 0; i < workers_.size(); ++i) // one that retired before it could see this job
            if (const ErrorPtr retired = workers_[i]->retired()) execution->retire(i, retired, {});
        execution->event().then([this, job = execution.get()](const ErrorPtr&) { ended(*job); });
        if (shared) shared->begin(execution);
        when_ended(std::move(before), [this, execution](const ErrorPtr& error) {
            // An ended job may have ended with this runtime: the destructor waits only for held jobs.
            if (execution->hold_for_start()) start_in_turn(execution, error);
        });
        return JobHandle(execution);
    }

    [[nodiscard]] std::vector<const DeviceInfo*> devices() const {
        std::vector<const DeviceInfo*> infos;
        for (const auto& worker : workers_) infos.push_back(&worker->device().info());
        return infos;
    }
    [[nodiscard]] std::shared_ptr<void> allocate_host(Bytes size) const {
        const auto gpu = std::ranges::find_if(workers_, [](const auto& worker) {
            return !worker->device().info().shares_host_memory && !worker->retired();
        });
        return (gpu == workers_.end() ? workers_.front() : *gpu)->device().allocate_host(size);
    }
    [[nodiscard]] const std::vector<LeftOut>& left_out() const noexcept { return *left_out_; }

private:
    /// A device that does not start is left out, unless the user selected it by name.
    void take_on(std::unique_ptr<Device> device, const ControllerOptions& how,
                 const std::vector<std::string>& named) {
        const DeviceInfo info = device->info();
        try {
            workers_.push_back(std::make_unique<DeviceWorker>(workers_.size(), std::move(device), how,
                                                              options_.window, *this));
        } catch (const Error& error) {
            if (std::ranges::find(named, info.id) != named.end()) throw;
            log_warning(fmt::format("{} is left out: {}", info.id, error.what()));
            left_out_->push_back({info.id, info.name, error.what()});
        }
    }

    /// All predecessors of the job have ended. The job is held for its start.
    void start_in_turn(const std::shared_ptr<JobExecution>& job, const ErrorPtr& predecessor_failed) {
        job->node()->forget_past();
        if (predecessor_failed) {
            job->stop(predecessor_failed);
            if (node_) return join_for_others(job);
            return job->release();
        }
        bool runs = false;
        {
            const std::scoped_lock lock(mutex_);
            runs = running_.begin(job);
            starting_ += runs ? 1 : 0;
        }
        if (runs) return start(job);
        job->release(); // a stopped job need not wait for its turn; it and this runtime may end here
    }

    /// The job does not start on this rank. On others it may, and their joins wait for this one.
    void join_for_others(const std::shared_ptr<JobExecution>& job) {
        auto joined = to_be_joined(*job);
        if (joined.empty()) return job->release();
        {
            const std::scoped_lock lock(mutex_);
            ++starting_;
        }
        start_beside([this, job, joined = std::move(joined)] {
            for (const Job::Use* const use : joined) {
                try {
                    join(*job, {use});
                } catch (const Error&) { // readers of the domain get it
                }
            }
            job->release();
            const std::scoped_lock lock(mutex_);
            --starting_;
            nobody_is_left_.notify_all();
        });
    }

    /// Starts a job that runs from now on; starting_ includes it.
    void start(const std::shared_ptr<JobExecution>& job) {
        JobExecution& execution = *job;
        {
            const std::scoped_lock lock(mutex_);
            // Device time that others of its priority had before does not count.
            double least = std::numeric_limits<double>::infinity();
            for (const auto& other : running_.all())
                if (other != job && other->job().priority() == execution.job().priority())
                    least = std::min(least, other->forecast().charged_seconds());
            if (std::isfinite(least)) execution.charge_at_least(least);
            // Their times now depend on each other, and are no measurements of the jobs.
            for (const auto& other : running_.all()) {
                if (other == job || other->event().done()) continue;
                other->disturb();
                execution.disturb();
            }
        }
        // Private replicas are joined before another use of their domain. That blocks. If an event called
        // this function, the join would wait for events, and their continuations wait for this one: so
        // another thread runs it.
        std::vector<const Job::Use*> joined = to_be_joined(execution);
        if (joined.empty()) return begin(execution);
        start_beside([this, job, joined = std::move(joined)] {
            try {
                join(*job, joined);
            } catch (...) {
                job->stop(current_error(ErrorKind::internal));
            }
            begin(*job);
        });
    }

    /// Uses of domains that earlier jobs have left apart.
    [[nodiscard]] static std::vector<const Job::Use*> to_be_joined(const JobExecution& execution) {
        std::vector<const Job::Use*> joined;
        for (const Job::Use& use : execution.job().uses())
            if (use.slice.data->needs_join(use.joining, execution.scheduling().shared != nullptr))
                joined.push_back(&use);
        return joined;
    }
    static void join(const JobExecution& execution, const std::vector<const Job::Use*>& joined) {
        for (const Job::Use* const use : joined)
            use->slice.data->join_before(use->joining, execution.scheduling().shared != nullptr);
    }

    /// On one thread for all jobs; or on a thread for each, since the joins of a cluster wait for other
    /// ranks, which may start their jobs in another order.
    void start_beside(std::function<void()> call) {
        if (!node_) {
            starter_.post(std::move(call));
            return;
        }
        const std::scoped_lock lock(mutex_);
        std::erase_if(joins_, [](const Join& join) { return join.has_ended->load(); });
        Join join{std::make_shared<std::atomic<bool>>(false), {}};
        join.thread = std::jthread([call = std::move(call), has_ended = join.has_ended] {
            call();
            *has_ended = true;
        });
        joins_.push_back(std::move(join));
    }

    void begin(JobExecution& execution) {
        execution.start();
        // Devices that begin with it are woken first: a wake-up may take as long as the begin of a task.
        std::vector<DeviceWorker*> others;
        for (std::size_t i = 0; i < workers_.size(); ++i)
            if (execution.forecast().wants(i))
                workers_[i]->wake();
            else
                others.push_back(workers_[i].get());
        for (DeviceWorker* const worker : others) worker->wake();
        const std::scoped_lock lock(mutex_);
        --starting_;
        nobody_is_left_.notify_all(); // under the lock, as in ended()
    }

    void ended(JobExecution& execution) {
        std::vector<std::shared_ptr<JobExecution>> next;
        std::shared_ptr<JobExecution> last; // it may be destroyed with this runtime: not under the lock
        {
            const std::scoped_lock lock(mutex_);
            next = running_.end(execution);
            starting_ += next.size();
            if (const auto mine = jobs_.find(execution.scheduling().number); mine != jobs_.end()) {
                last = std::move(mine->second);
                jobs_.erase(mine);
            }
            // Under the lock: when it is released, the destructor may return and this runtime is gone.
            nobody_is_left_.notify_all();
            for (const auto& worker : workers_) worker->wake();
        }
        for (const auto& job : next) start(job);
    }

    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> unfinished() const override {
        const std::scoped_lock lock(mutex_);
        std::vector<std::shared_ptr<JobExecution>> jobs;
        jobs.reserve(jobs_.size());
        for (const auto& [number, job] : jobs_) jobs.push_back(job);
        return jobs;
    }

    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> running() const override {
        const std::scoped_lock lock(mutex_);
        return running_.all();
    }

    /// The highest priority first; of equal priority, jobs that have had the least device time.
    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> by_turn() const override {
        auto jobs = running();
        if (jobs.size() < 2) return jobs;
        std::vector<Turn> turns;
        for (const auto& job : jobs)
            turns.push_back({job->job().priority(), job->forecast().charged_seconds()});
        std::vector<std::shared_ptr<JobExecution>> ordered;
        for (const std::size_t i : order_of_turns(turns)) ordered.push_back(jobs[i]);
        return ordered;
    }

    void wake_all() override {
        for (const auto& worker : workers_) worker->wake();
    }

    const ProcessMark process_;
    const std::shared_ptr<cluster::Node> node_ = cluster::current_node(); ///< null: there is one process
    const RuntimeOptions options_;
    const std::shared_ptr<const JobObserver> observer_ = std::make_shared<const JobObserver>(
        [this] { wake_all(); },
        [this](const Job& job, const JobOutcome& outcome) { planner_->learn(job, outcome); },
        options_.policy);
    const std::shared_ptr<std::vector<LeftOut>> left_out_; ///< complete when the runtime has started
    mutable std::mutex mutex_;
    std::size_t starting_ = 0; ///< jobs, in start()
    bool is_going_ = false;
    std::condition_variable nobody_is_left_;
    std::map<std::uint64_t, std::shared_ptr<JobExecution>> jobs_; // not ended, in the order of submission
    RunningJobs running_;                                         // a part of these
    SerialExecutor starter_{SerialExecutor::Kind::may_call_drivers};
    struct Join {
        std::shared_ptr<std::atomic<bool>> has_ended;
        std::jthread thread;
    };
    std::vector<Join> joins_; ///< of the ranks of a cluster
    std::shared_ptr<Continuations> continuations_ = std::make_shared<Continuations>();
    std::unique_ptr<JobPlanner> planner_;                // made when the workers are
    std::vector<std::unique_ptr<DeviceWorker>> workers_; // after the rest: their threads use it
    std::optional<Watchdog> watchdog_;                   // its thread uses the rest too
};

namespace {
std::vector<ControllerOptions> with(MemoryModel memory, std::vector<ControllerOptions> controllers) {
    for (ControllerOptions& controller : controllers) {
        controller.private_copies |= memory == MemoryModel::buffers;
        controller.host_in_place = memory == MemoryModel::unified;
    }
    return controllers;
}

/// Checks only the name: a model that keeps measurements reads them in its constructor.
void check_model(std::string_view name) {
    if (name != "calibrated" && name != "online" && name != "peak")
        throw Error{ErrorKind::not_found, "there is no performance model '" + std::string(name) +
                                              "'; there is calibrated, online, peak"};
}

RuntimeOptions checked(RuntimeOptions options) {
    static_cast<void>(make_policy(options.policy)); // before devices are opened
    check_model(options.model);
    for (const auto& [device, power] : options.powers)
        if (!(power > 0) || !std::isfinite(power))
            throw Error{ErrorKind::invalid_argument, "the power of '" + device + "' is to be above zero"};
    return options;
}
} // namespace

std::unique_ptr<PerformanceModel> make_model(std::string_view name) {
    check_model(name);
    if (name == "calibrated") return std::make_unique<Calibrations>();
    return std::make_unique<PerformanceModel>();
}

Runtime::Runtime(RuntimeOptions options) {
    options = checked(std::move(options));
    DeviceSelection selection = select_devices(options.devices);
    selection.controllers = with(options.memory, std::move(selection.controllers));
    if (const auto node = cluster::current_node())
        cluster::keep_share_of_gpus(cluster::PlaceOnHost::of(*node), options.devices, selection);
    impl_ = std::make_unique<Impl>(std::move(selection), std::move(options));
}

Runtime::Runtime(std::vector<std::unique_ptr<Device>> devices, RuntimeOptions options) {
    options = checked(std::move(options));
    DeviceSelection selection;
    selection.controllers = with(options.memory, std::vector<ControllerOptions>(devices.size()));
    selection.devices = std::move(devices);
    impl_ = std::make_unique<Impl>(std::move(selection), std::move(options));
}

Runtime::~Runtime() {
    // In a forked child there are no threads to end, and mutexes may be locked.
    if (!impl_->process().is_of_this_process()) static_cast<void>(impl_.release());
}

JobHandle Runtime::submit(const Job& job) { return impl_->submit(job); }
std::vector<const DeviceInfo*> Runtime::devices() const { return impl_->devices(); }
std::shared_ptr<void> Runtime::allocate_host(Bytes size) const { return impl_->allocate_host(size); }
const std::vector<LeftOut>& Runtime::left_out() const noexcept { return impl_->left_out(); }

} // namespace headrace
