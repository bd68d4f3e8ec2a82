// internal/domains/cluster/numbers.hpp - numbers of exchanges, jobs and joins, which ranks give them alike.
// Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/cluster/transport.hpp>

#include <compare>
#include <cstdint>
#include <optional>

namespace headrace::cluster {

/// Of an exchange or job. The same on all ranks whatever comes first there: it depends on what the program
/// does, and not on when.
struct CallNumber {
    std::uint32_t generation = 0; ///< of the members, so that a message of an earlier one is known
    std::uint32_t ordinal = 0;    ///< of the calls of its kind that the submitter has made in this generation
    std::uint64_t submitter = 0;  ///< submitters.hpp

    friend auto operator<=>(const CallNumber&, const CallNumber&) = default;
};

/// Of a join: that of the job, and of a use of a domain in it.
struct JoinNumber {
    CallNumber job = {};
    std::uint64_t use = 0;

    friend auto operator<=>(const JoinNumber&, const JoinNumber&) = default;
};

/// Nothing: the message concerns all generations.
[[nodiscard]] HEADRACE_EXPORT std::optional<std::uint32_t> generation_of(const Message& message);

} // namespace headrace::cluster
