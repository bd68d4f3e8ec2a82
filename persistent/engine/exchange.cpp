// persistent/engine/exchange.cpp - how a paused engine transfers work that it has not begun, and how an
// engine begins with transferred units: docs/engine.md, "Transfer between engines".
#include "engine/engine_queues.hpp"
#include <headrace/persistent/engine.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace headrace {
namespace {

bool has_ranges(const EngineShape& shape, std::uint32_t kind) { return (shape.ranges >> kind & 1) != 0; }

/// Records on the host, one after the other as in the spill area.
class HostRecords {
public:
    HostRecords(const EngineShape& shape, std::uint64_t count)
        : shape_(shape),
          room_(hr_record_room(shape.lanes, shape.liq_units, shape.inbox_units)),
          each_(hr_record_words(shape.kinds, shape.unit_words, shape.lanes, shape.liq_units,
                                shape.inbox_units)),
          words_(count * each_) {}

    [[nodiscard]] const EngineShape& shape() const noexcept { return shape_; }
    [[nodiscard]] std::uint32_t* words() noexcept { return words_.data(); }
    [[nodiscard]] std::uint64_t count() const noexcept { return words_.size() / each_; }
    [[nodiscard]] HrRecord header(std::uint64_t number) const {
        HrRecord header;
        std::memcpy(&header, &words_[number * each_], sizeof header);
        return header;
    }
    void set_header(std::uint64_t number, const HrRecord& header) {
        std::memcpy(&words_[number * each_], &header, sizeof header);
    }
    /// The column of unit number `unit`. Word w of the unit is room() * w words further on.
    [[nodiscard]] std::uint32_t* column(std::uint64_t number, std::uint32_t kind, std::uint32_t unit) {
        return &words_[number * each_ + sizeof(HrRecord) / 4 +
                       std::uint64_t{kind} * shape_.unit_words * room_ + unit];
    }
    [[nodiscard]] std::uint32_t room() const noexcept { return room_; }
    /// Units in all records, without ranges.
    [[nodiscard]] std::uint64_t units() const {
        std::uint64_t units = 0;
        for (std::uint64_t number = 0; number < count(); ++number)
            for (std::uint32_t kind = 0; kind < shape_.kinds; ++kind)
                if (!has_ranges(shape_, kind)) units += header(number).count[kind];
        return units;
    }

    /// Moves the oldest `taken` units of a kind to `units`: most new units may come from them.
    void take_oldest(std::uint64_t number, std::uint32_t kind, std::uint32_t taken, UnitBatch& units) {
        HrRecord record = header(number);
        for (std::uint32_t unit = 0; unit < taken; ++unit) units.add(kind, column(number, kind, unit), room_);
        for (std::uint32_t word = 0; word < shape_.unit_words; ++word) {
            std::uint32_t* const row = column(number, kind, 0) + std::uint64_t{word} * room_;
            std::copy(row + taken, row + record.count[kind], row);
        }
        record.count[kind] -= taken;
        set_header(number, record);
    }
    /// Keeps the units of a kind for which `keeps` returns true, and drops the others.
    template <class Keeps>
    void drop_others(std::uint64_t number, std::uint32_t kind, const Keeps& keeps) {
        HrRecord record = header(number);
        std::uint32_t kept = 0;
        for (std::uint32_t unit = 0; unit < record.count[kind]; ++unit) {
            if (!keeps(unit)) continue;
            for (std::uint32_t word = 0; word < shape_.unit_words; ++word)
                column(number, kind, kept)[std::uint64_t{word} * room_] =
                    column(number, kind, unit)[std::uint64_t{word} * room_];
            ++kept;
        }
        record.count[kind] = kept;
        set_header(number, record);
    }
    /// Drops empty records: a group would restore them for nothing.
    void drop_empty_ones() {
        std::uint64_t kept = 0;
        for (std::uint64_t number = 0; number < count(); ++number) {
            const HrRecord record = header(number);
            const bool is_empty = record.seed_next == record.seed_end &&
                                  std::all_of(record.count, record.count + shape_.kinds,
                                              [](std::uint32_t units) { return units == 0; });
            if (is_empty) continue;
            const auto from = words_.begin() + static_cast<std::ptrdiff_t>(number * each_);
            const auto to = words_.begin() + static_cast<std::ptrdiff_t>(kept++ * each_);
            if (from != to) std::copy_n(from, each_, to);
        }
        words_.resize(kept * each_);
    }

private:
    const EngineShape shape_;
    const std::uint32_t room_;
    const std::uint64_t each_; ///< words
    std::vector<std::uint32_t> words_;
};

/// Calls f(record, kind, unit) for each range.
template <class F>
void each_range(const HostRecords& records, F&& f) {
    for (std::uint64_t number = 0; number < records.count(); ++number) {
        const HrRecord header = records.header(number);
        for (std::uint32_t kind = 0; kind < records.shape().kinds; ++kind)
            if (has_ranges(records.shape(), kind))
                for (std::uint32_t unit = 0; unit < header.count[kind]; ++unit) f(number, kind, unit);
    }
}

/// Returns the share of `units`, rounded down. The rest stays in `credit` and counts towards the next call.
std::uint32_t due(double share, std::uint32_t units, double& credit) {
    credit += share * units;
    const auto whole = std::min(units, static_cast<std::uint32_t>(credit));
    credit -= whole;
    return whole;
}

/// Returns how many records are read to transfer a share of their units: the same share of the records, the
/// last ones, and 32 more. The other records hold about as many units each, and stay where they are.
std::uint64_t looked_at_of(double share, std::uint64_t records) {
    constexpr std::uint64_t more = 32;
    return std::min(records, static_cast<std::uint64_t>(share * static_cast<double>(records)) + more);
}

/// Takes units out of the queues of a paused engine.
class UnitTransfer {
public:
    UnitTransfer(EngineQueues& queues, HrControl& image, const EngineShape& shape)
        : queues_(queues), image_(image), shape_(shape) {}

    /// See Engine::transfer.
    [[nodiscard]] UnitBatch take(double share, double least, Bytes at_most);

private:
    using Entries = EngineQueues::Entries;
    using FullBundle = EngineQueues::FullBundle;

    void take_bundles(double share, double& credit, std::uint64_t most, UnitBatch& units, Entries& entries);
    template <class Takes>
    void take_of_bundle(FullBundle& bundle, const Takes& takes, Entries& entries);

    EngineQueues& queues_;
    HrControl& image_;
    const EngineShape& shape_;
};

UnitBatch UnitTransfer::take(double share, double least, Bytes at_most) {
    UnitBatch units(shape_.kinds, shape_.unit_words, shape_.ranges);
    queues_.carry_records_on();
    const std::uint64_t all = image_.saved.value, looked_at = looked_at_of(share, all),
                        first = all - looked_at;
    // Number of all records for each record that is read.
    const double of_all =
        static_cast<double>(all) / static_cast<double>(std::max<std::uint64_t>(looked_at, 1));
    HostRecords records(shape_, looked_at);
    if (looked_at > 0) queues_.read_records(image_.spill_half ^ 1u, first, records.words(), looked_at);
    Entries entries;
    if (queues_.bundles() > 0) entries = queues_.read_rings();
    std::vector<FullBundle> range_bundles;
    for (std::uint32_t kind = 0; kind + 1 < entries.size(); ++kind)
        if (has_ranges(shape_, kind))
            for (const std::uint64_t entry : entries[kind]) range_bundles.push_back({kind, entry, {}});
    queues_.read_bundles(range_bundles);

    // The sizes of all ranges that were read: first those in bundles, then those in records.
    std::vector<std::uint64_t> sizes;
    double in_ranges = 0;
    for (FullBundle& bundle : range_bundles)
        for (std::uint32_t unit = 0; unit < hr_entry_count(bundle.entry); ++unit) {
            sizes.push_back(RangeWords(&bundle.words[unit], shape_.lanes).size());
            in_ranges += static_cast<double>(sizes.back());
        }
    each_range(records, [&](std::uint64_t number, std::uint32_t kind, std::uint32_t unit) {
        sizes.push_back(RangeWords(records.column(number, kind, unit), records.room()).size());
        in_ranges += of_all * static_cast<double>(sizes.back());
    });

    double held = in_ranges + of_all * static_cast<double>(records.units());
    for (std::uint32_t kind = 0; kind + 1 < entries.size(); ++kind)
        if (!has_ranges(shape_, kind))
            for (const std::uint64_t entry : entries[kind]) held += hr_entry_count(entry);
    if (share * held < least) return units;

    const Entries before = entries;
    double credit = 0;
    const auto most = static_cast<std::uint64_t>(share * static_cast<double>(image_.pending.value));
    const std::uint64_t most_stored = at_most / (Bytes{4} * shape_.unit_words);
    const auto may_take = [&] {
        return std::min(most - std::min(most, units.size()),
                        most_stored - std::min(most_stored, units.stored()));
    };
    if (queues_.bundles() > 0) take_bundles(share, credit, may_take(), units, entries);
    for (std::uint64_t number = 0; number < records.count(); ++number)
        for (std::uint32_t kind = 0; kind < shape_.kinds; ++kind) {
            if (has_ranges(shape_, kind)) continue;
            const std::uint64_t wanted = due(share * of_all, records.header(number).count[kind], credit);
            const std::uint64_t taken = std::min(wanted, may_take());
            records.take_oldest(number, kind, static_cast<std::uint32_t>(taken), units);
        }

    std::uint64_t in_those_read = 0;
    for (const std::uint64_t size : sizes) in_those_read += size;
    const std::uint64_t of_ranges = std::min(
        {static_cast<std::uint64_t>(share * in_ranges), most - std::min(most, units.size()), in_those_read});
    const std::vector<std::uint64_t> taken = deal_ranges(sizes, of_ranges);
    std::size_t next = 0;
    // True if nothing of the range is left.
    const auto take_of_range = [&](std::uint32_t kind, std::uint32_t* words, std::uint64_t stride) {
        const std::uint64_t part = taken[next], size = sizes[next];
        ++next;
        if (part == 0 || units.stored() >= most_stored) return false;
        if (part < size)
            units.add_end_of(kind, words, stride, part);
        else
            units.add(kind, words, stride);
        return part == size;
    };
    for (FullBundle& bundle : range_bundles) take_of_bundle(bundle, take_of_range, entries);
    for (std::uint64_t number = 0; number < records.count(); ++number)
        for (std::uint32_t kind = 0; kind < shape_.kinds; ++kind)
            if (has_ranges(shape_, kind))
                records.drop_others(number, kind, [&](std::uint32_t unit) {
                    return !take_of_range(kind, records.column(number, kind, unit), records.room());
                });
    if (entries != before) queues_.write_rings(entries);

    records.drop_empty_ones();
    if (records.count() > 0)
        queues_.write_records(image_.spill_half ^ 1u, first, records.words(), records.count());
    image_.saved.value = first + records.count();
    image_.pending.value -= units.size();
    return units;
}

/// Takes whole bundles of the GIQ, which are then empty. Takes at most `most` units, and no ranges.
void UnitTransfer::take_bundles(double share, double& credit, std::uint64_t most, UnitBatch& units,
                                Entries& entries) {
    std::vector<FullBundle> taken;
    for (std::uint32_t kind = 0; kind < shape_.kinds; ++kind) {
        if (has_ranges(shape_, kind)) continue;
        std::erase_if(entries[kind], [&](std::uint64_t entry) {
            const std::uint32_t count = hr_entry_count(entry);
            credit += share * count;
            if (credit < count || most < count) return false;
            credit -= count;
            most -= count;
            taken.push_back({kind, entry, {}});
            return true;
        });
    }
    queues_.read_bundles(taken);
    for (const FullBundle& one : taken) {
        for (std::uint32_t unit = 0; unit < hr_entry_count(one.entry); ++unit)
            units.add(one.kind, &one.words[unit], shape_.lanes);
        entries.back().push_back(hr_entry_bundle(one.entry));
    }
}

/// Removes from a bundle of ranges what `takes` takes. The entries then say what is left.
template <class Takes>
void UnitTransfer::take_of_bundle(FullBundle& bundle, const Takes& takes, Entries& entries) {
    const std::vector<std::uint32_t> before = bundle.words;
    std::uint32_t kept = 0;
    for (std::uint32_t unit = 0; unit < hr_entry_count(bundle.entry); ++unit) {
        if (takes(bundle.kind, &bundle.words[unit], shape_.lanes)) continue;
        for (std::uint32_t word = 0; word < shape_.unit_words; ++word)
            bundle.words[word * shape_.lanes + kept] = bundle.words[word * shape_.lanes + unit];
        ++kept;
    }
    if (bundle.words == before && kept == hr_entry_count(bundle.entry)) return;
    const std::uint32_t number = hr_entry_bundle(bundle.entry);
    auto& of_kind = entries[bundle.kind];
    const auto entry = std::ranges::find(of_kind, bundle.entry);
    if (kept == 0) {
        of_kind.erase(entry);
        entries.back().push_back(number);
        return;
    }
    *entry = hr_entry(number, kept);
    queues_.write_bundle(number, bundle.words);
}

/// The records that groups would have saved with these units. Uses as few groups as they fill, or more if
/// each would hold too many. `room`: units that all groups hold.
HostRecords records_of(const UnitBatch& units, const EngineShape& shape, std::uint64_t room) {
    const std::uint64_t stored = units.stored();
    const std::uint64_t groups = shape.groups, in_group = room / groups;
    const std::uint64_t filled = (stored + shape.lanes - 1) / shape.lanes;
    const std::uint64_t least = (stored + in_group - 1) / in_group;
    HostRecords records(shape, std::min<std::uint64_t>(std::max(filled, least), groups));
    std::uint64_t next = 0;
    std::vector<HrRecord> headers(records.count(), HrRecord{});
    for (std::uint32_t kind = 0; kind < shape.kinds; ++kind)
        for (std::uint64_t unit = 0; unit < units.stored(kind); ++unit) {
            const std::uint64_t number = next++ % records.count();
            const std::uint32_t* const from = units.unit(kind, unit);
            std::uint32_t* const to = records.column(number, kind, headers[number].count[kind]++);
            for (std::uint32_t word = 0; word < shape.unit_words; ++word)
                to[std::uint64_t{word} * records.room()] = from[word];
        }
    for (std::uint64_t number = 0; number < records.count(); ++number)
        records.set_header(number, headers[number]);
    return records;
}

} // namespace

SeedRange Engine::unclaimed() const {
    HEADRACE_ASSERT(!running_);
    return {std::min(image_->seed_cursor.value, image_->seed_end), image_->seed_end};
}

void Engine::give_back(std::uint64_t from) {
    HEADRACE_ASSERT(laid_out_ && unclaimed().next <= from && from <= image_->seed_end);
    image_->pending.value -= image_->seed_end - from;
    image_->seed_end = from;
}

UnitBatch Engine::transfer(double share, std::uint64_t at_least, Bytes at_most) {
    HEADRACE_ASSERT(!running_ && laid_out_ && share >= 0 && share <= 1);
    const double least = static_cast<double>(std::max<std::uint64_t>(at_least, 1));
    if (shape_.kinds == 0 || share * static_cast<double>(remaining()) < least)
        return {shape_.kinds, shape_.unit_words, shape_.ranges};
    return UnitTransfer(*queues_, *image_, shape_).take(share, least, at_most);
}

Event Engine::start(const UnitBatch& units, std::span<const Event> after) {
    const auto like = [](std::uint32_t kinds, std::uint32_t words) {
        return std::to_string(kinds) + " kinds of at most " + std::to_string(words) + " words";
    };
    if (units.kinds() != shape_.kinds || units.unit_words() != shape_.unit_words)
        throw Error{ErrorKind::invalid_argument, "work units of " + like(units.kinds(), units.unit_words()) +
                                                     " were given to a kernel whose units are of " +
                                                     like(shape_.kinds, shape_.unit_words)}
            .on_device(device_.info().id);
    if (units.ranges() != shape_.ranges)
        throw Error{ErrorKind::invalid_argument,
                    "work units were given to a kernel of which other kinds are ranges"}
            .on_device(device_.info().id);
    begin_at(0, 0);
    put_into_records(units);
    is_opened_ = false;
    return launch(after);
}

std::uint64_t Engine::room(const UnitBatch& units) const {
    // A batch that is split stores at most as many units as it counts.
    return units.stored() <= room() ? units.size() : room();
}

std::uint64_t Engine::room() const noexcept {
    // Units of any kind that a group can hold: as many as a LIQ, or one per lane if there is no LIQ.
    const std::uint32_t in_group = shape_.liq_units != 0 ? shape_.liq_units : shape_.lanes;
    return shape_.kinds == 0 ? 0 : std::uint64_t{shape_.groups} * in_group;
}

void Engine::put_into_records(const UnitBatch& units) {
    if (units.stored() == 0) return;
    HEADRACE_ASSERT(units.stored() <= room());
    HostRecords records = records_of(units, shape_, room());
    queues_->write_records(image_->spill_half, 0, records.words(), records.count());
    image_->spill_count = static_cast<std::uint32_t>(records.count());
    image_->pending.value = units.size();
}

} // namespace headrace
