// domains/data/joining.cpp - the common part of all ways of joining, and sums: see joining.hpp.
#include "data/replica_reader.hpp"
#include "data/summation.hpp"
#include <headrace/core/controller.hpp>
#include <headrace/domains/detail/joining.hpp>
#include <headrace/domains/domain.hpp>

#include <bit>
#include <cstring>
#include <vector>

namespace headrace {

Bytes Joining::replica_bytes(const DomainData& data, const DeviceInfo&) const { return data.bytes(); }

void Joining::write_unwritten(const DomainData&, std::byte* on_host, Bytes begin, Bytes end) const {
    std::memset(on_host + begin, 0, end - begin);
}

SumLayout sum_layout(const DeviceInfo& device, Bytes bytes) noexcept {
    // In larger domains threads rarely use one element at the same time, and slots have to be zeroed.
    constexpr Bytes most_bytes = 512, line = 64;
    if (device.technology != "cpu" || bytes > most_bytes || device.compute_units < 2) return {1, 0};
    return {std::bit_ceil(2 * device.compute_units),
            static_cast<std::uint32_t>((bytes + line - 1) / line * line)};
}

namespace {

class SumJoining final : public Joining {
public:
    [[nodiscard]] Bytes replica_bytes(const DomainData& data, const DeviceInfo& device) const override {
        const SumLayout layout = sum_layout(device, data.bytes());
        return layout.slots == 1 ? data.bytes() : Bytes{layout.slots} * layout.slot_bytes;
    }
    [[nodiscard]] std::string_view declaration() const noexcept override { return "accumulates"; }
    [[nodiscard]] std::string_view view() const noexcept override { return "sum"; }
    [[nodiscard]] Event begin(DomainData&, Memory& replica, Stream& stream) const override {
        return stream.fill_zero(replica, 0, replica.size());
    }
    void join(DomainData& data, const JoinedReplicas& joined, bool& is_mixed) const override {
        Summation summation(data.bytes(), data.element_size(), data.numbers());
        std::vector<std::byte> in_slots; // sums from slots; empty: there are none
        bool are_all_in_slots = true;
        for (const Replica* const replica : joined.replicas) {
            const SumLayout layout = sum_layout(replica->device->info(), data.bytes());
            if (layout.slots > 1) {
                in_slots.resize(data.bytes()); // zeroes, at first
                add_slots(in_slots, data, *replica, layout);
            } else {
                summation.include(*replica);
                are_all_in_slots = false;
            }
        }
        try {
            if (!are_all_in_slots)
                summation.into(joined.on_host, joined.is_blank);
            else if (joined.is_blank)
                write_unwritten(data, joined.on_host, 0, data.bytes());
        } catch (...) {
            is_mixed = summation.has_mixed();
            throw;
        }
        data.numbers().add(joined.on_host, in_slots.data(), in_slots.size());
    }

private:
    static void add_slots(std::vector<std::byte>& sums, const DomainData& data, const Replica& replica,
                          const SumLayout& layout) {
        const std::vector<std::byte> slots = contents_of(replica, Bytes{layout.slots} * layout.slot_bytes);
        for (std::uint32_t slot = 0; slot < layout.slots; ++slot)
            data.numbers().add(sums.data(), slots.data() + Bytes{slot} * layout.slot_bytes, data.bytes());
    }
};

} // namespace

const Joining& joins_sums() noexcept {
    static const SumJoining joining;
    return joining;
}

} // namespace headrace
