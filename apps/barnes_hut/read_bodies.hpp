// apps/barnes_hut/read_bodies.hpp - bodies in files: text and NumPy's .npy.
#pragma once
#include "bodies.hpp"

#include <filesystem>
#include <istream>
#include <memory>
#include <string>
#include <string_view>

namespace barnes_hut {

[[nodiscard]] inline bool is_npy_name(const std::filesystem::path& file) {
    return file.extension() == ".npy";
}

/// Of several ranks, one reads a pipe: see program/shared_input.hpp.
/// Errors  not_found, and why: it is not there, or a folder
[[nodiscard]] std::unique_ptr<std::istream> open_file(const std::filesystem::path& file);

/// Why a number cannot be a coordinate or a speed, or a mass; null if it can.
[[nodiscard]] const char* why_not(double value, bool is_mass);

/// A text of any name, an .npy file, or a snapshot of GADGET. See parse_csv, parse_npy and gadget.hpp.
/// Errors  not_found; io; invalid_argument: which file, which line (of an .npy: row), which field, and why
[[nodiscard]] Bodies read_bodies(const std::filesystem::path& file);

/// Lines of seven numbers x, y, z, vx, vy, vz, m, or of four: x, y, z, m, at rest. Between them are commas,
/// semicolons or blanks. A first line of names gives them another order; so does a remark (#) before it that
/// is a list of them. Columns of other names are passed over, with a note unless they number bodies; so are
/// empty lines and remarks. `name`: for messages. Errors  invalid_argument, as above
[[nodiscard]] Bodies parse_csv(std::string_view text, const std::string& name);
/// Rows of the same numbers, of any type and in any order; or a structured array, whose fields are columns.
[[nodiscard]] Bodies parse_npy(std::istream& stream, const std::string& name);

} // namespace barnes_hut
