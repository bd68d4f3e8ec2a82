// domains/job_execution.cpp - see job_execution.hpp.
#include <headrace/domains/job_execution.hpp>

#include <algorithm>
#include <utility>

namespace headrace {
namespace {

double seconds(std::chrono::steady_clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
}

std::vector<double> relative_capabilities(const std::vector<JobExecution::Participant>& participants) {
    double best = 0;
    for (const auto& participant : participants) best = std::max(best, participant.info->peak_gflops);
    std::vector<double> capability;
    for (const auto& participant : participants)
        capability.push_back(best > 0 ? participant.info->peak_gflops / best : 1.0);
    return capability;
}

bool repeatable(const Job& job) {
    return std::ranges::none_of(job.uses(), [](const Job::Use& use) { return use.access == Access::update; });
}

} // namespace

JobExecution::JobExecution(Job job, std::unique_ptr<Policy> policy, std::string policy_name,
                           std::vector<Participant> participants, std::vector<LeftOut> left_out)
    : job_(std::move(job)),
      policy_(std::move(policy)),
      policy_name_(std::move(policy_name)),
      left_out_(std::move(left_out)),
      capability_(relative_capabilities(participants)),
      left_{0, job_.work_units()},
      event_(promise_.event()) {
    for (std::size_t i = 0; i < participants.size(); ++i) {
        const DeviceInfo& info = *participants[i].info;
        Share share{.who = participants[i], .figures = {}, .busy = {}, .done = {}};
        share.figures.id = info.id;
        share.figures.name = info.name;
        share.figures.kind = info.kind;
        share.figures.capability = capability_[i];
        shares_.push_back(std::move(share));
    }
}

void JobExecution::start() {
    std::unique_lock lock(mutex_);
    started_ = true;
    begin_ = end_ = last_sign_ = Clock::now();
    settle_if_ended(std::move(lock)); // it may have been stopped before it began
}

std::optional<IndexRange> JobExecution::next(std::size_t device) {
    const std::scoped_lock lock(mutex_);
    Share* share = share_of(device);
    if (!started_ || stop_reason_ || !share || share->retired) return std::nullopt;
    if (!returned_.empty()) {
        const IndexRange range = returned_.back();
        returned_.pop_back();
        return give_out(*share, range);
    }
    if (left_.empty()) return std::nullopt;
    const auto place = static_cast<std::size_t>(share - shares_.data());
    const Progress progress{.total = job_.work_units(), .remaining = left_units(), .capability = capability_};
    std::uint64_t wanted = policy_->next(place, progress);
    if (wanted == 0) {
        if (!in_flight_.empty()) return std::nullopt;
        wanted = 1; // a policy that leaves everyone idle would hang the job
    }
    wanted =
        std::max<std::uint64_t>(wanted, share->who.info->lane_group); // less than a lane group idles lanes
    const IndexRange range{left_.begin, left_.begin + job_.split(left_, wanted)};
    left_.begin = range.end;
    return give_out(*share, range);
}

void JobExecution::launched(std::size_t device, IndexRange range, std::uint64_t units_left,
                            std::size_t awaited) {
    const std::scoped_lock lock(mutex_);
    TaskInFlight* task = in_flight(device, range);
    HEADRACE_ASSERT(task);
    ++task->launches;
    task->units_left = units_left;
    task->awaited = awaited;
    task->last_sign = Clock::now();
}

void JobExecution::inputs_came(std::size_t device, IndexRange range) {
    const std::scoped_lock lock(mutex_);
    TaskInFlight* task = in_flight(device, range);
    if (!task || task->awaited == 0) return; // told late: the task has ended, or its first launch has
    task->awaited = 0;
    task->last_sign = Clock::now();
}

void JobExecution::finished(std::size_t device, const std::vector<IndexRange>& ranges,
                            const TaskFigures& figures) {
    std::unique_lock lock(mutex_);
    Share& share = *share_of(device);
    std::uint64_t units = 0;
    for (const IndexRange range : ranges) units += range.size();
    for (const IndexRange range : ranges) take_back(device, range);
    finished_ += units;
    end_ = Clock::now();
    share.done.insert(share.done.end(), ranges.begin(), ranges.end());
    DeviceReport& report = share.figures;
    report.tasks += ranges.size();
    report.work_units += units;
    std::chrono::steady_clock::duration busy{0};
    for (const EventTimes& launch : figures.launches) {
        share.busy.add(launch);
        busy += launch.end - launch.begin;
    }
    report.busy_seconds = std::chrono::duration<double>(share.busy.total()).count();
    report.finished_seconds = seconds(end_ - begin_);
    report.bytes_in += figures.bytes_in;
    report.bytes_out += figures.bytes_out;
    report.engine += figures.engine;
    policy_->completed(static_cast<std::size_t>(&share - shares_.data()), units,
                       std::chrono::duration_cast<std::chrono::nanoseconds>(busy));
    settle_if_ended(std::move(lock));
}

void JobExecution::abandoned(std::size_t device, IndexRange range, ErrorPtr error) {
    std::unique_lock lock(mutex_);
    take_back(device, range);
    if (error) {
        const Share& share = *share_of(device);
        auto told = std::make_shared<Error>(*error);
        told->on_device(share.figures.id).in_job(job_.name());
        if (!stop_reason_) stop_reason_ = told;
    } else {
        returned_.push_back(range);
    }
    settle_if_ended(std::move(lock));
}

void JobExecution::retire(std::size_t device, const ErrorPtr& error,
                          const std::vector<IndexRange>& in_flight) {
    std::unique_lock lock(mutex_);
    Share* share = share_of(device);
    if (!share || ended_) return;
    for (const IndexRange range : in_flight) take_back(device, range);
    if (!share->retired) {
        share->retired = true;
        capability_[static_cast<std::size_t>(share - shares_.data())] = 0;
        share->figures.failure = error->what();
    }
    returned_.insert(returned_.end(), in_flight.begin(), in_flight.end());
    if (!repeatable(job_) && !(share->done.empty() && in_flight.empty())) {
        if (!stop_reason_) stop_reason_ = error;
    } else {
        for (const IndexRange range : share->done) {
            returned_.push_back(range);
            finished_ -= range.size();
        }
        share->figures.work_units = 0;
        share->done.clear();
    }
    if (!stop_reason_ && std::ranges::all_of(shares_, [](const Share& one) { return one.retired; }))
        stop_reason_ = error;
    settle_if_ended(std::move(lock));
}

void JobExecution::stop(ErrorPtr why) {
    std::unique_lock lock(mutex_);
    if (!stop_reason_ && !ended_) stop_reason_ = std::move(why);
    settle_if_ended(std::move(lock));
}

bool JobExecution::stopping() const {
    const std::scoped_lock lock(mutex_);
    return stop_reason_ != nullptr;
}

std::uint64_t JobExecution::finished_units() const {
    const std::scoped_lock lock(mutex_);
    return finished_;
}

JobStanding JobExecution::standing() const {
    const std::scoped_lock lock(mutex_);
    JobStanding standing{.job = job_.name(),
                         .work_units = job_.work_units(),
                         .finished = finished_,
                         .started = started_,
                         .last_sign = last_sign_,
                         .tasks = {}};
    for (const auto& [of, task] : in_flight_) standing.tasks.push_back(task);
    return standing;
}

JobReport JobExecution::report() const {
    const std::scoped_lock lock(mutex_);
    JobReport report;
    report.job = job_.name();
    report.policy = policy_name_;
    report.seconds = seconds(end_ - begin_);
    report.work_units = job_.work_units();
    report.left_out = left_out_;
    double first = report.seconds, last = 0;
    for (const Share& share : shares_) {
        DeviceReport device = share.figures;
        device.share = static_cast<double>(device.work_units) / static_cast<double>(job_.work_units());
        if (device.tasks > 0) {
            first = std::min(first, device.finished_seconds);
            last = std::max(last, device.finished_seconds);
        }
        report.devices.push_back(std::move(device));
    }
    if (last > 0)
        report.balance.value = first / last;
    else
        report.balance.why_absent = "no task ended";
    const std::string no_times = "needs each device's time alone; run the job with one device at a time";
    report.heterogeneous_speed_up.why_absent = report.heterogeneous_efficiency.why_absent = no_times;
    report.energy_joules.why_absent = report.energy_delay_product.why_absent = "energy is not measured";
    return report;
}

JobExecution::Share* JobExecution::share_of(std::size_t device) {
    const auto found =
        std::ranges::find_if(shares_, [device](const Share& share) { return share.who.device == device; });
    return found == shares_.end() ? nullptr : &*found;
}

TaskInFlight* JobExecution::in_flight(std::size_t device, IndexRange range) {
    const auto found = in_flight_.find({device, range.begin});
    return found == in_flight_.end() ? nullptr : &found->second;
}

IndexRange JobExecution::give_out(const Share& share, IndexRange range) {
    last_sign_ = Clock::now();
    in_flight_[{share.who.device, range.begin}] = {
        .number = share.who.device, .device = share.who.info->id, .range = range, .last_sign = last_sign_};
    return range;
}

void JobExecution::take_back(std::size_t device, IndexRange range) {
    const auto erased = in_flight_.erase({device, range.begin});
    HEADRACE_ASSERT(erased == 1);
    last_sign_ = Clock::now();
}

std::uint64_t JobExecution::left_units() const {
    std::uint64_t units = left_.size();
    for (const IndexRange range : returned_) units += range.size();
    return units;
}

void JobExecution::settle_if_ended(std::unique_lock<std::mutex> lock) {
    const bool complete = started_ && left_.empty() && returned_.empty();
    if (ended_ || !in_flight_.empty() || !(complete || stop_reason_)) return;
    ended_ = true;
    const ErrorPtr error = stop_reason_;
    lock.unlock(); // continuations may ask us things
    if (error)
        promise_.fail(error);
    else
        promise_.complete();
}

} // namespace headrace
