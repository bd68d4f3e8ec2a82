// tests/apps/reference_photons.cpp - see reference_photons.hpp.
#include "reference_photons.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

namespace fluorescence::test {
namespace {

using Direction = std::array<double, 3>;

double dot(const Direction& a, const Direction& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Direction cross(const Direction& a, const Direction& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Direction combine(double s, const Direction& a, double t, const Direction& b, double u, const Direction& c) {
    return {s * a[0] + t * b[0] + u * c[0], s * a[1] + t * b[1] + u * c[1], s * a[2] + t * b[2] + u * c[2]};
}
Direction unit(const Direction& a) {
    const double length = std::sqrt(dot(a, a));
    return {a[0] / length, a[1] / length, a[2] / length};
}

class Tracer {
public:
    Tracer(const Problem& problem, std::uint64_t seed) : problem_(problem), random_(seed) {}

    std::uint64_t steps = 0; ///< to interactions and boundaries

    /// What one packet of weight 1 becomes.
    struct Packet {
        double reflectance = 0, reflected_near = 0, transmittance = 0, emitted = 0, top = 0, bottom = 0,
               reabsorbed = 0;
        double detected = 0;
        std::vector<double> absorbed, paths, reflected_in_gate;
    };
    Packet follow_one() {
        Packet found;
        found.absorbed.resize(problem_.layers.size());
        found.paths.resize(problem_.layers.size());
        found.reflected_in_gate.resize(problem_.time.gates);
        Start start = start_of_source();
        follow(start.direction, start.x, start.y, start.z, start.layer, start.weight, false, found);
        return found;
    }

private:
    double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }

    struct Start {
        Direction direction{0, 0, 1};
        double x = 0, y = 0, z = 0, weight = 1;
        std::size_t layer = 0;
    };
    /// What is lost at the surface lessens the weight.
    Start start_of_source() {
        using std::numbers::pi;
        const SourceSpec& source = problem_.source;
        const double n_first = problem_.layers[0].n;
        Start start;
        start.z = source.depth;
        while (start.z > 0 && start.z >= problem_.layers[start.layer].thickness)
            start.z -= problem_.layers[start.layer++].thickness;
        const double turn = 2 * pi * uniform(), u = uniform();
        double distance = 0, angle = 0; // from the axis; of the ray, where the source is
        bool enters = source.depth == 0;
        switch (source.kind) {
        case SourceKind::pencil:
            break;
        case SourceKind::gaussian:
            distance = source.radius * std::sqrt(-std::log(1 - u) / 2);
            break;
        case SourceKind::disc:
            distance = source.radius * std::sqrt(u);
            break;
        case SourceKind::oblique:
            angle = source.angle * pi / 180;
            break;
        case SourceKind::isotropic:
            angle = std::acos(1 - 2 * uniform());
            enters = false;
            break;
        case SourceKind::fibre:
            distance = source.radius * std::sqrt(u);
            angle = std::asin(source.numerical_aperture * std::sqrt(uniform()) /
                              (enters ? problem_.n_above : problem_.layers[start.layer].n));
        }
        start.x = distance * std::cos(turn);
        start.y = distance * std::sin(turn);
        if (enters) {
            start.weight = 1 - fresnel(problem_.n_above, n_first, std::cos(angle));
            angle = std::asin(std::min(1.0, std::sin(angle) * problem_.n_above / n_first));
        }
        const double around = source.kind == SourceKind::oblique ? 0 : 2 * pi * uniform();
        start.direction = {std::sin(angle) * std::cos(around), std::sin(angle) * std::sin(around),
                           std::cos(angle)};
        return start;
    }

    /// By Fresnel's formulas in their trigonometric form.
    static double fresnel(double n1, double n2, double cosine) {
        if (n1 == n2) return 0;
        const double in = std::acos(std::min(1.0, cosine));
        const double sine = n1 / n2 * std::sin(in);
        if (sine >= 1) return 1;
        const double out = std::asin(sine);
        if (in < 1e-6) return (n1 - n2) / (n1 + n2) * ((n1 - n2) / (n1 + n2));
        const double s = std::sin(in - out) / std::sin(in + out), p = std::tan(in - out) / std::tan(in + out);
        return (s * s + p * p) / 2;
    }

    /// `z`: from the top of the layer.
    void follow(Direction direction, double x, double y, double z, std::size_t layer, double weight,
                bool is_emission, Packet& found) {
        const auto optics = [&] {
            const LayerSpec& spec = problem_.layers[layer];
            return is_emission ? spec.emission.value_or(spec.excitation) : spec.excitation;
        };
        std::vector<double> path(problem_.layers.size());
        double depth_left = -std::log(1 - uniform());
        for (;; ++steps) {
            const Optical here = optics();
            const double attenuation = here.mua + here.mus;
            const double goal = direction[2] > 0 ? problem_.layers[layer].thickness : 0;
            const double to_boundary =
                direction[2] != 0 ? (goal - z) / direction[2] : std::numeric_limits<double>::infinity();
            if (to_boundary * attenuation <= depth_left) {
                depth_left -= to_boundary * attenuation;
                path[layer] += to_boundary;
                x += direction[0] * to_boundary;
                y += direction[1] * to_boundary;
                z = goal;
                const bool down = direction[2] > 0;
                const double n1 = problem_.layers[layer].n;
                const bool leaves = down ? layer + 1 == problem_.layers.size() : layer == 0;
                const double n2 = leaves ? (down ? problem_.n_below : problem_.n_above)
                                         : problem_.layers[down ? layer + 1 : layer - 1].n;
                if (uniform() < fresnel(n1, n2, std::abs(direction[2]))) {
                    direction[2] = -direction[2];
                    continue;
                }
                if (leaves) {
                    (is_emission ? (down ? found.bottom : found.top)
                                 : (down ? found.transmittance : found.reflectance)) += weight;
                    if (is_emission || down) return;
                    if (std::hypot(x, y) < problem_.grid.dr) found.reflected_near += weight;
                    note_reflected(x, y, n1 * std::hypot(direction[0], direction[1]), weight, path, found);
                    return;
                }
                layer = down ? layer + 1 : layer - 1;
                z = down ? 0 : problem_.layers[layer].thickness;
                const double across = n1 / n2;
                direction[0] *= across;
                direction[1] *= across;
                const double level = direction[0] * direction[0] + direction[1] * direction[1];
                direction[2] = std::copysign(std::sqrt(1 - level), direction[2]);
                continue;
            }
            path[layer] += depth_left / attenuation;
            x += direction[0] * depth_left / attenuation;
            y += direction[1] * depth_left / attenuation;
            z += direction[2] * depth_left / attenuation;
            const double lost = weight * here.mua / attenuation;
            weight -= lost;
            const LayerSpec& spec = problem_.layers[layer];
            if (is_emission) {
                found.reabsorbed += lost;
            } else {
                found.absorbed[layer] += lost;
                if (spec.fluorophore_mua > 0 && lost > 0) {
                    // The expectation, by roulette only where next to nothing is left.
                    double sent = lost * spec.fluorophore_mua / here.mua * spec.quantum_yield;
                    if (sent < 0.05) sent = uniform() < sent / 0.05 ? 0.05 : 0;
                    if (sent > 0) {
                        found.emitted += sent;
                        const double cosine = 2 * uniform() - 1, turn = 2 * std::numbers::pi * uniform();
                        const double level = std::sqrt(1 - cosine * cosine);
                        follow({level * std::cos(turn), level * std::sin(turn), cosine}, x, y, z, layer, sent,
                               true, found);
                    }
                }
            }
            if (weight < 1e-4) {
                if (uniform() >= 0.1) return;
                weight *= 10;
            }
            direction = scattered(direction, here);
            depth_left = -std::log(1 - uniform());
        }
    }

    /// `sine`: times n, of the ray, which is the same on both sides of the surface.
    void note_reflected(double x, double y, double sine, double weight, const std::vector<double>& path,
                        Packet& found) const {
        double time = 0; // ps
        for (std::size_t i = 0; i < path.size(); ++i) time += path[i] * problem_.layers[i].n / 0.0299792458;
        const double gate = time / problem_.time.step;
        if (gate < static_cast<double>(problem_.time.gates))
            found.reflected_in_gate[static_cast<std::size_t>(gate)] += weight;
        if (problem_.detectors.empty()) return;
        const DetectorSpec& detector = problem_.detectors[0];
        if (std::hypot(x - detector.x, y - detector.y) > detector.radius ||
            sine > detector.numerical_aperture)
            return;
        found.detected += weight;
        for (std::size_t i = 0; i < path.size(); ++i) found.paths[i] += weight * path[i];
    }

    double cosine_by_henyey_greenstein(double g) {
        const double u = uniform();
        double cosine = 2 * u - 1;
        if (std::abs(g) < 1e-4) {
            cosine += 1.5 * g * (1 - cosine * cosine); // to the square of g; the formula would cancel
        } else {
            const double part = (1 - g * g) / (1 + g * (2 * u - 1));
            cosine = std::clamp((1 + g * g - part * part) / (2 * g), -1.0, 1.0);
        }
        return cosine;
    }
    /// Any cosine, taken as often as its density says, which is at most `most`.
    double cosine_by_rejection(double most, const auto& density) {
        for (;;) {
            const double cosine = 2 * uniform() - 1;
            if (uniform() * most < density(cosine)) return cosine;
        }
    }
    double cosine_of(const Optical& optical) {
        const auto& table = optical.phase.table;
        double most = 0;
        for (const PhaseRow& row : table) most = std::max(most, row.density);
        switch (optical.phase.kind) {
        case PhaseKind::henyey_greenstein:
            break;
        case PhaseKind::modified_henyey_greenstein:
            if (uniform() < optical.phase.part) break;
            return cosine_by_rejection(1, [](double cosine) { return cosine * cosine; });
        case PhaseKind::rayleigh:
            return cosine_by_rejection(2, [](double cosine) { return 1 + cosine * cosine; });
        case PhaseKind::tabulated:
            return cosine_by_rejection(most, [&](double cosine) {
                std::size_t row = 1;
                while (row + 1 < table.size() && table[row].cosine < cosine) ++row;
                const PhaseRow &a = table[row - 1], &b = table[row];
                return a.density + (b.density - a.density) * (cosine - a.cosine) / (b.cosine - a.cosine);
            });
        }
        return cosine_by_henyey_greenstein(optical.g);
    }

    Direction scattered(const Direction& before, const Optical& optical) {
        const double cosine = cosine_of(optical);
        const double sine = std::sqrt(1 - cosine * cosine), turn = 2 * std::numbers::pi * uniform();
        const Direction other = std::abs(before[0]) < 0.5 ? Direction{1, 0, 0} : Direction{0, 1, 0};
        const Direction a = unit(cross(before, other)), b = cross(before, a);
        return unit(combine(sine * std::cos(turn), a, sine * std::sin(turn), b, cosine, before));
    }

    const Problem& problem_;
    std::mt19937_64 random_;
};

} // namespace

double ReferenceTotals::error(const Tally& tally) const {
    const auto n = static_cast<double>(packets);
    return std::sqrt(std::max(0.0, tally.squares / n - mean(tally) * mean(tally)) / n);
}

ReferenceTotals follow(const Problem& problem, std::uint64_t packets, std::uint64_t seed) {
    Tracer tracer(problem, seed);
    ReferenceTotals totals;
    totals.packets = packets;
    totals.absorbed.resize(problem.layers.size());
    totals.paths.resize(problem.layers.size());
    totals.reflected_in_gate.resize(problem.time.gates);
    for (std::uint64_t i = 0; i < packets; ++i) {
        const auto packet = tracer.follow_one();
        totals.reflectance.add(packet.reflectance);
        totals.reflected_near.add(packet.reflected_near);
        totals.transmittance.add(packet.transmittance);
        totals.emitted.add(packet.emitted);
        totals.escaped_top.add(packet.top);
        totals.escaped_bottom.add(packet.bottom);
        totals.reabsorbed.add(packet.reabsorbed);
        totals.detected.add(packet.detected);
        for (std::size_t layer = 0; layer < packet.absorbed.size(); ++layer) {
            totals.absorbed[layer].add(packet.absorbed[layer]);
            totals.paths[layer].add(packet.paths[layer]);
        }
        for (std::size_t gate = 0; gate < packet.reflected_in_gate.size(); ++gate)
            totals.reflected_in_gate[gate].add(packet.reflected_in_gate[gate]);
    }
    totals.steps = tracer.steps;
    return totals;
}

} // namespace fluorescence::test
