// apps/barnes_hut/write_bodies.hpp - numbers of bodies to files: text, or NumPy's .npy, by the extension.
#pragma once
#include "bodies.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace barnes_hut {

/// Errors  invalid_argument for an extension that is neither .csv nor .npy
void check_table_name(const std::string& option, const std::filesystem::path& file);

/// .csv, .npy, or .hdf5 and .h5, if this build has HDF5. Errors  invalid_argument
void check_bodies_name(const std::string& option, const std::filesystem::path& file);

/// All of them at that time, as the name says.
[[nodiscard]] std::string bodies_file(const std::filesystem::path& file, const Bodies& bodies, double time);

/// x, y, z, vx, vy, vz, m; ax, ay, az; and potential. A row for each body; reading gives the same numbers.
[[nodiscard]] std::string bodies_table(const std::filesystem::path& file, const Bodies& bodies);
[[nodiscard]] std::string vectors_table(const std::filesystem::path& file,
                                        const std::vector<Vector>& accelerations);
[[nodiscard]] std::string potentials_table(const std::filesystem::path& file,
                                           const std::vector<double>& potentials);

} // namespace barnes_hut
