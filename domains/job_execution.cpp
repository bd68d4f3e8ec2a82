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
        Share share{.who = participants[i], .figures = {}, .busy = {}, .done = {}, .gifts = {}};
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
        return give_out(*share, range).range;
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
    return give_out(*share, range).range;
}

void JobExecution::launched(std::size_t device, const Portion& portion, std::uint64_t units_left,
                            std::size_t awaited) {
    const std::scoped_lock lock(mutex_);
    TaskInFlight* task = in_flight(device, portion);
    HEADRACE_ASSERT(task);
    ++task->launches;
    task->units_left = units_left;
    task->awaited = awaited;
    task->last_sign = Clock::now();
}

void JobExecution::inputs_came(std::size_t device, const Portion& portion) {
    const std::scoped_lock lock(mutex_);
    TaskInFlight* task = in_flight(device, portion);
    if (!task || task->awaited == 0) return; // told late: the task has ended, or its first launch has
    task->awaited = 0;
    task->last_sign = Clock::now();
}

void JobExecution::finished(std::size_t device, const std::vector<Portion>& portions,
                            const TaskFigures& figures) {
    std::unique_lock lock(mutex_);
    Share& share = *share_of(device);
    DeviceReport& report = share.figures;
    std::uint64_t units = 0;
    for (const Portion& portion : portions) {
        take_back(device, portion);
        units += portion.work_units();
        if (portion.units) report.units_received += portion.range.size();
    }
    finished_ += units;
    end_ = Clock::now();
    share.done.insert(share.done.end(), portions.begin(), portions.end());
    report.tasks += portions.size();
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
    if (units > 0) // what was given says nothing of how long the job's units take
        policy_->completed(static_cast<std::size_t>(&share - shares_.data()), units,
                           std::chrono::duration_cast<std::chrono::nanoseconds>(busy));
    settle_if_ended(std::move(lock));
}

void JobExecution::abandoned(std::size_t device, const Portion& portion, ErrorPtr error) {
    std::unique_lock lock(mutex_);
    take_back(device, portion);
    if (error) {
        const Share& share = *share_of(device);
        auto told = std::make_shared<Error>(*error);
        told->on_device(share.figures.id).in_job(job_.name());
        if (!stop_reason_) stop_reason_ = told;
    } else {
        put_back(portion);
    }
    settle_if_ended(std::move(lock));
}

void JobExecution::retire(std::size_t device, const ErrorPtr& error, const std::vector<Portion>& in_flight) {
    std::unique_lock lock(mutex_);
    Share* share = share_of(device);
    if (!share || ended_) return;
    for (const Portion& portion : in_flight) take_back(device, portion);
    if (!share->retired) {
        share->retired = true;
        capability_[static_cast<std::size_t>(share - shares_.data())] = 0;
        share->figures.failure = error->what();
    }
    for (const Portion& portion : in_flight) put_back(portion);
    for (const Portion& portion : std::exchange(share->gifts, {})) put_back(portion);
    const bool has_worked = !(share->done.empty() && in_flight.empty());
    if (const std::uint64_t given = share->figures.units_given; given > 0) {
        // Its tasks done again would make these units once more.
        if (!stop_reason_)
            stop_reason_ = std::make_shared<const Error>(
                Error(error->kind(), error->message() +
                                         "; what it did cannot be computed again, since it had given " +
                                         std::to_string(given) + " work units of it to other devices")
                    .on_device(share->figures.id)
                    .in_job(job_.name())
                    .in_task(error->task())
                    .with_code(error->native_code()));
    } else if (!is_repeatable() && has_worked) {
        if (!stop_reason_) stop_reason_ = error;
    } else {
        for (const Portion& portion : std::exchange(share->done, {})) {
            put_back(portion);
            finished_ -= portion.work_units();
        }
        share->figures.work_units = share->figures.units_received = 0;
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

TaskInFlight* JobExecution::in_flight(std::size_t device, const Portion& portion) {
    const auto found = in_flight_.find(key(device, portion));
    return found == in_flight_.end() ? nullptr : &found->second;
}

Portion JobExecution::give_out(Share& share, Portion portion) {
    last_sign_ = Clock::now();
    share.idle = false;
    in_flight_.insert_or_assign(key(share.who.device, portion), TaskInFlight{.number = share.who.device,
                                                                             .device = share.who.info->id,
                                                                             .portion = portion,
                                                                             .last_sign = last_sign_});
    return portion;
}

void JobExecution::take_back(std::size_t device, const Portion& portion) {
    const auto erased = in_flight_.erase(key(device, portion));
    HEADRACE_ASSERT(erased == 1);
    last_sign_ = Clock::now();
}

void JobExecution::put_back(const Portion& portion) {
    if (portion.units)
        loose_units_.push_back(portion);
    else
        returned_.push_back(portion.range);
}

/// Whether tasks can be done once more, or elsewhere beside one that has begun.
bool JobExecution::is_repeatable() const {
    return std::ranges::none_of(job_.uses(),
                                [](const Job::Use& use) { return use.access == Access::update; });
}

std::uint64_t JobExecution::left_units() const {
    std::uint64_t units = left_.size();
    for (const IndexRange range : returned_) units += range.size();
    return units;
}

void JobExecution::settle_if_ended(std::unique_lock<std::mutex> lock) {
    const bool complete = started_ && left_.empty() && returned_.empty() && loose_units_.empty() &&
                          std::ranges::all_of(shares_, [](const Share& one) { return one.gifts.empty(); });
    if (ended_ || !in_flight_.empty() || !(complete || stop_reason_)) return;
    ended_ = true;
    for (Share& share : shares_) { // handles may keep us for long
        share.done.clear();
        share.gifts.clear();
    }
    loose_units_.clear();
    const ErrorPtr error = stop_reason_;
    lock.unlock(); // continuations may ask us things
    if (error)
        promise_.fail(error);
    else
        promise_.complete();
}

} // namespace headrace
