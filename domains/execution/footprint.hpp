// domains/execution/footprint.hpp - how much of a device's memory a job needs. Internal to domains/.
#pragma once
#include <headrace/core/device.hpp>
#include <headrace/core/export.hpp>
#include <headrace/core/storage.hpp>
#include <headrace/domains/job.hpp>

#include <string>
#include <vector>

namespace headrace {

/// The elements of `use` that a task with these work units touches. Throws invalid_argument if the user's
/// callback returns elements beyond the end.
[[nodiscard]] HEADRACE_EXPORT IndexRange elements_of(const Job::Use& use, IndexRange units);

/// What a device must hold for the task, by domain: only its parts in windows, or else whole domains. Without
/// private replicas.
[[nodiscard]] HEADRACE_EXPORT std::vector<Tile> data_of(const Job& job, IndexRange units, bool in_windows);

/// Including private replicas.
[[nodiscard]] HEADRACE_EXPORT Bytes footprint(const Job& job, const DeviceInfo& device, IndexRange units,
                                              bool in_windows);

/// True if tasks can have windows of their own.
[[nodiscard]] HEADRACE_EXPORT bool can_use_windows(const Job& job, const DeviceInfo& device);

/// True if the device can hold all domains of the job at once. Else it runs small tasks, in windows.
[[nodiscard]] HEADRACE_EXPORT bool fits_whole(const Job& job, const DeviceInfo& device);

/// The reason why not even the smallest task fits; empty: it fits.
[[nodiscard]] HEADRACE_EXPORT std::string why_too_large(const Job& job, const DeviceInfo& device);

/// The limit of memory for windows: the rest is for queues and for drivers.
[[nodiscard]] constexpr Bytes most_in_windows(const DeviceInfo& device) { return device.memory / 4 * 3; }

} // namespace headrace
