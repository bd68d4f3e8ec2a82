// apps/fluorescence/phase.hpp - phase functions: how likely light is scattered by which angle.
#pragma once
#include "layout.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fluorescence {

enum class PhaseKind : std::uint8_t {
    henyey_greenstein,
    /// A part of Henyey and Greenstein's, the rest by the square of the cosine. Source: F. Bevilacqua,
    /// C. Depeursinge, "Monte Carlo study of diffuse reflectance at source-detector separations close to one
    /// transport mean free path", J. Opt. Soc. Am. A 16(12), 1999
    modified_henyey_greenstein,
    rayleigh,
    tabulated
};

/// A row of a table: density by solid angle, in any unit, and linear in the cosine between rows.
struct PhaseRow {
    double cosine, density;
};

/// What g does not say.
struct Phase {
    PhaseKind kind = PhaseKind::henyey_greenstein;
    double part = 1;             ///< modified: of Henyey and Greenstein's
    std::vector<PhaseRow> table; ///< from -1 to 1
};

/// Rows `cos_theta, p`, in the order that a first line of names says, else in this one; cosines rise or fall.
/// The first and the last row hold up to -1 and 1 if those are no further away than the next row. `name`
/// begins every complaint. Errors  invalid_argument: which line, and why
[[nodiscard]] std::vector<PhaseRow> parse_phase_csv(std::string_view text, const std::string& name);

/// A table as kernels take it, the least angle first.
[[nodiscard]] std::vector<PhaseNode> phase_nodes(std::vector<PhaseRow> table);

} // namespace fluorescence
