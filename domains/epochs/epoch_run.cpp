// domains/epochs/epoch_run.cpp - see epoch_run.hpp.
#include <headrace/core/log.hpp>
#include <headrace/internal/domains/cluster/current_node.hpp>
#include <headrace/internal/domains/cluster/message.hpp>
#include <headrace/internal/domains/epochs/epoch_run.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace headrace {
namespace epochs {
namespace {

using cluster::Message;
using cluster::Reader;
using cluster::Writer;

EpochLength length_of(const Job& job, const EpochOptions& options) {
    EpochLength::Wishes wishes{.seconds = options.epoch.count(), .grain = job.grain()};
    if (options.most_units > 0) wishes.most_units = options.most_units;
    constexpr double least = 0.05;
    if (!options.checkpoint.empty() && options.checkpoint_every.count() > 0)
        wishes.most_seconds = std::max(options.checkpoint_every.count() / 2, least);
    return {wishes, job.work_units()};
}

} // namespace

EpochRun::EpochRun(Runtime& runtime, const Job& job, const EpochOptions& options)
    : runtime_(runtime),
      job_(job),
      options_(options),
      node_(cluster::current_node()),
      number_(node_ ? node_->submitters().next(cluster::Submitters::Call::run).ordinal : 0),
      length_(length_of(job, options)),
      done_(job.units().begin),
      checkpoints_(is_first() ? options.checkpoint : std::filesystem::path(),
                   std::chrono::duration_cast<Checkpoints::Clock::duration>(options.checkpoint_every),
                   {options.identity, job.units()}, options.on_checkpoint) {}

bool EpochRun::is_first() const { return !node_ || node_->rank() == 0; }
double EpochRun::seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

double EpochRun::seconds_left() const {
    if (!(options_.time_limit.count() > 0)) return std::numeric_limits<double>::infinity();
    return EpochOptions::Seconds(options_.time_limit - (Clock::now() - call_)).count();
}

JobReport EpochRun::run() {
    try {
        while (!is_over_) {
            try {
                step();
            } catch (const Error& error) {
                if (!go_on_after(error)) throw;
            }
        }
    } catch (...) {
        store_what_is_committed();
        throw;
    }
    return finish();
}

void EpochRun::step() {
    if (!has_prepared_) prepare();
    if (must_meet_) meet();
    if (is_over_) return;
    if (must_restore_) restore();
    if (!has_begun_) begin();
    const Decision decision = decide();
    if (done_ == job_.units().end || decision.is_late) { // and all ranks know it
        is_over_ = true;
        return;
    }
    if (decision.stops) stop();
    run_epoch(decision.units);
}

/// True: the ranks that are left repeat what is not committed. Or this rank has all results, and rank 0 has
/// ended, since all others have them too.
bool EpochRun::go_on_after(const Error& error) {
    if (!node_ || is_stopping_) return false;
    if (!node_->recover()) {
        is_over_ = has_begun_ && done_ == job_.units().end && node_->has_first_ended_well();
        return is_over_;
    }
    if (!has_prepared_ || !has_begun_) failure_ = std::make_shared<const Error>(error);
    must_meet_ = must_restore_ = true;
    ended_.reset(); // its report has parts of ranks that are lost
    return true;
}

/// What rank 0 begins with. It tells the others in `restore` if it has failed.
void EpochRun::prepare() {
    if (node_ && options_.lost_after.count() > 0)
        node_->continue_after_losses(std::chrono::duration_cast<Clock::duration>(options_.lost_after));
    Snapshot::join_only(job_); // what was there before
    has_prepared_ = true;
    must_restore_ |= !options_.resume.empty();
    if (!is_first()) return;
    try {
        const bool resumes = !options_.resume.empty() &&
                             (!options_.resume_may_be_missing || std::filesystem::exists(options_.resume));
        snapshot_ = std::make_shared<const Snapshot>(
            resumes ? read_checkpoint(options_.resume, {options_.identity, job_.units()})
                    : Snapshot::take(job_, done_));
    } catch (...) {
        if (!node_) throw;
        failure_ = current_error(ErrorKind::io);
        must_restore_ = true;
    }
}

/// Ranks that see a loss at the end of a run may still be in it, when others have begun the next run. They
/// learn that here: no rank begins a run before all have the results of the one before. Each rank says where
/// it is, until all are in one run.
void EpochRun::meet() {
    if (!node_) {
        must_meet_ = false;
        return;
    }
    for (;;) {
        std::uint64_t least = number_, most = number_;
        bool restores = false;
        for (const Message& one :
             node_->exchange(Writer().put(number_).put<std::uint8_t>(must_restore_ ? 1 : 0).take())) {
            if (one.empty()) continue; // of a lost rank
            Reader reader(one);
            const auto number = reader.get<std::uint64_t>();
            least = std::min(least, number);
            most = std::max(most, number);
            restores |= reader.get<std::uint8_t>() != 0;
        }
        must_restore_ = restores;
        if (number_ < most) {
            is_over_ = true;
            return;
        }
        if (least == most) break;
    }
    must_meet_ = false;
}

void EpochRun::begin() {
    begin_ = Clock::now();
    has_begun_ = true;
    failure_ = nullptr;
    if (!options_.resume.empty()) resumed_ = committed();
    checkpoints_.begin();
    tell_progress(0);
}

void EpochRun::restore() {
    Snapshot received;
    if (node_) {
        Writer mine;
        if (is_first()) {
            const ErrorPtr error = snapshot_ ? nullptr : failure_;
            mine.put(error);
            if (!error) mine.put(snapshot_->done).put(snapshot_->bytes);
        }
        const Message first = node_->exchange(mine.take()).front();
        Reader reader(first);
        if (const ErrorPtr failed = reader.error()) throw Error{*failed};
        if (!is_first()) {
            received.done = reader.get<std::uint64_t>();
            const auto bytes = reader.bytes();
            received.bytes.assign(bytes.begin(), bytes.end());
        }
    }
    const Snapshot& snapshot = is_first() ? *snapshot_ : received;
    try {
        snapshot.restore(job_);
    } catch (const Error& other) {
        if (options_.resume.empty()) throw;
        throw Error{other.kind(), options_.resume.string() + ": " + other.message()};
    }
    done_ = snapshot.done;
    must_restore_ = false;
}

/// On all ranks the same.
EpochRun::Decision EpochRun::decide() const {
    const double seconds = seconds_left();
    const std::uint64_t needed = options_.least_units - std::min(committed(), options_.least_units);
    Decision decision{.units = 0,
                      .stops = options_.stops && options_.stops(),
                      .is_late = is_first() && has_done_epochs_ && needed == 0 && seconds <= 0};
    const std::uint64_t left = job_.units().end - done_;
    if (is_first() && left > 0) {
        decision.units = options_.cut ? options_.cut(committed()) : length_.next(left, seconds);
        if (seconds <= 0 && !options_.cut) decision.units = std::min(length_.next(left), needed);
        const std::uint64_t grain = job_.grain();
        decision.units = std::clamp<std::uint64_t>((decision.units + grain - 1) / grain * grain, 1, left);
    }
    if (!node_) return decision;
    const std::vector<Message> all = node_->exchange(Writer()
                                                         .put<std::uint8_t>(decision.stops ? 1 : 0)
                                                         .put<std::uint8_t>(decision.is_late ? 1 : 0)
                                                         .put(decision.units)
                                                         .take());
    for (const Message& one : all) {
        if (one.empty()) continue; // of a lost rank
        Reader reader(one);
        decision.stops |= reader.get<std::uint8_t>() != 0;
        decision.is_late |= reader.get<std::uint8_t>() != 0;                    // rank 0 knows
        decision.units = std::max(decision.units, reader.get<std::uint64_t>()); // of rank 0: others say 0
    }
    return decision;
}

void EpochRun::run_epoch(std::uint64_t units) {
    using namespace std::chrono_literals;
    constexpr auto between_tellings = 50ms;
    const double began = seconds();
    const JobHandle epoch = runtime_.submit(Job(job_).only_units({done_, done_ + units}));
    take_report();
    while (!epoch.wait_for(between_tellings)) tell_progress(epoch.finished_units());
    epoch.wait();
    const double ended = seconds();
    commit(done_ + units);
    length_.measured(units, ended - began, seconds() - ended);
    ended_ = {epoch, began};
    end_ = ended;
    has_done_epochs_ = true;
    tell_progress(0);
    if (options_.on_commit) options_.on_commit(committed());
}

/// The snapshot changes when all results are joined, on all ranks.
void EpochRun::commit(std::uint64_t end) {
    if (is_first()) {
        auto snapshot = std::make_shared<const Snapshot>(Snapshot::take(job_, end));
        snapshot_ = std::move(snapshot);
        checkpoints_.offer(snapshot_);
    } else {
        Snapshot::join_only(job_);
    }
    done_ = end;
}

void EpochRun::stop() {
    is_stopping_ = true;
    if (snapshot_) checkpoints_.write(snapshot_);
    throw Error{ErrorKind::cancelled,
                fmt::format("{} of {} work units are done{}", committed(), job_.work_units(),
                            options_.checkpoint.empty()
                                ? ", and not stored"
                                : ", and are stored in " + options_.checkpoint.string())};
}

/// After a failure: less is to be repeated then. A run that has not begun has nothing new. If `stop` has
/// written the same, or has failed to, it is not written again.
void EpochRun::store_what_is_committed() noexcept {
    try {
        if (snapshot_ && has_begun_) checkpoints_.write(snapshot_);
    } catch (...) {
        log_error(current_error(ErrorKind::io)->what());
    }
}

JobReport EpochRun::finish() {
    // If the results cannot be written now, the next run has them at once.
    store_what_is_committed();
    take_report();
    JobReport report = reports_.report(end_);
    report.job = job_.name();
    report.resumed_units = resumed_;
    return report;
}

void EpochRun::take_report() {
    if (ended_) reports_.add(ended_->job.report(), ended_->begin);
    ended_.reset();
}

void EpochRun::tell_progress(std::uint64_t units_of_epoch) const {
    if (options_.on_progress) options_.on_progress(committed() + units_of_epoch);
}

} // namespace epochs

JobReport run_in_epochs(Runtime& runtime, const Job& job, const EpochOptions& options) {
    return epochs::EpochRun(runtime, job, options).run();
}

} // namespace headrace
