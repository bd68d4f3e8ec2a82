// domains/runtime.cpp - see runtime.hpp.
#include <headrace/core/log.hpp>
#include <headrace/domains/device_worker.hpp>
#include <headrace/domains/runtime.hpp>
#include <headrace/domains/watchdog.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace headrace {
namespace {

bool conflict(const Job& one, const Job& other, std::string& domain) {
    for (const Job::Use& a : one.uses())
        for (const Job::Use& b : other.uses()) {
            if (a.slice.data != b.slice.data) continue;
            if (a.access == b.access && (a.access == Access::read || a.access == Access::accumulate))
                continue;
            domain = a.slice.data->name();
            return true;
        }
    return false;
}

/// Why this device cannot run the job; empty: it can.
std::string obstacle(const Job& job, const DeviceInfo& device) {
    if (!job.variant(device.technology)) return "the job has no kernel for " + device.technology;
    Bytes total = 0;
    for (const Job::Use& use : job.uses()) {
        const Bytes size = use.slice.data->storage().bytes();
        total += size;
        if (device.largest_allocation != 0 && size > device.largest_allocation)
            return "domain '" + use.slice.data->name() + "' needs " + std::to_string(size) +
                   " bytes at once, the device allocates at most " +
                   std::to_string(device.largest_allocation);
    }
    if (device.memory != 0 && total > device.memory)
        return "the job's domains need " + std::to_string(total) + " bytes, the device has " +
               std::to_string(device.memory);
    return {};
}

} // namespace

class Runtime::Impl final : public DeviceWorker::Colleagues {
public:
    Impl(DeviceSelection selection, RuntimeOptions options)
        : options_(std::move(options)), left_out_(std::move(selection.left_out)) {
        for (std::size_t i = 0; i < selection.devices.size(); ++i)
            workers_.push_back(std::make_unique<DeviceWorker>(
                i, std::move(selection.devices[i]), selection.controllers.at(i), options_.window, *this));
        if (options_.patience > options_.patience.zero())
            watchdog_.emplace(
                options_.patience, [this] { return unfinished(); }, options_.on_hang);
    }

    ~Impl() {
        for (const auto& job : unfinished())
            job->stop(std::make_shared<const Error>(ErrorKind::cancelled, "the runtime is going away"));
        wake_all();
        std::unique_lock lock(mutex_);
        job_ended_.wait(lock, [this] { return jobs_.empty(); });
    }

    JobHandle submit(const Job& job) {
        auto execution = make_execution(job);
        std::vector<Event> predecessors;
        for (const JobHandle& predecessor : job.predecessors()) predecessors.push_back(predecessor.event());
        for (const auto& other : unfinished()) {
            std::string domain;
            if (!conflict(job, other->job(), domain)) continue;
            if (job.is_in_order())
                predecessors.push_back(other->event());
            else if (std::ranges::none_of(job.predecessors(),
                                          [&](const JobHandle& known) { return known.execution() == other; }))
                log_warning("jobs '" + other->job().name() + "' and '" + job.name() + "' both use domain '" +
                            domain + "' and one of them writes it: order them with after() or in_order()");
        }
        {
            const std::scoped_lock lock(mutex_);
            jobs_.push_back(execution);
        }
        execution->event().then([this, job = execution.get()](const ErrorPtr&) { ended(*job); });
        Event::all(predecessors).then([this, execution](const ErrorPtr& error) { start(*execution, error); });
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
    [[nodiscard]] const std::vector<LeftOut>& left_out() const noexcept { return left_out_; }

private:
    std::shared_ptr<JobExecution> make_execution(const Job& job) {
        std::vector<JobExecution::Participant> participants;
        std::vector<LeftOut> left_out = left_out_;
        std::string reasons;
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            const DeviceInfo& info = workers_[i]->device().info();
            std::string why = obstacle(job, info);
            if (const ErrorPtr retired = workers_[i]->retired()) why = retired->what();
            if (why.empty()) {
                participants.push_back({i, &info});
                continue;
            }
            reasons += (reasons.empty() ? "" : "; ") + info.id + ": " + why;
            left_out.push_back({info.id, info.name, why});
        }
        if (participants.empty())
            throw Error{ErrorKind::unsupported, "no device can run this job (" + reasons + ")"}.in_job(
                job.name());
        return std::make_shared<JobExecution>(job, make_policy(options_.policy), options_.policy,
                                              std::move(participants), std::move(left_out));
    }

    void start(JobExecution& execution, const ErrorPtr& predecessor_failed) {
        ErrorPtr error = predecessor_failed;
        if (!error) try {
                // Sums become plain data before anything reads or overwrites them.
                for (const Job::Use& use : execution.job().uses())
                    if (use.access != Access::accumulate) use.slice.data->reduce();
            } catch (...) {
                error = current_error(ErrorKind::internal);
            }
        if (error) execution.stop(error);
        execution.start();
        wake_all();
    }

    void ended(const JobExecution& execution) {
        for (const Job::Use& use : execution.job().uses())
            if (use.access == Access::accumulate) use.slice.data->seal();
        {
            const std::scoped_lock lock(mutex_);
            std::erase_if(jobs_, [&](const auto& job) { return job.get() == &execution; });
            // Under the lock: the destructor may return, and we are gone, as soon as it is released.
            job_ended_.notify_all();
            for (const auto& worker : workers_) worker->wake();
        }
    }

    [[nodiscard]] std::vector<std::shared_ptr<JobExecution>> unfinished() const override {
        const std::scoped_lock lock(mutex_);
        return jobs_;
    }

    void wake_all() override {
        for (const auto& worker : workers_) worker->wake();
    }

    const RuntimeOptions options_;
    const std::vector<LeftOut> left_out_;
    mutable std::mutex mutex_;
    std::condition_variable job_ended_;
    std::vector<std::shared_ptr<JobExecution>> jobs_;    // not ended, in the order of submission
    std::vector<std::unique_ptr<DeviceWorker>> workers_; // after the rest: their threads use it
    std::optional<Watchdog> watchdog_;                   // so does its
};

namespace {
RuntimeOptions checked(RuntimeOptions options) {
    static_cast<void>(make_policy(options.policy)); // before devices are opened
    return options;
}
} // namespace

Runtime::Runtime(RuntimeOptions options) {
    options = checked(std::move(options));
    DeviceSelection selection = select_devices(options.devices);
    impl_ = std::make_unique<Impl>(std::move(selection), std::move(options));
}

Runtime::Runtime(std::vector<std::unique_ptr<Device>> devices, RuntimeOptions options) {
    options = checked(std::move(options));
    const std::size_t count = devices.size();
    impl_ = std::make_unique<Impl>(
        DeviceSelection{std::move(devices), std::vector<ControllerOptions>(count), {}}, std::move(options));
}

Runtime::~Runtime() = default;

JobHandle Runtime::submit(const Job& job) { return impl_->submit(job); }
std::vector<const DeviceInfo*> Runtime::devices() const { return impl_->devices(); }
std::shared_ptr<void> Runtime::allocate_host(Bytes size) const { return impl_->allocate_host(size); }
const std::vector<LeftOut>& Runtime::left_out() const noexcept { return impl_->left_out(); }

} // namespace headrace
