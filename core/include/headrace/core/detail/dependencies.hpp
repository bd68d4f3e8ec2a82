// core/detail/dependencies.hpp - which request waits for which earlier one on the same datum: two tables, no
// state.
//
// A datum has a host replica and one replica per controller. A request reads or writes one replica. A
// transfer reads one replica and writes another. If two requests use the same replica and one of them writes,
// they run in the order of submission.
#pragma once
#include <headrace/core/export.hpp>

#include <array>
#include <cstdint>

namespace headrace {

/// A replica of a datum: 0 is the host's, the others belong to the controllers that hold the datum.
using ReplicaNumber = std::uint32_t;
inline constexpr ReplicaNumber host_replica = 0;

enum class RequestKind : std::uint8_t {
    kernel_in,   ///< a kernel reads its controller's replica
    kernel_out,  ///< a kernel writes it (and may read it)
    host_in,     ///< a host task, or a kernel that works in place on host memory, reads the host replica
    host_out,    ///< ... writes it (and may read it)
    to_device,   ///< host replica -> controller's replica
    from_device, ///< controller's replica -> host replica
    peer_out,    ///< the reading half of a copy from one controller's replica to another's
    peer_in,     ///< the writing half
    release,     ///< frees replicas
    wait,
};
inline constexpr std::array all_request_kinds{
    RequestKind::kernel_in, RequestKind::kernel_out,  RequestKind::host_in,  RequestKind::host_out,
    RequestKind::to_device, RequestKind::from_device, RequestKind::peer_out, RequestKind::peer_in,
    RequestKind::release,   RequestKind::wait};

/// One request on one datum. `replica` identifies the controller; for `host_in` and `host_out`: host_replica.
struct Request {
    RequestKind kind;
    ReplicaNumber replica = host_replica;
    friend constexpr bool operator==(const Request&, const Request&) = default;
};

/// True if `later` must wait for the unfinished `earlier`.
///
/// Source  S. Alonso Pascual, "Modelo de ejecución y sincronización en múltiples dispositivos heterogéneos",
///         master's thesis, A Coruña 2023, sec. 4.2. Differs in: peer copies, which are not in the thesis,
///         wait for all conflicts on both device replicas, because nothing else orders them (see the .cpp)
[[nodiscard]] HEADRACE_EXPORT bool waits_for(const Request& later, const Request& earlier) noexcept;

/// True if `older` can be forgotten when `newer` is recorded: `newer` ends after `older`, and each request
/// that would wait for `older` also waits for `newer`. `same_lane`: both run on one in-order stream. Derived
/// from `waits_for`.
[[nodiscard]] HEADRACE_EXPORT bool replaces(const Request& newer, const Request& older,
                                            bool same_lane) noexcept;

} // namespace headrace
