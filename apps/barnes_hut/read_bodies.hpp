// apps/barnes_hut/read_bodies.hpp - bodies in files, and numbers of bodies to files: CSV and NumPy's .npy.
#pragma once
#include "bodies.hpp"

#include <filesystem>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace barnes_hut {

/// A text of any name, or an .npy file. See parse_csv and parse_npy.
/// Errors  not_found; io; invalid_argument: which file, which line (of an .npy: row), which field, and why
[[nodiscard]] Bodies read_bodies(const std::filesystem::path& file);

/// Lines of seven numbers x, y, z, vx, vy, vz, m, or of four: x, y, z, m, at rest. Between them are commas,
/// semicolons or blanks. A first line of names gives them another order; so does a remark (#) before it that
/// is a list of them. Columns of other names are passed over, with a note unless they number bodies; so are
/// empty lines and remarks. `name`: for messages. Errors  invalid_argument, as above
[[nodiscard]] Bodies parse_csv(std::string_view text, const std::string& name);
/// Rows of the same numbers, of any type and in any order; or a structured array, whose fields are columns.
[[nodiscard]] Bodies parse_npy(std::istream& stream, const std::string& name);

/// `rows` rows of the columns that `names` has, as text or as an .npy file of float64, by the extension.
/// Numbers are written so that reading gives the same again.
/// Errors  invalid_argument for another extension
[[nodiscard]] std::string table_of(const std::filesystem::path& file, const std::vector<double>& numbers,
                                   const std::vector<std::string>& names);
/// Refuses an extension that is neither.
void check_table_name(const std::string& option, const std::filesystem::path& file);

/// x, y, z, vx, vy, vz, m; and ax, ay, az.
[[nodiscard]] std::string bodies_table(const std::filesystem::path& file, const Bodies& bodies);
[[nodiscard]] std::string vectors_table(const std::filesystem::path& file,
                                        const std::vector<Vector>& accelerations);

} // namespace barnes_hut
