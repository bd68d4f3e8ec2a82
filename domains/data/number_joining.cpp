// domains/data/number_joining.cpp - see number_joining.hpp.
#include "data/number_joining.hpp"
#include "data/replica_reader.hpp"
#include "data/summation.hpp"

#include <bit>
#include <cstdint>
#include <vector>

namespace headrace {
namespace {

// In larger domains lanes rarely use one element at the same time, and slots have to be filled and joined.
constexpr Bytes most_in_slots = 512;     // of a domain
constexpr Bytes slots_of_gpu = 32 << 10; // together: a copy of them costs little more than one of a word
constexpr Bytes cache_line = 64, longest_word = 8;

/// Combines all slots of a replica with `values`, which are elements of the domain.
void combine_slots(std::vector<std::byte>& values, const Replica& replica, const detail::LaneSlots& slots,
                   const DomainData::Numbers& numbers) {
    const std::vector<std::byte> all = contents_of(replica, Bytes{slots.count()} * slots.bytes);
    for (std::uint32_t slot = 0; slot < slots.count(); ++slot)
        numbers.add(values.data(), all.data() + Bytes{slot} * slots.bytes, values.size());
}

} // namespace

detail::LaneSlots lane_slots(const DeviceInfo& device, Bytes bytes) noexcept {
    if (bytes > most_in_slots || bytes == 0) return {};
    if (device.technology == "cpu" && device.compute_units > 1)
        return {std::bit_ceil(2 * device.compute_units) - 1,
                static_cast<std::uint32_t>(round_up(bytes, cache_line))};
    if (device.technology == "cuda" || device.technology == "hip") {
        const Bytes slot = round_up(bytes, longest_word);
        return {static_cast<std::uint32_t>(std::bit_floor(slots_of_gpu / slot)) - 1,
                static_cast<std::uint32_t>(slot)};
    }
    return {}; // kernels of OpenCL know of no slots
}

Bytes bytes_in_slots(const DomainData& data, const DeviceInfo& device) {
    const detail::LaneSlots slots = lane_slots(device, data.bytes());
    return slots.last == 0 ? data.bytes() : Bytes{slots.count()} * slots.bytes;
}

void join_numbers(DomainData& data, const JoinedReplicas& joined, const NumberJoining& how, bool& is_mixed) {
    Summation summation(data.bytes(), data.element_size(), how.numbers);
    std::vector<std::byte> of_slots; // empty: there are none
    bool are_all_in_slots = true;
    for (const Replica* const replica : joined.replicas) {
        const detail::LaneSlots slots =
            how.has_slots ? lane_slots(replica->device->info(), data.bytes()) : detail::LaneSlots{};
        if (slots.last == 0) {
            summation.include(*replica);
            are_all_in_slots = false;
            continue;
        }
        if (of_slots.empty()) {
            of_slots.resize(data.bytes());
            how.identity.write(of_slots.data(), of_slots.size());
        }
        combine_slots(of_slots, *replica, slots, how.numbers);
    }
    try {
        if (!are_all_in_slots)
            summation.into(joined.on_host, joined.is_blank);
        else if (joined.is_blank)
            how.identity.write(joined.on_host, data.bytes());
    } catch (...) {
        is_mixed = summation.has_mixed();
        throw;
    }
    how.numbers.add(joined.on_host, of_slots.data(), of_slots.size());
}

} // namespace headrace
