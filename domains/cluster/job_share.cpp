// domains/cluster/job_share.cpp - see job_share.hpp.
#include <headrace/internal/domains/cluster/job_share.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace headrace::cluster {
namespace {

/// A rank that still has work returns credit so often: the rank above then knows its speed in time.
constexpr std::chrono::milliseconds credit_interval{5};

/// At least such a part of a grant is told to the schedule before the grant is complete.
constexpr std::uint64_t parts_of_grant = 2;

/// A rank whose devices have work asks other ranks for units, for a neighbour that wants some, if its devices
/// have given none for so long.
constexpr std::chrono::milliseconds patience_with_devices{10};

/// A batch without its units, which another rank has.
WorkRange without_units(const WorkRange& work) { return {work.range, UnitBatch(0, 1)}; }

} // namespace

JobMark JobMark::read(Reader& message) {
    JobMark mark;
    mark.work_units = message.get<std::uint64_t>();
    mark.name = message.text();
    return mark;
}

JobShare::JobShare(CallNumber number, const Neighbours& neighbours, Send send)
    : number_(number), neighbours_(neighbours), send_(std::move(send)) {
    for (const int rank : neighbours.below) below_.emplace_back().rank = rank;
}

Writer JobShare::about(Topic topic) const {
    Writer writer(topic);
    writer.put(number_);
    return writer;
}

JobShare::Below& JobShare::below(int rank) {
    const auto found = std::ranges::find(below_, rank, &Below::rank);
    if (found == below_.end())
        throw Error{ErrorKind::internal, fmt::format("rank {} is not below rank {}", rank, neighbours_.rank)};
    return *found;
}

void JobShare::begin(std::shared_ptr<LocalWork> work, JobMark mark) {
    work_ = std::move(work);
    mark_ = std::move(mark);
    if (failure_) return work_->stop(failure_);
    if (mark_above_) close();
}

void JobShare::receive(int from, Topic topic, Reader message, Clock::time_point now) {
    switch (topic) {
    case Topic::want: {
        if (from == neighbours_.above) {
            above_wants_ = true;
            if (work_) work_->note_above(true);
            break;
        }
        Below& one = below(from);
        one.wants = true;
        one.lacks_units = message.get<std::uint8_t>() != 0;
        one.takes_units = message.get<std::uint8_t>() != 0;
        one.mark = JobMark::read(message);
        break;
    }
    case Topic::grant: {
        const auto begin = message.get<std::uint64_t>(), end = message.get<std::uint64_t>();
        has_asked_ = false;
        last_grant_ = end - begin;
        granted_ += last_grant_;
        forget_wish_above();
        if (work_) work_->extend({begin, end});
        break;
    }
    case Topic::batch:
        receive_units(from, message);
        break;
    case Topic::credit:
        take_credit(below(from), message, now);
        break;
    case Topic::close:
        mark_above_ = JobMark::read(message);
        close();
        break;
    case Topic::failure:
        fail(message.error(), from);
        break;
    default:
        throw Error{ErrorKind::internal, fmt::format("rank {} sent a message that no job expects", from)};
    }
}

void JobShare::look(Clock::time_point now) {
    if (!work_ || is_over_) return;
    const LocalWork::Supply supply = work_->supply();
    if (supply.stop_reason) fail(supply.stop_reason);
    if (supply.is_running) {
        if (!is_closed_) { // after that, they would drop it
            const bool lacks = lacks_units(supply, now);
            if (neighbours_.above >= 0) {
                give_credit(supply, now); // before it sends work: a quiet rank has none
                ask_above(supply, lacks);
            }
            if (lacks) ask_below(supply);
            if (owes()) {
                send_units_above();
                for (Below& one : below_) serve(one, now);
            }
        }
    }
    if (!supply.has_ended) return;
    if (!supply.stop_reason) close(); // rank 0 has all credit: the others get to know
    is_over_ = true;
}

/// A rank asks in time: its devices work on the second half of the last grant while the next one comes. It
/// asks again when a device lacks units.
void JobShare::ask_above(const LocalWork::Supply& supply, bool lacks_units) {
    lacks_units = supply.is_quiet || (lacks_units && supply.wanting_units > 0);
    const bool has_enough = supply.open > last_grant_ / 2;
    if (has_asked_ ? !lacks_units || has_told_lack_ : !lacks_units && has_enough) return;
    has_asked_ = true;
    has_told_lack_ = lacks_units;
    send_(neighbours_.above, about(Topic::want)
                                 .put<std::uint8_t>(lacks_units ? 1 : 0)
                                 .put<std::uint8_t>(supply.takes_units ? 1 : 0)
                                 .put(mark_.work_units)
                                 .put(mark_.name)
                                 .take());
}

void JobShare::give_credit(const LocalWork::Supply& supply, Clock::time_point now) {
    // Of units that have spawned, some may be left when all units that were granted are completed.
    const std::uint64_t credit =
        supply.is_quiet || granted_ == 0 ? supply.completed : std::min(supply.completed, granted_ - 1);
    const std::uint64_t settled = supply.is_quiet ? batches_ : settled_;
    if (credit <= credit_ && settled == settled_) return;
    if (!supply.is_quiet && now < credit_at_ + credit_interval) return;
    credit_ = std::max(credit, credit_); // units are done again if a device is lost
    settled_ = settled;
    credit_at_ = now;
    send_(
        neighbours_.above,
        about(Topic::credit).put(credit_).put(settled_).put(supply.busy).put(supply.units_per_second).take());
}

/// The rank above counts on this rank, and is not quiet.
bool JobShare::owes() const { return neighbours_.above < 0 || credit_ < granted_ || settled_ < batches_; }

/// A neighbour, or a device, wants units, and the devices of this rank have none to give, or give none.
bool JobShare::lacks_units(const LocalWork::Supply& supply, Clock::time_point now) {
    if (supply.wanting_units == 0 && !above_wants_) {
        lacks_since_.reset();
        return false;
    }
    if (!lacks_since_) lacks_since_ = now;
    return supply.has_no_donor || now >= *lacks_since_ + patience_with_devices;
}

/// Ranks that have work of this one, and may have units of it that they have not begun. Those that lack units
/// too: what a device works on may spawn more than its rank can use.
void JobShare::ask_below(const LocalWork::Supply& supply) {
    for (Below& one : below_) {
        const bool has_work = !one.grants.empty() || !one.batches.empty();
        // Not for itself: its own devices give to each other.
        const bool is_only_one = one.wants && one.lacks_units && supply.wanting_units == 1 &&
                                 !supply.has_no_donor && !above_wants_;
        if (!has_work || is_only_one || std::exchange(one.was_asked, true)) continue;
        send_(one.rank, about(Topic::want).take());
    }
}

void JobShare::send_units_above() {
    if (neighbours_.above < 0 || !above_wants_) return;
    const auto units = work_->next_for_above();
    if (!units) return;
    above_wants_ = has_asked_ = false; // the rank above forgets what this one wanted before
    lacks_since_.reset();
    send_(neighbours_.above, about(Topic::batch).put(*units).take());
}

/// The rank above has sent work: it wants none, or asks again.
void JobShare::forget_wish_above() {
    if (std::exchange(above_wants_, false) && work_) work_->note_above(false);
}

void JobShare::receive_units(int from, Reader message) {
    std::optional<int> below_this;
    if (from == neighbours_.above) {
        ++batches_;
        has_asked_ = false;
        forget_wish_above();
    } else {
        Below& one = below(from);
        one.wants = one.was_asked = false; // it had more than it could use
        below_this = from;
    }
    if (work_) work_->receive(below_this, message.units());
}

void JobShare::serve(Below& one, Clock::time_point now) {
    if (!one.wants || is_refused(one.rank, one.mark)) return;
    if (std::exchange(one.takes_units, false)) work_->note_takes_units(one.rank); // once
    const auto work = work_->next(one.rank, one.lacks_units);
    if (!work) return;
    one.wants = one.was_asked = false;
    if (one.grants.empty() && one.batches.empty()) one.idle_since = now;
    if (work->units) {
        one.batches.push_back(without_units(*work));
        send_(one.rank, about(Topic::batch).put(*work->units).take());
    } else {
        one.grants.push_back({work->range, now});
        send_(one.rank, about(Topic::grant).put(work->range.begin).put(work->range.end).take());
    }
}

void JobShare::take_credit(Below& one, Reader message, Clock::time_point now) {
    const auto credit = message.get<std::uint64_t>(), settled = message.get<std::uint64_t>();
    one.busy = message.get<Clock::duration>();
    const auto speed = message.get<double>();
    one.completed += credit - std::exchange(one.credit, credit);
    std::vector<WorkRange> done;
    for (; one.settled < settled && !one.batches.empty(); ++one.settled) {
        done.push_back(std::move(one.batches.front()));
        one.batches.pop_front();
    }
    while (!one.grants.empty() && one.grants.front().units.size() <= one.completed) {
        one.completed -= one.grants.front().units.size();
        one.progress = 0;
        done.emplace_back(one.grants.front().units);
        one.grants.pop_front();
    }
    if (!work_) return;
    std::optional<LocalWork::Part> next;
    if (!one.grants.empty()) next = {one.grants.front().units, one.completed};
    const bool is_worth_it = next && one.completed - one.progress >= next->grant.size() / parts_of_grant;
    if (done.empty() && !is_worth_it) return;
    one.progress = one.completed;
    work_->note_speed(one.rank, speed);
    // Its devices' own time: what messages take says nothing of its speed, and most of a first, small grant.
    const Clock::duration passed = now - std::exchange(one.idle_since, now);
    const Clock::duration worked = one.busy - std::exchange(one.measured, one.busy);
    work_->completed(one.rank, done, next, now - (worked > worked.zero() ? std::min(worked, passed) : passed),
                     now);
}

/// True, and the job fails, if another rank has submitted another job in its place.
bool JobShare::is_refused(int rank, const JobMark& mark) {
    if (mark == mark_) return false;
    fail(std::make_shared<const Error>(Error(
        ErrorKind::invalid_argument,
        fmt::format("rank {} has submitted job '{}' of {} work units where rank {} has job '{}' of {}: all "
                    "ranks must run the same program with the same input",
                    rank, mark.name, mark.work_units, neighbours_.rank, mark_.name, mark_.work_units))));
    return true;
}

/// All units are completed. Ranks below get to know at once, and this rank ends when it has submitted the
/// job.
void JobShare::close() {
    const JobMark& mark = mark_above_ ? *mark_above_ : mark_;
    if (!std::exchange(is_closed_, true))
        for (const Below& one : below_)
            send_(one.rank, about(Topic::close).put(mark.work_units).put(mark.name).take());
    if (work_ && mark_above_ && !is_refused(neighbours_.above, mark)) work_->close();
}

/// The error with the name of this rank.
ErrorPtr JobShare::named(const Error& why) const {
    Error error(why.kind(), why.message());
    error.on_device(why.device().empty() ? neighbours_.name : neighbours_.name + ", " + why.device());
    error.in_job(why.job());
    error.in_task(why.task());
    error.with_code(why.native_code());
    return std::make_shared<const Error>(std::move(error));
}

void JobShare::fail(const ErrorPtr& why, int told_by) {
    if (std::exchange(has_told_failure_, true)) return;
    failure_ = told_by >= 0 ? why : named(*why);
    const auto tell = [&](int rank) {
        if (rank >= 0 && rank != told_by) send_(rank, about(Topic::failure).put(failure_).take());
    };
    tell(neighbours_.above);
    for (const Below& one : below_) tell(one.rank);
    stop(why);
}

void JobShare::abandon(const ErrorPtr& why) {
    if (std::exchange(has_told_failure_, true)) return;
    failure_ = why;
    stop(why);
}

void JobShare::stop(const ErrorPtr& why) {
    // First: what ranks below abandon must not be given out again. The units of a batch that was sent are
    // gone.
    if (work_) work_->stop(why);
    for (Below& one : below_) {
        if (work_)
            for (const Grant& grant : one.grants) work_->abandoned(one.rank, grant.units);
        if (work_)
            for (const WorkRange& batch : one.batches) work_->abandoned(one.rank, batch);
        one.grants.clear();
        one.batches.clear();
    }
}

} // namespace headrace::cluster
