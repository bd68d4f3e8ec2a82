// persistent/engine/engine_queues.cpp - see engine_queues.hpp.
#include "engine/engine_queues.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace headrace {
namespace {

constexpr std::uint32_t seed_chunk = 512; // amortises the claim: at least 8 rounds of a group of 64

/// Chooses the number of rings of each kind. One ring gives 18 G units/s under all lane groups of an H200,
/// eight rings 53 G units/s (bench/queues). Few groups need only one.
std::uint32_t choose_ways(std::uint32_t groups) {
    return std::bit_floor(std::clamp(groups / 4, 1u, HR_MAX_WAYS));
}

/// Slots of each ring. Several rings have twice the room that all bundles need, because one ring may get more
/// than its share.
std::uint32_t choose_ring_slots(std::uint32_t bundles, std::uint32_t ways) {
    return std::bit_ceil(std::max(2u, ways == 1 ? bundles : 2 * bundles / ways));
}

} // namespace

void EngineQueues::lay_out(const EngineShape& shape, std::uint32_t bundles) {
    shape_ = shape;
    const bool queues = shape_.beyond_continuation() > 0;
    const bool first = !control_;
    if (first) {
        bundles_ = !queues ? 0 : bundles != 0 ? bundles : std::max(64u, 4 * shape_.groups);
        slots_.reset(); // before the new ones: memory may not suffice for both
        bundle_words_.reset();
        spill_.reset();
        spill_ = device_.allocate(record_at(2, 0) + inbox_bytes());
        bundle_words_ = device_.allocate(
            std::max<Bytes>(64, 4 * hr_bundle_at(bundles_, shape_.lanes, shape_.unit_words)));
        control_ = device_.allocate(sizeof(HrControl));
    }
    Entries entries(shape_.kinds + 1);
    for (std::uint32_t bundle = 0; bundle < bundles_; ++bundle) entries.back().push_back(bundle);

    const HrCounters counters = image_.counters;
    image_ = HrControl{};
    image_.counters = counters;
    image_.groups = shape_.groups;
    image_.lanes = shape_.lanes;
    image_.kinds = shape_.kinds;
    image_.unit_words = shape_.unit_words;
    image_.liq_units = shape_.liq_units;
    image_.inbox_units = shape_.inbox_units;
    image_.seed_chunk = std::max(seed_chunk, shape_.lanes);
    image_.ways = choose_ways(shape_.groups);
    image_.enough = shape_.enough;
    write_rings(entries);
    const std::vector<std::uint32_t> spares(shape_.groups, HR_NO_BUNDLE);
    stream_.copy_in(*spill_, 0, spares.data(), 4 * spares.size()).wait();
}

Bytes EngineQueues::ring_bytes(std::uint32_t bundles) const {
    const std::uint32_t ways = image_.ways;
    const Bytes slots = Bytes{shape_.kinds + 1} * ways * choose_ring_slots(bundles, ways);
    return (hr_slots_at(shape_.kinds, ways) + slots) * sizeof(HrSlot);
}

void EngineQueues::write_rings(const Entries& entries) {
    const std::uint32_t ways = image_.ways;
    const std::uint32_t ring_slots = choose_ring_slots(bundles_, ways);
    const Bytes first_slot = hr_slots_at(shape_.kinds, ways);
    std::vector<HrTickets> tickets(entries.size() * ways, HrTickets{});
    std::vector<HrSlot> slots(tickets.size() * ring_slots);
    for (std::size_t ring = 0; ring < tickets.size(); ++ring) {
        const auto& values = entries[ring / ways];
        for (std::size_t i = 0; i < ring_slots; ++i) {
            const std::size_t value = i * ways + ring % ways;
            const bool is_full = value < values.size();
            slots[ring * ring_slots + i] = is_full ? HrSlot{i + 1, values[value]} : HrSlot{i, 0};
            ++(is_full ? tickets[ring].full : tickets[ring].room).value;
            tickets[ring].tail.value += is_full ? 1 : 0;
        }
    }
    image_.ring_slots = ring_slots;
    image_.bundles = bundles_;
    const Bytes bytes = ring_bytes(bundles_);
    if (!slots_ || slots_->size() < bytes) {
        slots_.reset();
        slots_ = device_.allocate(bytes);
    }
    stream_.copy_in(*slots_, 0, tickets.data(), tickets.size() * sizeof(HrTickets)).wait();
    stream_.copy_in(*slots_, first_slot * sizeof(HrSlot), slots.data(), slots.size() * sizeof(HrSlot)).wait();
}

EngineQueues::Entries EngineQueues::read_rings() {
    const std::uint32_t ring_slots = image_.ring_slots;
    std::vector<HrTickets> tickets(std::size_t{shape_.kinds + 1} * image_.ways);
    std::vector<HrSlot> slots(tickets.size() * ring_slots);
    const Bytes first_slot = hr_slots_at(shape_.kinds, image_.ways) * sizeof(HrSlot);
    stream_.copy_out(tickets.data(), *slots_, 0, tickets.size() * sizeof(HrTickets)).wait();
    stream_.copy_out(slots.data(), *slots_, first_slot, slots.size() * sizeof(HrSlot)).wait();
    Entries entries(shape_.kinds + 1);
    for (std::size_t ring = 0; ring < tickets.size(); ++ring)
        for (std::uint64_t ticket = tickets[ring].head.value; ticket != tickets[ring].tail.value; ++ticket)
            entries[ring / image_.ways].push_back(
                slots[ring * ring_slots + (ticket & (ring_slots - 1))].value);
    return entries;
}

void EngineQueues::grow() {
    Entries entries = read_rings();
    if (bundles_ >= 1u << 30)
        throw Error{ErrorKind::out_of_memory, "the pool of bundles cannot grow any more"}.on_device(
            device_.info().id);
    const Bytes old_bytes = 4 * hr_bundle_at(bundles_, shape_.lanes, shape_.unit_words);
    auto larger = device_.allocate(2 * old_bytes);
    slots_ = device_.allocate(ring_bytes(2 * bundles_)); // the old ones have been read
    stream_.copy_peer(*larger, 0, *bundle_words_, 0, old_bytes).wait();
    bundle_words_ = std::move(larger);
    for (std::uint32_t bundle = bundles_; bundle < 2 * bundles_; ++bundle) entries.back().push_back(bundle);
    bundles_ *= 2;
    write_rings(entries);
}

void EngineQueues::read_bundles(std::vector<FullBundle>& bundles) {
    constexpr std::uint64_t few = 8;
    std::ranges::sort(bundles, {}, [](const FullBundle& one) { return hr_entry_bundle(one.entry); });
    const std::uint64_t each = hr_bundle_at(1, shape_.lanes, shape_.unit_words);
    const auto bundle = [&](std::size_t i) { return hr_entry_bundle(bundles[i].entry); };
    std::vector<std::uint32_t> words;
    for (std::size_t begin = 0, end = 0; begin < bundles.size(); begin = end) {
        for (end = begin + 1; end < bundles.size() && bundle(end) - bundle(end - 1) <= few;) ++end;
        words.resize((bundle(end - 1) - bundle(begin) + 1) * each);
        stream_.copy_out(words.data(), *bundle_words_, 4 * each * bundle(begin), 4 * words.size()).wait();
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t* const first = &words[(bundle(i) - bundle(begin)) * each];
            bundles[i].words.assign(first, first + each);
        }
    }
}

void EngineQueues::write_bundle(std::uint32_t number, const std::vector<std::uint32_t>& words) {
    stream_.copy_in(*bundle_words_, bundle_at(number), words.data(), 4 * words.size()).wait();
}

Bytes EngineQueues::bundle_at(std::uint32_t bundle) const {
    return 4 * hr_bundle_at(bundle, shape_.lanes, shape_.unit_words);
}

Bytes EngineQueues::record_bytes() const noexcept {
    return 4 * hr_record_words(shape_.kinds, shape_.unit_words, shape_.lanes, shape_.liq_units,
                               shape_.inbox_units);
}

Bytes EngineQueues::inbox_bytes() const noexcept {
    return Bytes{4} * shape_.groups * shape_.inbox_units * shape_.inbox_words;
}

/// Position of a record in `spill_`. Half number 2 begins at the end of `spill_`.
Bytes EngineQueues::record_at(std::uint64_t half, std::uint64_t number) const noexcept {
    return 4 * hr_spill_records_at(shape_.groups) + (half * shape_.groups + number) * record_bytes();
}

void EngineQueues::carry_records_on() {
    std::uint64_t& saved = image_.saved.value;
    const std::uint64_t count = image_.spill_count;
    const std::uint64_t taken = std::min<std::uint64_t>(image_.restored.value, count);
    const std::uint64_t left = count - taken;
    HEADRACE_ASSERT(saved + left <= shape_.groups);
    if (left == 0) return;
    stream_
        .copy_peer(*spill_, record_at(image_.spill_half ^ 1u, saved), *spill_,
                   record_at(image_.spill_half, taken), left * record_bytes())
        .wait();
    saved += left;
    image_.spill_count = static_cast<std::uint32_t>(taken);
}

void EngineQueues::read_records(std::uint64_t half, std::uint64_t first, std::uint32_t* words,
                                std::uint64_t count) {
    stream_.copy_out(words, *spill_, record_at(half, first), count * record_bytes()).wait();
}

void EngineQueues::write_records(std::uint64_t half, std::uint64_t first, const std::uint32_t* words,
                                 std::uint64_t count) {
    stream_.copy_in(*spill_, record_at(half, first), words, count * record_bytes()).wait();
}

Bytes EngineQueues::bytes() const noexcept {
    Bytes sum = 0;
    for (const Memory* memory : {slots_.get(), bundle_words_.get(), spill_.get()})
        if (memory) sum += memory->size();
    return sum;
}

} // namespace headrace
