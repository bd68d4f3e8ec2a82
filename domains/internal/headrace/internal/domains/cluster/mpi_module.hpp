// internal/domains/cluster/mpi_module.hpp - MPI, which is loaded only where it is wanted. Internal to
// domains/.
//
// Only the module links MPI. So programs that run on one machine neither need MPI nor wait for its start.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/cluster/transport.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace headrace::cluster {

struct MpiOptions {
    /// Larger messages are sent in parts. MPI counts the bytes of a part in an `int`.
    std::size_t most_bytes_of_part = std::size_t{1} << 22;
};

/// What the module defines with C linkage, under the name `mpi_module_function`. The caller owns the result.
using OpenMpiTransport = Transport*(const MpiOptions& options);
inline constexpr const char* mpi_module_function = "headrace_cluster_mpi_open";

/// Starts MPI and connects this process with all others of the same start, which must call it too. The module
/// stays loaded until the process ends. MPI can be started once in a process.
///
/// Threads   the calling thread makes all calls of MPI, so the transport is its own
/// Errors    Error: unsupported if this build has no MPI, not_found if the module cannot be found or loaded,
///           device if MPI fails
[[nodiscard]] HEADRACE_EXPORT std::unique_ptr<Transport> load_mpi_transport(const MpiOptions& options = {});

/// The first of these files that exists. The Error says where the file was expected.
[[nodiscard]] HEADRACE_EXPORT std::filesystem::path
find_mpi_module(std::span<const std::filesystem::path> candidates);

} // namespace headrace::cluster
