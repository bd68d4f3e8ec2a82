// apps/fluorescence/simulation.hpp - a problem as a job, and what came out of it.
#pragma once
#include "incidence.hpp"
#include "layout.h"
#include "problem.hpp"
#include "settings.hpp"
#include "tissue.hpp"
#include <headrace/headrace.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace fluorescence {

/// Per packet. No standard error where there were too few packets to tell.
struct Estimate {
    double value = 0;
    std::optional<double> standard_error;
};

/// What a detector sees of a wavelength.
struct Detected {
    std::uint64_t packets = 0;
    Estimate part;                      ///< of the light
    std::vector<double> path_per_layer; ///< cm, the mean by weight; empty if nothing came
    std::uint64_t cut = 0;              ///< packets that had more than FLUORESCENCE_MOST_PATH in a layer
};

/// What a beam of weight 1 becomes: specular + reflectance + transmittance + absorbed = 1, and emitted =
/// escaped above and below + absorbed, both to rounding.
struct Totals {
    Estimate specular, reflectance, transmittance, absorbed;
    std::vector<Estimate> absorbed_per_layer;
    Estimate cut_off; ///< of either wavelength, after Settings::most_steps; counted as absorbed too
    struct {
        Estimate emitted, escaped_top, escaped_bottom, absorbed;
        std::vector<Estimate> absorbed_per_layer;
    } fluorescence;
    /// Of Simulation::totals alone, at either wavelength: by detector; and by gate, of reflectance,
    /// transmittance, and the detectors, one after another.
    std::vector<Detected> detectors[2];
    std::vector<double> gates[2];
};

/// Per packet and volume or area. [0] of excitation, [1] of emission.
struct Grids {
    std::vector<std::size_t> absorption_shape; ///< z, r or z, y, x
    std::vector<double> absorption[2];         ///< 1/cm3
    std::vector<double> fluence[2];            ///< 1/cm2, as absorption; empty unless it was asked for
    std::vector<std::size_t> escape_shape;     ///< r, angle or y, x
    std::vector<double> escape[2][2];          ///< [1] below: 1/(cm2 sr), without angles 1/cm2
};

/// Figures of sums as kernels leave them (Scores::totals).
[[nodiscard]] Totals totals_of(const Problem& problem, const Settings& settings,
                               std::span<const std::uint64_t> sums);

/// Data and job of one run.
///
/// Lifetime  the job and its requests share the data: the simulation may end before them
class Simulation {
public:
    Simulation(const Problem& problem, const Settings& settings);

    [[nodiscard]] headrace::Job job() const;
    /// Wait for the job first. Block while sums are collected.
    [[nodiscard]] Totals totals() const;
    [[nodiscard]] Grids grids() const;

private:
    Problem problem_;
    Settings settings_;
    Tissue tissue_;
    headrace::Domain<Layer> layers_;
    std::optional<headrace::Domain<PhaseNode>> phases_;            ///< of general kernels
    headrace::Domain<std::uint64_t> totals_, absorption_, escape_; ///< see Scores
    /// Of general kernels.
    struct More {
        General general;
        headrace::Domain<PhaseNode> phases;
        headrace::Domain<std::uint64_t> fluence; ///< see GeneralView
    };
    std::optional<More> more_;
    /// Of detecting kernels.
    struct Detection {
        headrace::Domain<Detector> detectors;
        headrace::Domain<std::uint64_t> detected, gated; ///< see DetectingView
    };
    std::optional<Detection> detection_;
};

} // namespace fluorescence
