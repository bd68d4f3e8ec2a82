// devices/cpu/instructions.hpp - the vector instructions of this processor, and those that are in use.
#pragma once
#include <headrace/core/export.hpp>

#include <cstdint>
#include <string_view>

namespace headrace {

/// Sets of vector instructions, each with all that the ones before have. `baseline`: what every processor of
/// the architecture has. `avx2`: x86-64-v3, with fused multiplication and addition. `avx512`: x86-64-v4.
enum class Instructions : std::uint8_t { baseline, avx2, avx512 };

/// The name as in HEADRACE_INSTRUCTIONS: "baseline", "avx2", "avx512".
[[nodiscard]] HEADRACE_EXPORT std::string_view name_of(Instructions instructions) noexcept;

/// The best that this processor and its operating system have. HEADRACE_INSTRUCTIONS in the environment
/// names a lesser set.
///
/// Errors: Error if HEADRACE_INSTRUCTIONS is no name of a set. A better set than the processor has is the
/// processor's best.
[[nodiscard]] HEADRACE_EXPORT Instructions best_instructions();

/// Those in use. Kernels with a batch form (batch.hpp) ask for them at each call. Threads: any.
///
/// Errors: as best_instructions().
[[nodiscard]] HEADRACE_EXPORT Instructions instructions_in_use();

/// Sets those in use, for tests and benchmarks; the processor's best, if it lacks these. Threads: any.
HEADRACE_EXPORT void use_instructions(Instructions instructions);

} // namespace headrace
