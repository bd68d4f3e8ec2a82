// apps/barnes_hut/snapshot.hpp - a run between two steps, in a file from which it goes on to the bit.
// The file: a line of what it is, a line of JSON, rows of doubles, and a checksum.
#pragma once
#include "bodies.hpp"
#include "totals.hpp"

#include <cstdint>
#include <istream>
#include <string>
#include <vector>

namespace barnes_hut {

/// What decides how bodies move. A run that goes on has the same.
struct Parameters {
    double dt = 0, gravity = 1, softening = 0, theta = 0, accuracy = 0;
    bool quadrupole = true;
    std::string kernel;
};

struct Snapshot {
    std::uint64_t step = 0; ///< that has been done
    Parameters parameters;
    bool have_met = false;       ///< bodies at one place without softening: energies are infinite since then
    std::vector<Totals> history; ///< so far
    Bodies bodies;
    Field field; ///< at these places, with potentials
};

/// The bytes of a file.
[[nodiscard]] std::string bytes_of(const Snapshot& snapshot);

/// `name`: for messages. Errors  invalid_argument for anything that bytes_of has not made
[[nodiscard]] Snapshot parse_snapshot(std::istream& stream, const std::string& name);

} // namespace barnes_hut
