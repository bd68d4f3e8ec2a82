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
#include <functional>
#include <numbers>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

namespace fluorescence {
namespace {

using headrace::Error;
using headrace::ErrorKind;

constexpr double unit_weight = FLUORESCENCE_UNIT_WEIGHT;

Optics optics_of(const Optical& optical) {
    const double attenuation = optical.mua + optical.mus, words = 0x1p32;
    Optics optics{};
    optics.free_path = attenuation > 0 ? static_cast<float>(std::numbers::ln2 / attenuation) : 1e30f;
    // A ray along a clear layer ends. A little less than all, or rounding up might take more than there is;
    // roulette has the rest.
    constexpr float most = 0.999999f;
    optics.absorbed = attenuation > 0 ? std::min(static_cast<float>(optical.mua / attenuation), most) : most;
    // Henyey and Greenstein's, solved for the cosine so that nothing cancels, not for g = 0 either; backwards
    // it is the mirror image of forwards. Who scatters straight on would divide by 0.
    const double g = std::min(std::abs(optical.g), 0.999999), sign = optical.g < 0 ? -1 : 1;
    optics.root[0] = static_cast<float>(1 - g);
    optics.root[1] = static_cast<float>(2 * g / words);
    optics.cosine[0] = static_cast<float>(-sign * (1 - g) * (1 - g));
    optics.cosine[1] = static_cast<float>(sign * 2 * (1 + g * g) * (1 - g) / words);
    optics.cosine[2] = static_cast<float>(sign * 2 * g * (1 + g * g) / words / words);
    return optics;
}

float critical_cosine(double n, double n_beyond) {
    return n > n_beyond ? static_cast<float>(std::sqrt(1 - n_beyond / n * (n_beyond / n))) : 0;
}

Side side_of(double edge, double n, double n_beyond) {
    return {static_cast<float>(edge), static_cast<float>(n_beyond), static_cast<float>(n / n_beyond),
            critical_cosine(n, n_beyond)};
}

bool is_clear(const Optical& optical) { return optical.mua + optical.mus == 0; }
bool is_clear(const LayerSpec& layer) { return is_clear(layer.excitation); }
bool glows(const LayerSpec& layer) { return layer.fluorophore_mua > 0 && layer.quantum_yield > 0; }

std::uint64_t cells(const Tissue& tissue) {
    return std::uint64_t{tissue.depths} * tissue.rows * tissue.columns;
}

headrace::Extent extent(std::uint64_t size) { return {{size, 1, 1}}; }

std::uint32_t to_weight(double part) { return static_cast<std::uint32_t>(std::llround(part * unit_weight)); }

std::uint32_t emission_weight(const Settings& settings) {
    return std::max(1u, to_weight(settings.emission_weight));
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
    for (std::size_t i = 0; i < problem.layers.size(); ++i) {
        const LayerSpec& spec = problem.layers[i];
        const double above = i == 0 ? problem.n_above : problem.layers[i - 1].n;
        const double below = i + 1 == problem.layers.size() ? problem.n_below : problem.layers[i + 1].n;
        Layer layer{};
        layer.n = static_cast<float>(spec.n);
        layer.sides[0] = side_of(depth, spec.n, above);
        layer.sides[1] = side_of(depth += spec.thickness, spec.n, below);
        const Optical emission = spec.emission.value_or(spec.excitation);
        layer.optics[0] = optics_of(spec.excitation);
        layer.optics[1] = optics_of(emission);
        layer.is_clear[0] = is_clear(spec.excitation) ? 1 : 0;
        layer.is_clear[1] = is_clear(emission) ? 1 : 0;
        if (spec.excitation.mua > 0)
            layer.optics[0].yield =
                static_cast<float>(spec.fluorophore_mua / spec.excitation.mua * spec.quantum_yield) *
                layer.optics[0].absorbed;
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
    tissue.first_depth = tissue.first_layer == 1 ? static_cast<float>(problem.layers[0].thickness) : 0;
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
    const double packets = unit_weight * static_cast<double>(settings_.photons);
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
