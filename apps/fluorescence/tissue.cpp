// apps/fluorescence/tissue.cpp - see tissue.hpp.
#include "tissue.hpp"
#include "incidence.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

namespace fluorescence {
namespace {

using headrace::Error;
using headrace::ErrorKind;

bool is_clear(const Optical& optical) { return optical.mua + optical.mus == 0; }
const Optical& optical_of(const LayerSpec& layer, std::size_t wavelength) {
    return wavelength == 1 && layer.emission ? *layer.emission : layer.excitation;
}

/// What kernels take for the thickness. Squares of lengths along such a layer must not overflow.
float thickness_of(const LayerSpec& layer) {
    constexpr double least = 1e-36, most = 1e18;
    return layer.thickness < least ? 0.0f : static_cast<float>(std::min(layer.thickness, most));
}

/// In a clear layer, or one without thickness, what counts as an interaction changes nothing: whatever free
/// path is drawn, nothing is absorbed and nothing scattered there.
Optics clear_optics() {
    Optics optics{};
    optics.free_path = 1e36f;
    optics.root[0] = 1e25f;
    optics.bend[0] = 0;
    optics.forward = 1;
    return optics;
}

Optics optics_of(const Optical& optical) {
    const double attenuation = optical.mua + optical.mus, words = 0x1p32;
    Optics optics = clear_optics();
    optics.free_path = static_cast<float>(std::min(std::numbers::ln2 / attenuation, 1e36));
    optics.keeps = optical.mua > optical.mus ? 1 : 0;
    optics.part = static_cast<float>(std::min(optical.mua, optical.mus) / attenuation);
    // Henyey and Greenstein's, solved for 1 - cosine so that nothing cancels, for no g; backwards it is the
    // mirror image of forwards. Of a word of 32 bits and a half more. For g = 1 the root is as good as
    // endless, and its inverse 0.
    const double g = std::abs(optical.g), slope = std::min(2 * g / (1 - g) / words, 1e25);
    optics.root[0] = static_cast<float>(1 + slope / 2);
    optics.root[1] = static_cast<float>(slope);
    optics.bend[0] = static_cast<float>(2 * (g - 1) / words);
    optics.bend[1] = static_cast<float>(-2 * g / words / words);
    optics.forward = optical.g < 0 ? -1.0f : 1.0f;
    switch (optical.phase.kind) {
    case PhaseKind::henyey_greenstein:
        break;
    case PhaseKind::modified_henyey_greenstein: // some words are left for the other part
        optics.phase = FLUORESCENCE_PHASE_MODIFIED;
        optics.phase_data = static_cast<std::uint32_t>(std::min(optical.phase.part * words, words - 2));
        break;
    case PhaseKind::rayleigh:
        optics.phase = FLUORESCENCE_PHASE_RAYLEIGH;
        break;
    case PhaseKind::tabulated:
        optics.phase = FLUORESCENCE_PHASE_TABULATED;
        break;
    }
    return optics;
}

/// Cosine at which refraction from n to n_beyond ends; flatter rays are reflected.
double critical_cosine(double n, double n_beyond) {
    return static_cast<float>(n / n_beyond) > 1 ? std::sqrt(1 - n_beyond / n * (n_beyond / n)) : 0;
}

} // namespace

Side side_of(double n, double n_beyond) {
    const double ratio = n / n_beyond;
    // A ray that comes in flatter than the critical one for the way back has been rounded.
    constexpr double more = 1 + 0x1p-20;
    return {static_cast<float>(ratio), static_cast<float>(1 - ratio * ratio),
            static_cast<float>(critical_cosine(n_beyond, n) * more), static_cast<float>(n)};
}

namespace {

/// See Layer::trapped. Up and down, a ray that is too flat for one of the layers on the way to the first one
/// that is not clear, which may be the outside, comes back.
float trapped_cosine(const Problem& problem, std::size_t layer, const auto& is_clear_layer) {
    if (!is_clear_layer(layer)) return -1;
    const auto layers = static_cast<std::ptrdiff_t>(problem.layers.size());
    const auto lowest = [&](std::ptrdiff_t step) {
        double n = std::numeric_limits<double>::infinity();
        for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(layer) + step;; i += step) {
            if (i < 0) return std::min(n, problem.n_above);
            if (i == layers) return std::min(n, problem.n_below);
            const auto there = static_cast<std::size_t>(i);
            n = std::min(n, problem.layers[there].n);
            if (!is_clear_layer(there)) return n;
        }
    };
    const double n = problem.layers[layer].n;
    return static_cast<float>(std::min(critical_cosine(n, lowest(-1)), critical_cosine(n, lowest(1))));
}

bool glows(const LayerSpec& layer) { return layer.fluorophore_mua > 0 && layer.quantum_yield > 0; }

std::uint32_t to_weight(double part) {
    return static_cast<std::uint32_t>(std::llround(part * FLUORESCENCE_UNIT_WEIGHT));
}

std::uint32_t emission_weight(const Settings& settings) {
    return std::max(FLUORESCENCE_ROULETTE_BELOW, to_weight(settings.emission_weight));
}

/// Of the cells, those around the place where the beam enters, which get most: as many as fit into half of a
/// GPU's local memory.
void choose_near_cells(const Problem& problem, Tissue& tissue) {
    constexpr std::uint32_t most = 1u << 14;
    tissue.near_wavelengths = std::ranges::any_of(problem.layers, glows) ? 2 : 1;
    tissue.near_depths = tissue.depths;
    tissue.near_rows = tissue.rows;
    tissue.near_columns = tissue.columns;
    const auto near = [&] {
        return std::uint64_t{tissue.near_wavelengths} * tissue.near_depths * tissue.near_rows *
               tissue.near_columns;
    };
    while (near() > most) { // the longest side shrinks, where a radius is half of one
        const std::uint32_t columns = tissue.is_xyz != 0 ? tissue.near_columns : 2 * tissue.near_columns;
        std::uint32_t& longest = columns >= std::max(tissue.near_rows, tissue.near_depths)
                                     ? tissue.near_columns
                                 : tissue.near_rows >= tissue.near_depths ? tissue.near_rows
                                                                          : tissue.near_depths;
        longest -= std::max(1u, longest / 16);
    }
    if (tissue.is_xyz != 0) {
        tissue.first_near_row = (tissue.rows - tissue.near_rows) / 2;
        tissue.first_near_column = (tissue.columns - tissue.near_columns) / 2;
    }
}

/// The phase functions of layers come one after another, of either wavelength. Tables alone need room.
template <class Use>
void for_each_table(const Problem& problem, const Use& use) {
    for (std::size_t layer = 0; layer < problem.layers.size(); ++layer)
        for (std::size_t wavelength = 0; wavelength < 2; ++wavelength) {
            const Optical& optical = optical_of(problem.layers[layer], wavelength);
            if (optical.phase.kind == PhaseKind::tabulated) use(layer, wavelength, optical.phase.table);
        }
}

} // namespace

double unit_weight_of(const Problem& problem) {
    const double enters = 1 - specular_reflectance(problem);
    return enters > 0 && to_weight(enters) > 0 ? to_weight(enters) / enters : FLUORESCENCE_UNIT_WEIGHT;
}

std::uint64_t cells(const Tissue& tissue) {
    return std::uint64_t{tissue.depths} * tissue.rows * tissue.columns;
}

std::vector<Layer> make_layers(const Problem& problem, const Settings& settings) {
    std::vector<Layer> layers;
    double depth = 0;
    for (std::size_t i = 0; i < problem.layers.size(); ++i) {
        const LayerSpec& spec = problem.layers[i];
        const double above = i == 0 ? problem.n_above : problem.layers[i - 1].n;
        const double below = i + 1 == problem.layers.size() ? problem.n_below : problem.layers[i + 1].n;
        Layer layer{};
        layer.sides[0] = side_of(spec.n, above);
        layer.sides[1] = side_of(spec.n, below);
        layer.top = static_cast<float>(std::min(depth, 1e18));
        layer.thickness = thickness_of(spec);
        depth += spec.thickness;
        for (std::size_t wavelength = 0; wavelength < 2; ++wavelength) {
            const auto changes_nothing = [&](std::size_t number) {
                return is_clear(optical_of(problem.layers[number], wavelength)) ||
                       thickness_of(problem.layers[number]) == 0;
            };
            layer.optics[wavelength] =
                changes_nothing(i) ? clear_optics() : optics_of(optical_of(spec, wavelength));
            layer.trapped[wavelength] = trapped_cosine(problem, i, changes_nothing);
        }
        if (spec.excitation.mua > 0 && layer.thickness > 0)
            layer.optics[0].yield = static_cast<float>(
                spec.fluorophore_mua / (spec.excitation.mua + spec.excitation.mus) * spec.quantum_yield);
        layer.optics[0].emission =
            layer.optics[0].yield * 0x1p32f / static_cast<float>(emission_weight(settings));
        layers.push_back(layer);
    }
    std::uint32_t first = 0;
    for_each_table(problem, [&](std::size_t layer, std::size_t wavelength, const auto& table) {
        Optics& optics = layers[layer].optics[wavelength];
        const auto nodes = static_cast<std::uint32_t>(phase_nodes(table).size());
        if (optics.phase == FLUORESCENCE_PHASE_TABULATED) { // clear ones do without
            optics.phase |= nodes << 8;
            optics.phase_data = first;
        }
        first += nodes;
    });
    return layers;
}

std::vector<PhaseNode> make_phases(const Problem& problem) {
    std::vector<PhaseNode> phases;
    for_each_table(problem, [&](std::size_t, std::size_t, const auto& table) {
        const auto nodes = phase_nodes(table);
        phases.insert(phases.end(), nodes.begin(), nodes.end());
    });
    if (phases.empty()) phases.push_back({}); // a domain is never empty
    return phases;
}

std::vector<Detector> make_detectors(const Problem& problem) {
    std::vector<Detector> detectors;
    for (const DetectorSpec& spec : problem.detectors) {
        Detector detector{};
        detector.x = static_cast<float>(spec.x);
        detector.y = static_cast<float>(spec.y);
        detector.square_radius = static_cast<float>(spec.radius * spec.radius);
        detector.square_sine =
            static_cast<float>(std::min(spec.numerical_aperture * spec.numerical_aperture, 1e9));
        detector.side = spec.is_below ? 1 : 0;
        detectors.push_back(detector);
    }
    if (detectors.empty()) detectors.push_back({}); // a domain is never empty
    return detectors;
}

namespace {

/// How far packets go in the tissue, on average, at most: until they are absorbed, or leave a layer after a
/// million ways through it.
double reach_of(const Problem& problem) {
    constexpr double ways = 1 << 20;
    double reach = 0;
    for (const LayerSpec& layer : problem.layers) {
        const double mua = std::min(optical_of(layer, 0).mua, optical_of(layer, 1).mua);
        reach +=
            std::min(mua > 0 ? 1 / mua : std::numeric_limits<double>::infinity(), ways * layer.thickness);
    }
    return std::max(reach, 1e-20); // what a float can tell
}

/// What a unit of weight adds to the fluence for each cm. Errors  invalid_argument
float fluence_scale_of(const Problem& problem, bool is_rz, double dx, double dy, double photons_log2) {
    const GridSpec& grid = problem.grid;
    // A way as long as a cell's longest adds at most 2^30 units. As many as 2^16 of them for each packet, on
    // average, can be added up. Cells may be far larger than the tissue: a grid by depth alone has such.
    const double across = is_rz ? 2 * dx * std::sqrt(2.0 * grid.nr) : std::hypot(dx, dy);
    const double longest = std::min(std::hypot(grid.dz, across), reach_of(problem));
    const double units = std::exp2(std::min(30.0, 47 - photons_log2)) / longest;
    constexpr double least = 0x1p-13; // roulette leaves weights of 1e-4, which must count too
    if (units * std::min({grid.dz, dx, dy}) < least)
        throw Error{ErrorKind::invalid_argument,
                    problem.name +
                        ": the grid's cells are too thin, for their size in another direction and so many "
                        "packets, to have a fluence; make them more alike, or use --no-fluence"};
    return static_cast<float>(units / FLUORESCENCE_UNIT_WEIGHT);
}

} // namespace

bool is_mcmls(const Problem& problem) {
    return problem.source.kind == SourceKind::pencil &&
           std::ranges::all_of(problem.layers, [](const LayerSpec& layer) {
               return optical_of(layer, 0).phase.kind == PhaseKind::henyey_greenstein &&
                      optical_of(layer, 1).phase.kind == PhaseKind::henyey_greenstein;
           });
}

General make_general(const Problem& problem, const Settings& settings) {
    const GridSpec& grid = problem.grid;
    const bool is_rz = settings.grid == GridChoice::rz;
    const double dx = is_rz ? grid.dr : grid.dx.value_or(grid.dr), dy = grid.dy.value_or(grid.dr);
    General general{};
    general.source = make_source(problem);
    general.depth_size = static_cast<float>(grid.dz);
    general.row_size = static_cast<float>(dy);
    general.column_size = static_cast<float>(dx);
    general.passes_before = static_cast<float>(passes_before(problem));
    if (general.passes_before > 0) {
        general.first_thickness = static_cast<float>(problem.layers[0].thickness);
        general.first_n = static_cast<float>(problem.layers[0].n);
        general.passes = static_cast<float>(passes_in_first_layer(problem));
    }
    general.detectors = static_cast<std::uint32_t>(problem.detectors.size());
    general.gates = problem.time.gates;
    constexpr double ps_per_cm = 33.3564095198152; // of light in a vacuum
    general.gates_per_cm = static_cast<float>(ps_per_cm / problem.time.step);
    // All packets with the longest path add up to at most 2^62 units.
    const double photons_log2 = std::ceil(std::log2(static_cast<double>(settings.photons)));
    general.path_scale = static_cast<float>(std::exp2(32 - photons_log2) / FLUORESCENCE_MOST_PATH);
    if (!settings.fluence) return general;
    general.fluence_scale = fluence_scale_of(problem, is_rz, dx, is_rz ? dx : dy, photons_log2);
    return general;
}

Tissue make_tissue(const Problem& problem, const Settings& settings) {
    const GridSpec& grid = problem.grid;
    Tissue tissue{};
    tissue.layers = static_cast<std::uint32_t>(problem.layers.size());
    tissue.first_layer = first_layer_of(problem);
    tissue.most_steps = settings.most_steps;
    tissue.weight = to_weight(1 - specular_reflectance(problem));
    tissue.emission_weight = emission_weight(settings);
    tissue.seed_low = static_cast<std::uint32_t>(settings.seed);
    tissue.seed_high = static_cast<std::uint32_t>(settings.seed >> 32);
    tissue.depths = static_cast<std::uint32_t>(grid.nz);
    tissue.depths_per_cm = static_cast<float>(1 / grid.dz);
    tissue.rows = tissue.angles = 1;
    tissue.columns = static_cast<std::uint32_t>(grid.nr);
    if (settings.grid == GridChoice::rz) {
        tissue.columns_per_cm = static_cast<float>(1 / grid.dr);
        tissue.angles = static_cast<std::uint32_t>(grid.na);
        tissue.angles_per_radian = static_cast<float>(grid.na / (std::numbers::pi / 2));
    } else {
        const double dx = grid.dx.value_or(grid.dr), dy = grid.dy.value_or(grid.dr);
        tissue.is_xyz = 1;
        tissue.columns = static_cast<std::uint32_t>(grid.nx.value_or(2 * grid.nr));
        tissue.rows = static_cast<std::uint32_t>(grid.ny.value_or(2 * grid.nr));
        tissue.columns_per_cm = static_cast<float>(1 / dx);
        tissue.rows_per_cm = static_cast<float>(1 / dy);
        tissue.column_edge = static_cast<float>(-0.5 * dx * tissue.columns);
        tissue.row_edge = static_cast<float>(-0.5 * dy * tissue.rows);
    }
    tissue.totals = FLUORESCENCE_ABSORBED + 2 * tissue.layers;
    constexpr std::uint64_t most = std::uint64_t{1} << 31; // kernels count cells of a wavelength in 32 bits
    const std::uint64_t around = std::uint64_t{tissue.rows} * tissue.columns;
    if (around > most || around * tissue.angles > most || cells(tissue) > most)
        throw Error{ErrorKind::invalid_argument,
                    problem.name + ": the grid has more than 2^31 cells; ask for fewer"};
    choose_near_cells(problem, tissue);
    return tissue;
}

} // namespace fluorescence
