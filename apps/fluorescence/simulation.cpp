// apps/fluorescence/simulation.cpp - see simulation.hpp.
#include "simulation.hpp"
#include "fluorescence.kernels.hpp"

#include "fluorescence.cl.hpp"

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

headrace::Extent extent(std::uint64_t size) { return {{size, 1, 1}}; }

headrace::OpenClKernel opencl_kernel(KernelChoice choice, bool is_general, bool detects) {
    headrace::OpenClKernel kernel;
    kernel.name = "fluorescence.cl";
    if (is_general) kernel.source += "#define FLUORESCENCE_GENERAL\n";
    if (detects) kernel.source += "#define FLUORESCENCE_DETECTING\n";
    kernel.source += headrace::embedded::fluorescence_cl;
    if (choice == KernelChoice::producer) {
        kernel.kinds = TraceStepsRz::Units::count;
        kernel.unit_bytes = detects ? sizeof(TrackedPacket) : sizeof(Packet);
        kernel.max_spawns = 2;
    }
    // Steps near boundaries depend on it: divisions and roots as exact as in C++.
    kernel.options = "-cl-fp32-correctly-rounded-divide-sqrt";
    return kernel;
}

template <class Grid, class Seeds, class MakeView>
void add_kernel(headrace::Job& job, KernelChoice choice, const Seeds& seeds, const MakeView& view) {
    using View = std::invoke_result_t<MakeView, headrace::Task&>;
    if (choice == KernelChoice::consumer)
        job.kernel([=](headrace::Task& task) { return TracePacket<Grid, View>{{view(task)}}; });
    else
        job.seeds(seeds).kernel([=](headrace::Task& task) { return TraceSteps<Grid, View>{{view(task)}}; });
}

template <class Seeds, class MakeView>
void add_kernel(headrace::Job& job, const Settings& settings, const Seeds& seeds, const MakeView& view) {
    if (settings.grid == GridChoice::rz)
        add_kernel<Rz>(job, settings.kernel, seeds, view);
    else
        add_kernel<Xyz>(job, settings.kernel, seeds, view);
}

/// Packets numbered 0 to photons - 1 that are in a batch.
std::uint64_t in_batch(std::uint64_t photons, std::uint32_t batch) {
    return photons / FLUORESCENCE_BATCHES + (batch < photons % FLUORESCENCE_BATCHES ? 1 : 0);
}

/// A detector's figures. `sums`: of the first batch; those of the next are `batch` further on.
Detected detected_of(std::span<const std::uint64_t> sums, std::size_t batch, std::size_t layers,
                     std::uint64_t photons, double packet, double path_scale) {
    Detected detected;
    double weight = 0, squares = 0;
    std::vector<double> paths(layers), parts;
    for (std::uint32_t i = 0; i < FLUORESCENCE_BATCHES; ++i) {
        const auto of_batch = sums.subspan(i * batch);
        detected.packets += of_batch[0];
        detected.cut += of_batch[2];
        weight += static_cast<double>(of_batch[1]);
        for (std::size_t layer = 0; layer < layers; ++layer)
            paths[layer] += static_cast<double>(of_batch[FLUORESCENCE_DETECTED_PATHS + layer]) / path_scale;
        const auto packets = static_cast<double>(std::max<std::uint64_t>(1, in_batch(photons, i)));
        parts.push_back(static_cast<double>(of_batch[1]) / packet / packets);
    }
    detected.part.value = weight / packet / static_cast<double>(photons);
    for (const double part : parts) squares += (part - detected.part.value) * (part - detected.part.value);
    if (photons >= std::uint64_t{10} * FLUORESCENCE_BATCHES)
        detected.part.standard_error = std::sqrt(squares / FLUORESCENCE_BATCHES / (FLUORESCENCE_BATCHES - 1));
    if (weight > 0)
        for (const double path : paths) detected.path_per_layer.push_back(path / weight);
    return detected;
}

/// Measurements are of this tissue, seen so.
std::string kernel_name(const Problem& problem, const Settings& settings) {
    const std::vector<Layer> layers = make_layers(problem, settings);
    const std::string_view bytes(reinterpret_cast<const char*>(layers.data()), layers.size() * sizeof(Layer));
    std::ostringstream name;
    name << "fluorescence, " << (settings.kernel == KernelChoice::consumer ? "consumer" : "producer")
         << (settings.grid == GridChoice::rz ? ", rz, " : ", xyz, ")
         << (detects(problem)                ? "detecting, "
             : is_general(problem, settings) ? "general, "
                                             : "")
         << (settings.fluence ? "fluence, " : "") << settings.emission_weight << ", layers " << std::hex
         << std::hash<std::string_view>{}(bytes);
    return name.str();
}

} // namespace

Simulation::Simulation(const Problem& problem, const Settings& settings)
    : problem_(problem),
      settings_(settings),
      tissue_(make_tissue(problem, settings)),
      layers_("layers", {problem.layers.size()}),
      totals_("totals", extent(std::uint64_t{FLUORESCENCE_BATCHES} * tissue_.totals)),
      absorption_("absorption", extent(2 * cells(tissue_))),
      escape_("escape", extent(std::uint64_t{4} * tissue_.rows * tissue_.columns * tissue_.angles)) {
    std::ranges::copy(make_layers(problem, settings), layers_.fill().begin());
    if (!is_general(problem, settings)) return;
    const std::vector<PhaseNode> phases = make_phases(problem);
    more_.emplace(More{make_general(problem, settings),
                       {"phase functions", extent(phases.size())},
                       {"fluence", extent(settings.fluence ? 2 * cells(tissue_) : 1)}});
    std::ranges::copy(phases, more_->phases.fill().begin());
    if (!detects(problem)) return;
    const std::vector<Detector> detectors = make_detectors(problem);
    const std::uint64_t sums = std::uint64_t{FLUORESCENCE_BATCHES} * detectors.size() * 2 *
                               (FLUORESCENCE_DETECTED_PATHS + problem.layers.size());
    const std::uint64_t gates = 2 * (2 + problem.detectors.size()) * (std::uint64_t{problem.time.gates} + 1);
    detection_.emplace(Detection{
        {"detectors", extent(detectors.size())}, {"detected", extent(sums)}, {"gated", extent(gates)}});
    std::ranges::copy(detectors, detection_->detectors.fill().begin());
}

headrace::Job Simulation::job() const {
    const auto plain = [tissue = tissue_, layers = layers_, totals = totals_, absorption = absorption_,
                        escape = escape_](headrace::Task& task) {
        return TissueView{
            task.read(layers), tissue, {task.sum(totals), task.sum(absorption), task.sum(escape)}};
    };
    const auto plain_arguments =
        [tissue = tissue_, layers = layers_, totals = totals_, absorption = absorption_,
         escape = escape_](headrace::Task& task, headrace::OpenClArguments& arguments) {
            arguments.buffer(task.memory(layers))
                .buffer(task.memory(totals))
                .buffer(task.memory(absorption))
                .buffer(task.memory(escape))
                .value(tissue);
        };
    headrace::Job job("fluorescence", settings_.photons);
    job.kernel_name(kernel_name(problem_, settings_));
    job.reads(layers_).accumulates(totals_, absorption_, escape_).share_units();
    const headrace::OpenClKernel opencl =
        opencl_kernel(settings_.kernel, more_.has_value(), detection_.has_value());
    if (!more_) {
        add_kernel(job, settings_, IncidentPackets{tissue_}, plain);
        job.opencl(opencl, plain_arguments);
        return job;
    }
    job.reads(more_->phases).accumulates(more_->fluence);
    const auto general = [plain, more = *more_](headrace::Task& task) {
        return GeneralView{plain(task), more.general, task.read(more.phases), task.sum(more.fluence)};
    };
    const auto general_arguments = [plain_arguments, more = *more_](headrace::Task& task,
                                                                    headrace::OpenClArguments& arguments) {
        plain_arguments(task, arguments);
        arguments.value(more.general).buffer(task.memory(more.phases)).buffer(task.memory(more.fluence));
    };
    if (!detection_) {
        add_kernel(job, settings_, GeneralPackets{tissue_, more_->general.source}, general);
        job.opencl(opencl, general_arguments);
        return job;
    }
    job.reads(detection_->detectors).accumulates(detection_->detected, detection_->gated);
    add_kernel(job, settings_, TrackedPackets{tissue_, more_->general},
               [general, detection = *detection_](headrace::Task& task) {
                   return DetectingView{general(task), task.read(detection.detectors),
                                        task.sum(detection.detected), task.sum(detection.gated)};
               });
    job.opencl(opencl, [general_arguments, detection = *detection_](headrace::Task& task,
                                                                    headrace::OpenClArguments& arguments) {
        general_arguments(task, arguments);
        arguments.buffer(task.memory(detection.detectors))
            .buffer(task.memory(detection.detected))
            .buffer(task.memory(detection.gated));
    });
    return job;
}

Totals Simulation::totals() const {
    Totals totals = totals_of(problem_, settings_, totals_.gather());
    if (!detection_) return totals;
    const double packet = unit_weight_of(problem_), photons = static_cast<double>(settings_.photons);
    const auto detected = detection_->detected.gather(), gated = detection_->gated.gather();
    const std::size_t layers = problem_.layers.size(), sums = FLUORESCENCE_DETECTED_PATHS + layers,
                      detectors = problem_.detectors.size();
    for (std::size_t wavelength = 0; wavelength < 2; ++wavelength) {
        for (std::size_t i = 0; i < detectors; ++i)
            totals.detectors[wavelength].push_back(
                detected_of(detected.subspan((i * 2 + wavelength) * sums), detectors * 2 * sums, layers,
                            settings_.photons, packet, more_->general.path_scale));
        const std::size_t gates = problem_.time.gates;
        for (std::size_t place = 0; gates > 0 && place < 2 + detectors; ++place)
            for (std::size_t gate = 0; gate < gates; ++gate)
                totals.gates[wavelength].push_back(
                    static_cast<double>(gated[(wavelength * (2 + detectors) + place) * (gates + 1) + gate]) /
                    packet / photons);
    }
    return totals;
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
        if (settings.photons < std::uint64_t{10} * FLUORESCENCE_BATCHES) return found;
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
    if (!settings_.fluence) return grids;
    const double units = packets * double{more_->general.fluence_scale};
    const auto fluence = more_->fluence.gather();
    if (std::ranges::any_of(fluence, [](std::uint64_t sum) { return sum >> 63 != 0; }))
        throw headrace::Error{headrace::ErrorKind::invalid_argument,
                              problem_.name +
                                  ": sums of the fluence run over: cells are too large for so many "
                                  "steps; ask for smaller ones"};
    for (std::size_t i = 0; i < fluence.size(); ++i)
        grids.fluence[i / cells(tissue_)].push_back(static_cast<double>(fluence[i]) / units /
                                                    area(i % around) / problem_.grid.dz);
    return grids;
}

} // namespace fluorescence
