// domains/data/number_joining.hpp - joins private replicas of numbers, also those in which lanes have slots
// of their own. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/core/pattern.hpp>
#include <headrace/domains/detail/joining.hpp>
#include <headrace/domains/domain.hpp>

namespace headrace {

constexpr Bytes round_up(Bytes bytes, Bytes to) { return (bytes + to - 1) / to * to; }

/// Size of a private replica with the slots that `lane_slots` says.
[[nodiscard]] HEADRACE_EXPORT Bytes bytes_in_slots(const DomainData& data, const DeviceInfo& device);

/// What a way of joining does with numbers.
struct NumberJoining {
    DomainData::Numbers numbers;
    Pattern identity = {}; ///< changes no number
    bool has_slots;        ///< replicas have the slots that `lane_slots` says
};

/// Joining::join. Errors: a device's.
HEADRACE_EXPORT void join_numbers(DomainData& data, const JoinedReplicas& joined, const NumberJoining& how,
                                  bool& is_mixed);

} // namespace headrace
