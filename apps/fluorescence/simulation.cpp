// apps/fluorescence/simulation.cpp - see simulation.hpp.
#include "simulation.hpp"
#include "fluorescence.kernels.hpp"

#include "fluorescence.cl.hpp"
#include "layout.h.hpp"
#include "philox.cl.hpp"
#include "turns.cl.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <numbers>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

namespace fluorescence {
namespace {

using headrace::Error;
using headrace::ErrorKind;

bool is_clear(const Optical& optical) { return optical.mua + optical.mus == 0; }
bool is_clear(const LayerSpec& layer) { return is_clear(layer.excitation); }

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
    return optics;
}

/// Cosine at which refraction from n to n_beyond ends; flatter rays are reflected.
double critical_cosine(double n, double n_beyond) {
    return static_cast<float>(n / n_beyond) > 1 ? std::sqrt(1 - n_beyond / n * (n_beyond / n)) : 0;
}

Side side_of(double n, double n_beyond) {
    const double ratio = n / n_beyond;
    // A ray that comes in flatter than the critical one for the way back has been rounded.
    constexpr double more = 1 + 0x1p-20;
    return {static_cast<float>(ratio), static_cast<float>(1 - ratio * ratio),
            static_cast<float>(critical_cosine(n_beyond, n) * more), 0};
}

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

std::uint64_t cells(const Tissue& tissue) {
    return std::uint64_t{tissue.depths} * tissue.rows * tissue.columns;
}

headrace::Extent extent(std::uint64_t size) { return {{size, 1, 1}}; }

std::uint32_t to_weight(double part) {
    return static_cast<std::uint32_t>(std::llround(part * FLUORESCENCE_UNIT_WEIGHT));
}

/// What a whole packet weighs: that with which they begin is rounded, and must be what is not reflected.
double unit_weight_of(const Problem& problem) {
    const double enters = 1 - specular_reflectance(problem);
    return enters > 0 && to_weight(enters) > 0 ? to_weight(enters) / enters : FLUORESCENCE_UNIT_WEIGHT;
}

std::uint32_t emission_weight(const Settings& settings) {
    return std::max(FLUORESCENCE_ROULETTE_BELOW, to_weight(settings.emission_weight));
}

headrace::OpenClKernel opencl_kernel(KernelChoice choice) {
    headrace::OpenClKernel kernel;
    kernel.name = "fluorescence.cl";
    for (const std::string_view part : {headrace::embedded::layout_h, headrace::embedded::philox_cl,
                                        headrace::embedded::turns_cl, headrace::embedded::fluorescence_cl})
        kernel.source += part;
    if (choice == KernelChoice::producer) {
        kernel.kinds = TraceStepsRz::Units::count;
        kernel.unit_bytes = sizeof(Packet);
        kernel.max_spawns = 2;
    }
    // Steps near boundaries depend on it: divisions and roots as exact as in C++.
    kernel.options = "-cl-fp32-correctly-rounded-divide-sqrt";
    return kernel;
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

template <class Grid, class View>
void add_kernel(headrace::Job& job, KernelChoice choice, const Tissue& tissue, const View& view) {
    if (choice == KernelChoice::consumer)
        job.kernel([=](headrace::Task& task) { return TracePacket<Grid>{view(task)}; });
    else
        job.seeds(IncidentPackets{tissue}).kernel([=](headrace::Task& task) {
            return TraceSteps<Grid>{view(task)};
        });
}

/// Packets numbered 0 to photons - 1 that are in a batch.
std::uint64_t in_batch(std::uint64_t photons, std::uint32_t batch) {
    return photons / FLUORESCENCE_BATCHES + (batch < photons % FLUORESCENCE_BATCHES ? 1 : 0);
}

/// Measurements are of this tissue, seen so.
std::string kernel_name(const Problem& problem, const Settings& settings) {
    const std::vector<Layer> layers = make_layers(problem, settings);
    const std::string_view bytes(reinterpret_cast<const char*>(layers.data()), layers.size() * sizeof(Layer));
    std::ostringstream name;
    name << "fluorescence, " << (settings.kernel == KernelChoice::consumer ? "consumer" : "producer")
         << (settings.grid == GridChoice::rz ? ", rz, " : ", xyz, ") << settings.emission_weight
         << ", layers " << std::hex << std::hash<std::string_view>{}(bytes);
    return name.str();
}

} // namespace

double specular_reflectance(const Problem& problem) {
    const auto normal = [](double a, double b) { return (a - b) / (a + b) * ((a - b) / (a + b)); };
    const LayerSpec& first = problem.layers.front();
    const double surface = normal(problem.n_above, first.n);
    if (!is_clear(first) || problem.layers.size() == 1) return surface;
    // Back and forth within the clear layer. Source: as transport.hpp, eq. 3.5
    const double below = normal(first.n, problem.layers[1].n);
    return surface + (1 - surface) * (1 - surface) * below / (1 - surface * below);
}

std::vector<Layer> make_layers(const Problem& problem, const Settings& settings) {
    std::vector<Layer> layers;
    double depth = 0;
    const auto optical_of = [&](std::size_t layer, std::size_t wavelength) {
        const LayerSpec& spec = problem.layers[layer];
        return wavelength == 0 ? spec.excitation : spec.emission.value_or(spec.excitation);
    };
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
                return is_clear(optical_of(number, wavelength)) || thickness_of(problem.layers[number]) == 0;
            };
            layer.optics[wavelength] =
                changes_nothing(i) ? clear_optics() : optics_of(optical_of(i, wavelength));
            layer.trapped[wavelength] = trapped_cosine(problem, i, changes_nothing);
        }
        if (spec.excitation.mua > 0 && layer.thickness > 0)
            layer.optics[0].yield = static_cast<float>(
                spec.fluorophore_mua / (spec.excitation.mua + spec.excitation.mus) * spec.quantum_yield);
        layer.optics[0].emission =
            layer.optics[0].yield * 0x1p32f / static_cast<float>(emission_weight(settings));
        layers.push_back(layer);
    }
    return layers;
}

Tissue make_tissue(const Problem& problem, const Settings& settings) {
    const GridSpec& grid = problem.grid;
    Tissue tissue{};
    tissue.layers = static_cast<std::uint32_t>(problem.layers.size());
    // Reflections within a clear first layer are in the specular reflectance: packets begin below it.
    tissue.first_layer = is_clear(problem.layers.front()) && tissue.layers > 1 ? 1 : 0;
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

Simulation::Simulation(const Problem& problem, const Settings& settings)
    : problem_(problem),
      settings_(settings),
      tissue_(make_tissue(problem, settings)),
      layers_("layers", {problem.layers.size()}),
      totals_("totals", extent(std::uint64_t{FLUORESCENCE_BATCHES} * tissue_.totals)),
      absorption_("absorption", extent(2 * cells(tissue_))),
      escape_("escape", extent(std::uint64_t{4} * tissue_.rows * tissue_.columns * tissue_.angles)) {
    std::ranges::copy(make_layers(problem, settings), layers_.fill().begin());
}

headrace::Job Simulation::job() const {
    const auto view = [tissue = tissue_, layers = layers_, totals = totals_, absorption = absorption_,
                       escape = escape_](headrace::Task& task) {
        return TissueView{
            task.read(layers), tissue, {task.sum(totals), task.sum(absorption), task.sum(escape)}};
    };
    headrace::Job job("fluorescence", settings_.photons);
    job.kernel_name(kernel_name(problem_, settings_));
    job.reads(layers_).accumulates(totals_, absorption_, escape_).share_units();
    if (settings_.grid == GridChoice::rz)
        add_kernel<Rz>(job, settings_.kernel, tissue_, view);
    else
        add_kernel<Xyz>(job, settings_.kernel, tissue_, view);
    job.opencl(opencl_kernel(settings_.kernel),
               [tissue = tissue_, layers = layers_, totals = totals_, absorption = absorption_,
                escape = escape_](headrace::Task& task, headrace::OpenClArguments& arguments) {
                   arguments.buffer(task.memory(layers))
                       .buffer(task.memory(totals))
                       .buffer(task.memory(absorption))
                       .buffer(task.memory(escape))
                       .value(tissue);
               });
    return job;
}

Totals totals_of(const Problem& problem, const Settings& settings, std::span<const std::uint64_t> sums) {
    const double unit_weight = unit_weight_of(problem);
    const auto layers = static_cast<std::uint32_t>(problem.layers.size());
    const std::uint32_t excitation = FLUORESCENCE_ABSORBED, emission = excitation + layers;
    const std::size_t of_batch = emission + layers;
    // Of several sums of a batch together.
    const auto estimate = [&](std::uint32_t first, std::uint32_t count) {
        std::array<double, FLUORESCENCE_BATCHES> batches{};
        double all = 0, squares = 0;
        for (std::uint32_t batch = 0; batch < FLUORESCENCE_BATCHES; ++batch) {
            std::int64_t sum = 0; // roulette may take more than was given
            for (std::uint32_t i = 0; i < count; ++i)
                sum += static_cast<std::int64_t>(sums[batch * of_batch + first + i]);
            all += static_cast<double>(sum);
            const std::uint64_t packets = in_batch(settings.photons, batch);
            if (packets > 0)
                batches[batch] = static_cast<double>(sum) / unit_weight / static_cast<double>(packets);
        }
        Estimate found{all / unit_weight / static_cast<double>(settings.photons), std::nullopt};
        if (settings.photons < 10 * FLUORESCENCE_BATCHES) return found;
        for (const double batch : batches) squares += (batch - found.value) * (batch - found.value);
        found.standard_error = std::sqrt(squares / FLUORESCENCE_BATCHES / (FLUORESCENCE_BATCHES - 1));
        return found;
    };
    Totals totals;
    totals.specular = {specular_reflectance(problem), 0.0};
    totals.reflectance = estimate(0, 1);
    totals.transmittance = estimate(1, 1);
    totals.absorbed = estimate(excitation, layers);
    totals.cut_off = estimate(FLUORESCENCE_CUT_OFF, 1);
    totals.fluorescence.escaped_top = estimate(2, 1);
    totals.fluorescence.escaped_bottom = estimate(3, 1);
    totals.fluorescence.emitted = estimate(FLUORESCENCE_EMITTED, 1);
    totals.fluorescence.absorbed = estimate(emission, layers);
    for (std::uint32_t i = 0; i < layers; ++i) {
        totals.absorbed_per_layer.push_back(estimate(excitation + i, 1));
        totals.fluorescence.absorbed_per_layer.push_back(estimate(emission + i, 1));
    }
    return totals;
}

Grids Simulation::grids() const {
    using std::numbers::pi;
    const bool is_rz = tissue_.is_xyz == 0;
    const std::size_t around = std::size_t{tissue_.rows} * tissue_.columns, angles = tissue_.angles;
    const double dx = is_rz ? problem_.grid.dr : problem_.grid.dx.value_or(problem_.grid.dr),
                 dy = problem_.grid.dy.value_or(problem_.grid.dr);
    const double packets = unit_weight_of(problem_) * static_cast<double>(settings_.photons);
    // Of the ring or square where a cell lies; of the cone through which packets of an angle leave.
    const auto area = [&](std::size_t place) {
        return is_rz ? 2 * pi * (static_cast<double>(place) + 0.5) * dx * dx : dx * dy;
    };
    const auto cone = [&](std::size_t angle) {
        const double step = pi / 2 / static_cast<double>(angles);
        // Seen from there, a surface is smaller by the cosine.
        return 4 * pi * std::sin((static_cast<double>(angle) + 0.5) * step) *
               std::cos((static_cast<double>(angle) + 0.5) * step) * std::sin(step / 2);
    };
    Grids grids;
    grids.absorption_shape = {tissue_.depths};
    if (!is_rz) grids.absorption_shape.push_back(tissue_.rows);
    grids.absorption_shape.push_back(tissue_.columns);
    grids.escape_shape = is_rz ? std::vector<std::size_t>{tissue_.columns, angles}
                               : std::vector<std::size_t>{tissue_.rows, tissue_.columns};
    const auto absorption = absorption_.gather(), escape = escape_.gather();
    for (std::size_t wavelength = 0; wavelength < 2; ++wavelength) {
        const auto of_it = absorption.subspan(wavelength * cells(tissue_), cells(tissue_));
        for (std::size_t i = 0; i < of_it.size(); ++i)
            grids.absorption[wavelength].push_back(static_cast<double>(static_cast<std::int64_t>(of_it[i])) /
                                                   packets / area(i % around) / problem_.grid.dz);
        for (std::size_t side = 0; side < 2; ++side) {
            const auto there = escape.subspan((wavelength * 2 + side) * around * angles, around * angles);
            for (std::size_t i = 0; i < there.size(); ++i)
                grids.escape[wavelength][side].push_back(static_cast<double>(there[i]) / packets /
                                                         area(i / angles) / (is_rz ? cone(i % angles) : 1));
        }
    }
    return grids;
}

} // namespace fluorescence
