// domains/streams/pipeline_division.cpp - chooses the pieces of each device from the times of pieces, and
// again when these change. See pipeline.hpp.
#include "streams/part_times.hpp"
#include "streams/piece_times.hpp"
#include <headrace/core/log.hpp>
#include <headrace/domains/streams/pipeline.hpp>
#include <headrace/internal/domains/streams/earliest_end.hpp>
#include <headrace/internal/domains/streams/estimated_times.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace headrace {
namespace {

constexpr double worth_it = 0.95;   // of the period: a change of the mapping has a cost
constexpr double worth_parts = 0.8; // of whole items' period: one measurement of each piece favours parts
constexpr std::size_t enough = 300; // items: from here on the cost of 3 measured items is negligible
constexpr std::size_t many = 1'000'000'000; // items: an endless stream; its beginning is negligible

std::vector<StreamCut> cuts_of(const StageMapping& mapping) {
    std::vector<StreamCut> cuts;
    for (const StagePart& part : mapping.parts) cuts.push_back({part.device, part.begin, part.end});
    return cuts;
}

} // namespace

StreamCosts Pipeline::costs(const std::vector<std::vector<double>>& piece_seconds) const {
    StreamCosts costs;
    for (const std::size_t first : firsts_) costs.seconds.push_back(piece_seconds[first]);
    costs.transfer = [this](std::size_t from, std::size_t to, std::size_t piece) {
        return static_cast<double>(pieces_[piece].bytes_in) *
               piece_times_->seconds_per_byte(firsts_[from], firsts_[to]);
    };
    return costs;
}

void Pipeline::compare_with(const PerformanceModel& model) {
    if (mapping_) return; // its times are known already
    piece_times_ = std::make_unique<PieceTimes>(controllers_, firsts_, pieces_);
    if (!piece_times_->look_up(model)) piece_times_.reset();
}

void Pipeline::divide(std::int64_t item, std::size_t slot) {
    piece_times_ = std::make_unique<PieceTimes>(controllers_, firsts_, pieces_);
    const auto submit = [&](std::size_t piece, std::size_t controller) {
        return submit_piece(piece, {controller, 0, pieces_.size()}, item, slot);
    };
    piece_times_->measure(*model_, submit, items_from(item).value_or(many) >= enough);
    estimated_ = std::make_unique<EstimatedTimes>(piece_times_->seconds());
    for (const std::size_t first : firsts_)
        if (const auto seconds = piece_times_->seconds_lately(*model_, first))
            estimated_->took({first, 0, pieces_.size(), *seconds, 0}, *seconds);
    times_ = std::make_shared<PartTimes>(1); // the measurement is not part of the stream's time
    choose_division(item);
}

/// Chooses whole items, which need no transfers and no waits between devices, or parts.
void Pipeline::choose_division(std::int64_t item) {
    const StageMapping parts = find_parts(item);
    const std::size_t items = items_from(item).value_or(many);
    const double whole = seconds_of_whole_items(costs(estimated_->seconds()), items);
    whole_items_ = may_give_whole_items_ && parts.seconds(items) >= worth_parts * whole;
    if (!whole_items_) return use(parts, item);
    mapping_.reset();
    earliest_ = std::make_unique<EarliestEnd>(controllers_.size());
    earliest_->begin();
    expect_items();
}

/// Each of several controllers of one device is slower by their number.
void Pipeline::expect_items() {
    for (std::size_t i = 0; i < controllers_.size(); ++i) {
        const auto sharers = std::ranges::count(device_of_, device_of_[i]);
        earliest_->expect(i, piece_times_->seconds_of_item(firsts_[device_of_[i]]) *
                                 static_cast<double>(sharers));
    }
}

/// The expected number of items from `item` on, inclusive; nothing: a stream without end.
std::optional<std::size_t> Pipeline::items_from(std::int64_t item) const {
    if (most_ == std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    return static_cast<std::size_t>(most_ - item);
}

/// Finds parts for the items from `item` on. Converts the device numbers of map_stages to controllers.
StageMapping Pipeline::find_parts(std::int64_t item) const {
    StageMapping found = map_stages(costs(estimated_->seconds()), items_from(item));
    for (StagePart& part : found.parts) part.device = firsts_[part.device];
    return found;
}

void Pipeline::use(const StageMapping& mapping, std::int64_t item) {
    mapping_ = mapping;
    cuts_ = cuts_of(mapping);
    estimated_->use(mapping.parts, item);
    mapped_at_ = item;
    times_ = std::make_shared<PartTimes>(cuts_.size(), *times_);
}

/// If a part's time differs from the estimate, the estimates of all pieces on that device change.
Pipeline::Drift Pipeline::see_drift() {
    Drift seen{.now = *mapping_};
    seen.now.period = seen.now.latency = 0;
    for (std::size_t i = 0; i < seen.now.parts.size(); ++i) {
        StagePart& part = seen.now.parts[i];
        if (const auto took = times_->seconds(i, mapped_at_ + 1, EstimatedTimes::enough_items))
            seen.is_there |= estimated_->took(part, *took);
        part.seconds = estimated_->of(part);
        seen.now.period = std::max({seen.now.period, part.seconds, part.transfer_in});
        seen.now.latency += part.seconds + part.transfer_in;
    }
    return seen;
}

void Pipeline::follow_drift(std::int64_t item) {
    if (item - mapped_at_ < static_cast<std::int64_t>(EstimatedTimes::enough_items)) return;
    const auto [now, is_there] = see_drift();
    if (!(estimated_->forgets(item) || is_there)) return;
    const StageMapping better = find_parts(item);
    const std::size_t items = items_from(item).value_or(many);
    if (better.seconds(items) > worth_it * now.seconds(items)) return;
    log_info(fmt::format("a stream's parts are cut anew at item {}: {:.3g} s an item instead of {:.3g} s",
                         item, better.period, now.period));
    remember_parts();
    use(better, item);
    ++remapped_;
}

/// Stores the estimates of devices with parts, as the start values of later streams.
void Pipeline::remember_parts() {
    for (std::size_t i = 0; i < mapping_->parts.size(); ++i) {
        const std::size_t device = mapping_->parts[i].device;
        if (times_->seconds(i, mapped_at_ + 1, EstimatedTimes::enough_items))
            piece_times_->took(*model_, device, estimated_->of({device, 0, pieces_.size(), 0, 0}));
    }
}

} // namespace headrace
