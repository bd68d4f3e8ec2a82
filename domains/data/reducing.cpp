// domains/data/reducing.cpp - see reducing.hpp.
#include "data/number_joining.hpp"
#include "data/replica_reader.hpp"
#include <headrace/core/controller.hpp>
#include <headrace/domains/detail/reducing.hpp>
#include <headrace/domains/domain.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headrace {

OperationJoining::OperationJoining(std::string_view operation)
    : declaration_("reduces<" + std::string(operation) + ">"),
      view_("reduce<" + std::string(operation) + ">") {}

ReductionJoining::ReductionJoining(Combine combine, Pattern identity, bool has_slots,
                                   std::string_view operation)
    : OperationJoining(operation), combine_(combine), identity_(identity), has_slots_(has_slots) {}

Bytes ReductionJoining::replica_bytes(const DomainData& data, const DeviceInfo& device) const {
    return has_slots_ ? bytes_in_slots(data, device) : data.bytes();
}

Event ReductionJoining::begin(DomainData&, Memory& replica, Stream& stream) const {
    return stream.fill(replica, 0, replica.size(), identity_);
}

void ReductionJoining::join(DomainData& data, const JoinedReplicas& joined, bool& is_mixed) const {
    // Devices cannot combine by this operation: the host combines all replicas, piece by piece.
    join_numbers(data, joined, {{combine_, NumberType::none}, identity_, has_slots_}, is_mixed);
}

void ReductionJoining::write_unwritten(const DomainData&, std::byte* on_host, Bytes begin, Bytes end) const {
    identity_.write(on_host + begin, end - begin);
}

namespace {

constexpr Bytes largest_domain = 4096;     // that is reduced in slots
constexpr Bytes largest_slots = 256 << 20; // of a device

/// Upper limit of the lanes that a multiprocessor of any GPU runs at once.
constexpr std::uint64_t lanes_per_multiprocessor = 2560;
/// So many that a thread finds a free entry at once, even with more threads than cores.
constexpr std::uint64_t slots_per_core = 16;

} // namespace

SlotLayout slot_layout(const DeviceInfo& device, std::uint64_t elements, Bytes place_bytes) {
    const bool is_cpu = device.kind == DeviceKind::cpu;
    // A processor's cores must not share cache lines; a GPU's lanes may.
    const Bytes slot_bytes = round_up(elements * place_bytes, is_cpu ? 64 : 16);
    const std::uint64_t wanted = device.compute_units * (is_cpu ? slots_per_core : lanes_per_multiprocessor);
    return {std::max<std::uint64_t>(1, std::min(wanted, largest_slots / slot_bytes)), slot_bytes};
}

void expect_fit_for_slots(const DomainData& data) {
    if (data.bytes() <= largest_domain) return;
    throw Error{ErrorKind::invalid_argument,
                fmt::format("domain '{}' has {} bytes: elements of {} bytes can be reduced in domains of at "
                            "most {} bytes, because each lane keeps partial results of its own",
                            data.name(), data.bytes(), data.element_size(), largest_domain)};
}

SlotJoining::SlotJoining(Combine combine, std::vector<std::byte> identity, Bytes place_bytes,
                         std::string_view operation)
    : OperationJoining(operation),
      combine_(combine),
      identity_(std::move(identity)),
      place_bytes_(place_bytes) {}

Bytes SlotJoining::replica_bytes(const DomainData& data, const DeviceInfo& device) const {
    return slot_layout(device, data.extent().size(), place_bytes_).bytes();
}

Event SlotJoining::begin(DomainData&, Memory& replica, Stream& stream) const {
    static_assert(detail::place_is_empty == 0);
    return stream.fill_zero(replica, 0, replica.size());
}

void SlotJoining::join(DomainData& data, const JoinedReplicas& joined, bool&) const {
    // The host replica stays unchanged until all replicas have come.
    std::vector<std::byte> values(joined.on_host, joined.on_host + data.bytes());
    if (joined.is_blank) write_unwritten(data, values.data(), 0, data.bytes());
    for (const Replica* const replica : joined.replicas) {
        const Device& device = *replica->device;
        const SlotLayout layout = slot_layout(device.info(), data.extent().size(), place_bytes_);
        const std::vector<std::byte> slots = contents_of(*replica, layout.bytes());
        for (std::uint64_t slot = 0; slot < layout.slots; ++slot)
            combine_(values.data(), slots.data() + slot * layout.slot_bytes, data.extent().size());
    }
    std::ranges::copy(values, joined.on_host);
}

void SlotJoining::write_unwritten(const DomainData&, std::byte* on_host, Bytes begin, Bytes end) const {
    for (Bytes at = begin; at < end; ++at) on_host[at] = identity_[at % identity_.size()];
}

} // namespace headrace
