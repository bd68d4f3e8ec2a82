// domains/streams/pipeline.cpp - runs items through their stages: see pipeline.hpp. The division among
// devices: pipeline_division.cpp.
#include "streams/item_spans.hpp"
#include "streams/part_times.hpp"
#include "streams/pending_callbacks.hpp"
#include "streams/piece_times.hpp"
#include "streams/submitter.hpp"
#include <headrace/domains/streams/pipeline.hpp>
#include <headrace/internal/domains/streams/earliest_end.hpp>
#include <headrace/internal/domains/streams/estimated_times.hpp>
#include <headrace/internal/domains/streams/free_slots.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <exception>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace headrace {
namespace {

/// Sum over the cut's pieces.
double sum(const std::vector<double>& pieces, const StreamCut& cut) {
    return std::accumulate(pieces.begin() + static_cast<std::ptrdiff_t>(cut.begin),
                           pieces.begin() + static_cast<std::ptrdiff_t>(cut.end), 0.0);
}

[[noreturn]] void refuse(const std::string& why) { throw Error{ErrorKind::invalid_argument, why}; }

} // namespace

/// Submits the parts of an item on the threads of their controllers, one part after another.
class Pipeline::Submitters {
public:
    explicit Submitters(std::size_t controllers) : threads_(controllers) {}

    /// Runs `work` on the controller's thread when `before` has ended, unless `before` failed.
    Event part(std::size_t controller, const Event& before, std::function<void()> work) {
        auto done = std::make_shared<Promise>();
        Event event = done->event();
        threads_[controller].ask([before, done, work = std::move(work)] {
            try {
                before.wait();
                work();
                done->complete();
            } catch (...) {
                done->fail(current_error());
            }
        });
        return event;
    }
    /// The same for `end`, one item after another. The returned event is that of the event that `end`
    /// returns.
    Event end(const Event& before, std::function<Event()> end) {
        auto done = std::make_shared<Promise>();
        Event event = done->event();
        ends_.ask([before, done, end = std::move(end)] {
            try {
                before.wait();
                end().then([done](const ErrorPtr& error) { error ? done->fail(error) : done->complete(); });
            } catch (...) {
                done->fail(current_error());
            }
        });
        return event;
    }

private:
    std::deque<Submitter> threads_;
    Submitter ends_;
};

/// At any exit from a stream, waits until no item is unfinished: the functions of the ends are the caller's.
struct Pipeline::EndOfAll {
    const Pipeline& pipeline;
    const int exceptions = std::uncaught_exceptions();
    ~EndOfAll() {
        for (const Slot& slot : pipeline.slots_) static_cast<void>(slot.done.outcome());
        if (std::uncaught_exceptions() != exceptions) {
            // If an item was not submitted to its end, some of its requests may be pending.
            for (Controller* controller : pipeline.controllers_) try {
                    controller->wait_all();
                } catch (const Error&) { // the first failure is reported already
                }
        }
        pipeline.callbacks_->wait();
    }
};

Pipeline::Pipeline(std::vector<Controller*> controllers, std::vector<StreamPiece> pieces, std::size_t slots)
    : controllers_(std::move(controllers)),
      pieces_(std::move(pieces)),
      slots_(slots),
      callbacks_(std::make_unique<PendingCallbacks>()) {
    if (controllers_.empty() || pieces_.empty() || slots_.empty())
        refuse("a pipeline needs a controller, a piece of work and a slot for an item at least");
    cuts_ = {{0, 0, pieces_.size()}};
    for (std::size_t i = 0; i < controllers_.size(); ++i) {
        const auto device = std::ranges::find(firsts_, &controllers_[i]->device(), [this](std::size_t first) {
            return &controllers_[first]->device();
        });
        device_of_.push_back(static_cast<std::size_t>(device - firsts_.begin()));
        if (device == firsts_.end()) firsts_.push_back(i);
    }
}

Pipeline::~Pipeline() = default;

void Pipeline::map(std::vector<StreamCut> cuts) {
    std::size_t next = 0;
    std::vector<bool> taken(controllers_.size());
    for (const StreamCut& cut : cuts) {
        if (cut.device >= controllers_.size())
            refuse(fmt::format("device {} of a stream on {} devices has a part", cut.device,
                               controllers_.size()));
        if (taken[cut.device]) refuse(fmt::format("device {} has two parts of a stream", cut.device));
        if (cut.begin != next || cut.end <= cut.begin || cut.end > pieces_.size())
            refuse(fmt::format("a part of a stream has pieces {} to {} of {}, and {} is next", cut.begin,
                               cut.end, pieces_.size(), next));
        taken[cut.device] = true;
        next = cut.end;
    }
    if (next != pieces_.size())
        refuse(fmt::format("pieces {} to {} of a stream are nobody's", next, pieces_.size()));
    cuts_ = std::move(cuts);
    times_ = nullptr; // they were of other parts
    whole_items_ = may_give_whole_items_ = false;
    model_ = nullptr;
    mapping_.reset();
}

void Pipeline::map_one_to_one() {
    std::vector<StreamCut> cuts;
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece) cuts.push_back({piece, piece, piece + 1});
    map(std::move(cuts));
}

void Pipeline::give_whole_items() {
    map({{0, 0, pieces_.size()}});
    whole_items_ = true;
    earliest_ = std::make_unique<EarliestEnd>(controllers_.size());
    if (piece_times_) expect_items();
}

void Pipeline::find_mapping(PerformanceModel& model) {
    map({{0, 0, pieces_.size()}});
    model_ = &model;
}

void Pipeline::find_division(PerformanceModel& model) {
    find_mapping(model);
    may_give_whole_items_ = true;
}

void Pipeline::submit_apart() {
    if (controllers_.size() > 1) submitters_ = std::make_unique<Submitters>(controllers_.size());
}

std::int64_t Pipeline::run(const StreamEnds& ends, std::int64_t most) {
    std::ranges::fill(slots_, Slot{});
    free_ = std::make_unique<FreeSlots>(slots_.size());
    remapped_ = 0;
    given_.assign(controllers_.size(), 0);
    mapped_at_ = 0;
    const bool are_as_many = std::exchange(most_, most) == most;
    if (model_ && estimated_ && !are_as_many && most > 0)
        choose_division(0);
    else if (mapping_)
        estimated_->use(mapping_->parts, 0);
    times_ = std::make_shared<PartTimes>(cuts_.size());
    const EndOfAll end{*this};
    if (whole_items_) earliest_->begin();
    spans_ = ItemSpans::make(controllers_.size());
    const auto finish = [this] { // the first failure is that of the first item
        std::vector<Slot> left = slots_;
        std::ranges::sort(left, {}, &Slot::item);
        for (const Slot& slot : left) slot.done.wait();
    };
    try {
        take_items(ends);
    } catch (...) { // the failure of an earlier item comes first
        finish();
        throw;
    }
    finish();
    times_->finish();
    if (mapping_) {
        static_cast<void>(see_drift());
        remember_parts();
    }
    return items_;
}

void Pipeline::take_items(const StreamEnds& ends) {
    for (items_ = 0; items_ < most_; ++items_) {
        free_->wait();
        std::optional<std::size_t> sole; // the controller of the whole item
        if (whole_items_) sole = earliest_->next();
        const std::size_t slot = free_->take(sole);
        if (slots_[slot].done.outcome()) return; // then an earlier item may have failed as well
        const std::optional<Event> there = ends.begin(items_, slot);
        if (!there) return;
        slots_[slot] = {*there, items_}; // in case it cannot be submitted
        if (mapping_) {
            follow_drift(items_);
        } else if (model_ && !whole_items_) {
            there->wait();
            divide(items_, slot);
            if (whole_items_) sole = earliest_->next();
        }
        if (sole) {
            earliest_->given(*sole);
            ++given_[*sole];
        }
        const std::vector<StreamCut> whole{{sole.value_or(0), 0, pieces_.size()}};
        slots_[slot].done = submit(ends, items_, slot, *there, sole ? whole : cuts_);
        callbacks_->add(slots_[slot].done, [this, slot](const ErrorPtr&) { free_->give_back(slot); });
    }
}

Event Pipeline::submit_piece(std::size_t piece, const StreamCut& cut, std::int64_t item, std::size_t slot) {
    return pieces_[piece].submit({.controller = *controllers_[cut.device],
                                  .device = cut.device,
                                  .slot = slot,
                                  .item = item,
                                  .arrives = piece == cut.begin});
}

/// Returns the event that ends the item.
Event Pipeline::submit(const StreamEnds& ends, std::int64_t item, std::size_t slot, const Event& there,
                       const std::vector<StreamCut>& cuts) {
    const auto shown = spans_ ? std::make_shared<ItemSpans::Item>() : nullptr;
    if (is_timed() || shown)
        callbacks_->add(there, [this, times = times_, item, shown](const ErrorPtr& error) {
            if (!error) times->arrived(item);
            if (shown) spans_->arrived(*shown);
        });
    Event before;
    for (std::size_t part = 0; part < cuts.size(); ++part) {
        // Copies all it needs: the mapping may have changed when the part is submitted.
        const auto work = [this, cut = cuts[part], item, slot, times = times_, part, shown,
                           text = text_of(part, item)] {
            const Event last = submit_part(cut, item, slot);
            if (!is_timed() && !shown && !whole_items_) return;
            callbacks_->add(last, [this, cut, item, times, part, shown, text](const ErrorPtr& error) {
                if (whole_items_)
                    earliest_->ended(cut.device, !error);
                else if (!error)
                    times->ended(part, item);
                if (shown)
                    spans_->ended(*shown, cut.device, controllers_[cut.device]->device().info().id, text);
            });
        };
        if (submitters_)
            before = submitters_->part(cuts[part].device, before, work);
        else
            work();
    }
    if (!submitters_) return ends.end(item, slot);
    return submitters_->end(before, [&ends, item, slot] { return ends.end(item, slot); });
}

Event Pipeline::submit_part(const StreamCut& cut, std::int64_t item, std::size_t slot) {
    Event last;
    for (std::size_t piece = cut.begin; piece < cut.end; ++piece) last = submit_piece(piece, cut, item, slot);
    return last;
}

bool Pipeline::is_timed() const { return !whole_items_ && (times_parts_ || model_ != nullptr); }

/// Text for traces: the part of the item, and its predicted time.
std::string Pipeline::text_of(std::size_t part, std::int64_t item) const {
    if (!spans_) return {};
    if (whole_items_) return fmt::format("whole item {}", item);
    std::string text = fmt::format("part {} of {} of item {}", part + 1, cuts_.size(), item);
    if (mapping_) text += fmt::format(", {:.3g} ms as planned", 1e3 * mapping_->parts[part].seconds);
    return text;
}

// ---- reports ------------------------------------------------------------------------------------

/// Rate of each device; empty: not known for all devices.
std::vector<double> Pipeline::items_per_second() const {
    std::vector<double> rates(firsts_.size());
    const bool have_one_item_at_a_time = !whole_items_ || controllers_.size() == firsts_.size();
    if (piece_times_ && have_one_item_at_a_time) {
        for (std::size_t device = 0; device < firsts_.size(); ++device)
            rates[device] = 1 / piece_times_->seconds_of_item(firsts_[device]);
        return rates;
    }
    if (!whole_items_) return {};
    for (std::size_t i = 0; i < controllers_.size(); ++i) {
        const std::optional<double> seconds = earliest_->seconds(i);
        if (!seconds) return {};
        rates[device_of_[i]] += 1 / *seconds;
    }
    return rates;
}

/// The share of each device.
std::vector<StreamShareReport> Pipeline::shares() const {
    std::vector<StreamShareReport> all;
    for (const std::size_t first : firsts_)
        all.push_back({.device = controllers_[first]->device().info().id,
                       .predicted_seconds = {std::nullopt, "what pieces take there is not known"},
                       .seconds = {std::nullopt, "too few items were there"}});
    std::vector<double> rates(all.size());
    for (std::size_t i = 0; i < controllers_.size(); ++i) {
        if (given_[i] == 0) continue;
        all[device_of_[i]].items += given_[i];
        const std::optional<double> seconds = earliest_->measured_seconds(i);
        rates[device_of_[i]] += seconds ? 1 / *seconds : std::numeric_limits<double>::quiet_NaN();
    }
    for (std::size_t device = 0; device < all.size(); ++device) {
        if (rates[device] > 0) all[device].seconds = {1 / rates[device], {}};
        if (!piece_times_) continue;
        if (const double seconds = piece_times_->seconds_of_item(firsts_[device]); std::isfinite(seconds))
            all[device].predicted_seconds = {seconds, {}};
    }
    return all;
}

StreamReport Pipeline::report() const {
    StreamReport report;
    report.items = items_;
    report.remapped = remapped_;
    const Figure not_measured{
        std::nullopt,
        whole_items_ ? "what items take is not known of each device: there were too few"
                     : "what pieces take is not known: they are measured where the mapping is to be found"};
    report.alone_seconds = report.speed_up = report.expected = report.efficiency = not_measured;
    if (!times_) return report;
    report.seconds = times_->seconds();
    report.fill_seconds = times_->fill_seconds();
    report.drain_seconds = times_->drain_seconds();
    for (std::size_t part = 0; part < cuts_.size() && !whole_items_; ++part) {
        const StreamCut& cut = cuts_[part];
        StreamPartReport told{.device = controllers_[cut.device]->device().info().id,
                              .first_piece = pieces_[cut.begin].name,
                              .last_piece = pieces_[cut.end - 1].name,
                              .predicted_seconds = not_measured,
                              .seconds = {std::nullopt, is_timed() ? "too few items had this part"
                                                                   : "parts are timed when it is asked for"}};
        if (const auto measured = times_->seconds(part, mapped_at_ + 1, 1)) told.seconds = {*measured, {}};
        if (piece_times_)
            if (const double seconds = sum(piece_times_->seconds()[cut.device], cut); std::isfinite(seconds))
                told.predicted_seconds = {seconds, {}};
        if (mapping_) told.predicted_seconds = {mapping_->parts[part].seconds, {}}; // corrected by drift
        if (mapping_) told.transfer_seconds = mapping_->parts[part].transfer_in;
        report.parts.push_back(std::move(told));
    }
    if (whole_items_) report.shares = shares();
    if (piece_times_) { // devices without a part now
        report.left_out = piece_times_->left_out();
        std::erase_if(report.left_out, [&](const LeftOut& device) {
            return std::ranges::find(report.parts, device.id, &StreamPartReport::device) !=
                   report.parts.end();
        });
    }
    const std::vector<double> rates = items_per_second();
    if (rates.empty()) return report;
    const double fastest = std::ranges::max(rates);
    const double alone = static_cast<double>(items_) / fastest;
    const double expected = std::accumulate(rates.begin(), rates.end(), 0.0) / fastest;
    report.alone_seconds = {alone, {}};
    report.expected = {expected, {}};
    report.speed_up = {alone / report.seconds, {}};
    report.efficiency = {alone / report.seconds / expected, {}};
    return report;
}

} // namespace headrace
