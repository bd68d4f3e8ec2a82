// apps/fluorescence/identity.cpp - see identity.hpp.
#include "identity.hpp"
#include <headrace/domains/epochs.hpp>

#include "fluorescence.cl.hpp"
#include "fluorescence.kernels.hpp.hpp"

#include <bit>
#include <cstdint>
#include <iomanip>
#include <limits>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>
#include <vector>

namespace fluorescence {
namespace {

/// Values one behind the other: no padding, and all bits of each.
class Words {
public:
    template <class T>
    void add(T value) {
        words_.push_back(static_cast<std::uint64_t>(value));
    }
    void add(double value) { words_.push_back(std::bit_cast<std::uint64_t>(value)); }
    template <class T>
    void add(const std::optional<T>& value) {
        add(value.has_value());
        if (value) add(*value);
    }
    void add(const Phase& phase) {
        add(phase.kind);
        add(phase.part);
        add(phase.table.size());
        for (const PhaseRow& row : phase.table) {
            add(row.cosine);
            add(row.density);
        }
    }
    void add(const Optical& optical) {
        for (const double value : {optical.mua, optical.mus, optical.g}) add(value);
        add(optical.phase);
    }
    [[nodiscard]] std::string fingerprint() const {
        return headrace::fingerprint(std::as_bytes(std::span(words_)));
    }

private:
    std::vector<std::uint64_t> words_;
};

std::string layers_of(const Problem& problem) {
    Words words;
    for (const double n : {problem.n_above, problem.n_below}) words.add(n);
    for (const LayerSpec& layer : problem.layers) {
        for (const double value : {layer.n, layer.thickness, layer.fluorophore_mua, layer.quantum_yield})
            words.add(value);
        words.add(layer.excitation);
        words.add(layer.emission);
    }
    return words.fingerprint();
}

std::string cells_of(const GridSpec& grid) {
    Words words;
    for (const double size : {grid.dz, grid.dr}) words.add(size);
    for (const int count : {grid.nz, grid.nr, grid.na}) words.add(count);
    for (const auto& size : {grid.dx, grid.dy}) words.add(size);
    for (const auto& count : {grid.nx, grid.ny}) words.add(count);
    return words.fingerprint();
}

std::string source_of(const SourceSpec& source) {
    Words words;
    words.add(source.kind);
    for (const double value : {source.radius, source.depth, source.angle, source.numerical_aperture})
        words.add(value);
    return words.fingerprint();
}

std::string detectors_of(const Problem& problem) {
    Words words;
    for (const DetectorSpec& detector : problem.detectors) {
        for (const double value : {detector.x, detector.y, detector.radius, detector.numerical_aperture})
            words.add(value);
        words.add(detector.is_below);
    }
    words.add(problem.time.step);
    words.add(problem.time.gates);
    return words.fingerprint();
}

/// Of the text of all their sources: two builds may compute other numbers.
std::string kernels() {
    const std::string text =
        std::string(headrace::embedded::fluorescence_cl).append(headrace::embedded::fluorescence_kernels_hpp);
    return headrace::fingerprint(std::as_bytes(std::span(text)));
}

} // namespace

std::string identity_of(const Problem& problem, const Settings& settings) {
    std::string lines;
    const auto add = [&](std::string_view name, const std::string& value) {
        lines.append(name).append(": ").append(value).append("\n");
    };
    const auto text_of = [](bool is_so) { return std::string(is_so ? "yes" : "no"); };
    add("program", "headrace-fluorescence");
    add("kernels", kernels());
    add("layers of the input", layers_of(problem));
    add("cells of the input", cells_of(problem.grid));
    add("source of the input", source_of(problem.source));
    add("detectors and gates of the input", detectors_of(problem));
    add("--photons", std::to_string(settings.photons));
    add("--seed", std::to_string(settings.seed));
    add("--grid", settings.grid == GridChoice::rz ? "rz" : "xyz");
    add("--kernel", settings.kernel == KernelChoice::consumer ? "consumer" : "producer");
    std::ostringstream weight;
    weight << std::setprecision(std::numeric_limits<double>::max_digits10) << settings.emission_weight;
    add("--emission-weight", weight.str());
    add("--most-steps", std::to_string(settings.most_steps));
    add("fluence, for --grids or --plot", text_of(settings.fluence));
    return lines;
}

} // namespace fluorescence
