// domains/execution/footprint.hpp - what a job takes of a device's memory. Private to domains/.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/storage.hpp>
#include <headrace/domains/job.hpp>

#include <string>
#include <vector>

namespace headrace {

/// The elements of `use` that a task of the job with these work units touches. Throws invalid_argument if the
/// user's callback names some beyond the end.
[[nodiscard]] HEADRACE_EXPORT IndexRange elements_of(const Job::Use& use, IndexRange units);

/// What a device must hold for the task, by domain: its parts of them in windows, else all of each. Replicas
/// that are joined afterwards are not among them.
[[nodiscard]] HEADRACE_EXPORT std::vector<Tile> data_of(const Job& job, IndexRange units, bool in_windows);

/// With replicas.
[[nodiscard]] HEADRACE_EXPORT Bytes footprint(const Job& job, const DeviceInfo& device, IndexRange units,
                                              bool in_windows);

/// Tasks can be given windows of their own.
[[nodiscard]] HEADRACE_EXPORT bool can_use_windows(const Job& job, const DeviceInfo& device);

/// The device holds all of the job's domains at once. Else it does tasks that are small enough, in windows.
[[nodiscard]] HEADRACE_EXPORT bool fits_whole(const Job& job, const DeviceInfo& device);

/// Why not even the smallest task fits; empty: it does.
[[nodiscard]] HEADRACE_EXPORT std::string why_too_large(const Job& job, const DeviceInfo& device);

/// So much of a device's memory do windows take: the rest is for queues, and for what drivers need.
[[nodiscard]] constexpr Bytes most_in_windows(const DeviceInfo& device) { return device.memory / 4 * 3; }

} // namespace headrace
