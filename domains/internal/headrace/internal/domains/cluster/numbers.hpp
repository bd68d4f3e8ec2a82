// internal/domains/cluster/numbers.hpp - numbers of exchanges, jobs and joins, which ranks give them alike.
// Internal to domains/.
//
// Each begins with the generation of its members, so that a message of an earlier generation is known. The
// number of a join, its key, begins with that of a job.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/cluster/transport.hpp>

#include <cstdint>
#include <optional>

namespace headrace::cluster {

/// The first exchange or job of a generation.
[[nodiscard]] HEADRACE_EXPORT std::uint64_t first_of(std::uint64_t generation);
/// Of an exchange or job.
[[nodiscard]] HEADRACE_EXPORT std::uint64_t generation_of(std::uint64_t number);

/// `number`: of the join, among those of the job.
[[nodiscard]] HEADRACE_EXPORT std::uint64_t key_of_join(std::uint64_t job, std::uint64_t number);
[[nodiscard]] HEADRACE_EXPORT std::uint64_t generation_of_join(std::uint64_t key);

/// Nothing: the message concerns all generations.
[[nodiscard]] HEADRACE_EXPORT std::optional<std::uint64_t> generation_of(const Message& message);

} // namespace headrace::cluster
