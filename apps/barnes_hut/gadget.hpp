// apps/barnes_hut/gadget.hpp - snapshots of GADGET and its kin: HDF5 files with a Header and PartType0 to 5.
// Source  V. Springel, "User guide for GADGET-2", sec. 6; also what GADGET-4, AREPO and GIZMO write
#pragma once
#include "bodies.hpp"

#include <cstddef>
#include <filesystem>
#include <string>

namespace barnes_hut {

/// PartType0 to 5: gas, halo, disk, bulge, stars, boundary.
inline constexpr std::size_t gadget_types = 6;

/// By the name: .hdf5 or .h5.
[[nodiscard]] inline bool is_gadget_name(const std::filesystem::path& file) {
    return file.extension() == ".hdf5" || file.extension() == ".h5";
}

/// Errors  invalid_argument if this build has no HDF5: `what` cannot be read or written then
void expect_hdf5(const std::string& what);

/// Coordinates, Velocities, Masses (or the Header's MassTable) and ParticleIDs of all types, the lower ones
/// first. What the file names in other files is refused. Errors  invalid_argument, which file, what is wrong
/// with it
[[nodiscard]] Bodies read_gadget(const std::filesystem::path& file);

/// The bytes of a file: each body as the type that it came as, others as PartType1, with the numbers that
/// they came with, or 1, 2, 3, ...
[[nodiscard]] std::string gadget_bytes(const Bodies& bodies, double time);

} // namespace barnes_hut
