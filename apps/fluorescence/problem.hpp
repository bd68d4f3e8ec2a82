// apps/fluorescence/problem.hpp - what is to be simulated, and the files that say so.
#pragma once
#include "phase.hpp"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace fluorescence {

/// Refractive indices, for both readers. Less than 1: relative to another medium, or beside an absorption
/// line.
inline constexpr double least_n = 0.01, most_n = 100;

/// Coefficients in 1/cm; g: of Henyey and Greenstein's phase function, whose mean cosine it is.
struct Optical {
    double mua = 0, mus = 0, g = 0;
    Phase phase = {};
};

struct LayerSpec {
    double n = 1;
    Optical excitation;
    double thickness = 1;            ///< cm; 0: a boundary more; also endless
    std::optional<Optical> emission; ///< at the second wavelength; as at the first if left out
    double fluorophore_mua = 0;      ///< part of excitation.mua
    double quantum_yield = 0;
};

/// Cells: of depth and radius, and across for three dimensions; lengths in cm.
struct GridSpec {
    double dz = 0.01, dr = 0.01;
    int nz = 100, nr = 100, na = 1; ///< na: angles of what escapes, over a quarter of a turn
    std::optional<double> dx, dy;   ///< as dr if left out
    std::optional<int> nx, ny;      ///< 2 nr if left out
};

enum class SourceKind : std::uint8_t {
    pencil,
    gaussian,  ///< a beam whose share exp(-2) is at `radius`
    disc,      ///< a beam that is as bright everywhere within `radius`
    isotropic, ///< a point at `depth`
    oblique,   ///< a pencil beam at `angle`, towards x
    fibre      ///< down from its end at `depth`, where it gives each part of its cone the same light
};

/// Where light comes from. Beams come from above, along the axis unless said.
struct SourceSpec {
    SourceKind kind = SourceKind::pencil;
    double radius = 0, depth = 0; ///< cm
    double angle = 0;             ///< degrees from the axis, above the tissue
    double numerical_aperture = 0;
};

/// A round part of the upper or the lower surface, which sees what leaves there.
struct DetectorSpec {
    double x = 0, y = 0, radius = 0; ///< cm
    double numerical_aperture = std::numeric_limits<double>::infinity();
    bool is_below = false;
};

/// When light leaves, since it came to the tissue: gates one after another.
struct TimeSpec {
    double step = 1; ///< ps
    std::uint32_t gates = 0;
};

/// Light onto, or into, layers of tissue.
struct Problem {
    std::string name;
    double n_above = 1, n_below = 1;
    std::uint64_t photons = 1'000'000;
    std::optional<std::uint64_t> seed;
    GridSpec grid;
    std::vector<LayerSpec> layers; ///< the uppermost first
    SourceSpec source = {};
    std::vector<DetectorSpec> detectors = {};
    TimeSpec time = {};
};

/// Of MCML's files, which may have several runs, or of a TOML file (`.toml`), which has one.
/// Errors: not_found; invalid_argument with file, line and field
[[nodiscard]] std::vector<Problem> read_problems(const std::filesystem::path& file);

/// The parts of it. `where` begins every complaint: "skin.mci".
[[nodiscard]] std::vector<Problem> parse_mci(const std::string& text, const std::string& where);
[[nodiscard]] Problem parse_toml(const std::string& text, const std::string& where);

/// The range of a field, for both readers: a complaint that begins where the value stands, or nothing.
[[nodiscard]] std::optional<std::string> complaint(const LayerSpec& layer);
/// What of the source does not go with the tissue.
[[nodiscard]] std::optional<std::string> source_complaint(const Problem& problem);

} // namespace fluorescence
