// apps/fluorescence/transport.hpp - one step of a packet of photons through layered tissue. fluorescence.cl
// has it in OpenCL C: change both.
//
// Source    L. Wang, S. L. Jacques, L. Zheng, "MCML - Monte Carlo modeling of light transport in
// multi-layered
//           tissues", Computer Methods and Programs in Biomedicine 47, 1995; differs in: weights are whole
//           numbers, and what roulette takes or gives counts as absorbed, so that energy is conserved exactly
#pragma once
#include "layout.h"
#include "random/philox.hpp"
#include "random/turns.hpp"
#include <headrace/domains/view.hpp>

#include <cmath>

namespace fluorescence {

/// Where kernels add what happens.
struct Scores {
    headrace::Sum<uint64_t> totals;     ///< [batch][total]
    headrace::Sum<uint64_t> absorption; ///< [wavelength][z][y][x], or [wavelength][z][r]
    headrace::Sum<uint64_t> escape;     ///< [wavelength][side][y][x], or [wavelength][side][r][angle]
};

struct TissueView {
    headrace::View<const Layer> layers;
    Tissue tissue;
    Scores scores;
};

struct StepResult {
    bool goes_on; ///< the packet
    bool emits;   ///< a fluorescent one
    Packet emitted;
};

HEADRACE_HOST_DEVICE inline uint32_t wavelength(const Packet& packet) { return packet.origin != 0 ? 1 : 0; }
HEADRACE_HOST_DEVICE inline uint32_t layer_of(const Packet& packet) { return packet.layer_and_number & 255u; }
HEADRACE_HOST_DEVICE inline void enter(Packet& packet, uint32_t layer) {
    packet.layer_and_number = (packet.layer_and_number & ~255u) | layer;
}

/// The random numbers of a step; step 0 of a fluorescent packet chooses its direction.
HEADRACE_HOST_DEVICE inline random_numbers::Words4 random_words(const Tissue& tissue, const Packet& packet) {
    return random_numbers::philox4x32(
        {packet.number, packet.layer_and_number >> 8, packet.origin, packet.step}, tissue.seed_low,
        tissue.seed_high);
}

/// A fifth number, of the bits that the others leave.
HEADRACE_HOST_DEVICE inline float fifth_of(const random_numbers::Words4& words) {
    return random_numbers::uniform((words.a & 255u) << 24 | (words.b & 255u) << 16 | (words.c & 255u) << 8);
}

HEADRACE_HOST_DEVICE inline Packet begin_packet(const Tissue& tissue, uint64_t number) {
    Packet packet{};
    packet.z = tissue.first_depth;
    packet.uz = 1;
    packet.weight = tissue.weight;
    packet.number = static_cast<uint32_t>(number);
    packet.layer_and_number = static_cast<uint32_t>(number >> 32) << 8 | tissue.first_layer;
    packet.step = 1;
    return packet;
}

HEADRACE_HOST_DEVICE inline uint32_t rounded(float weight) { return static_cast<uint32_t>(weight + 0.5f); }

HEADRACE_HOST_DEVICE inline uint32_t cell_of(float place, float cells_per_cm, uint32_t cells) {
    // As MCML: what lies beyond the grid counts in its last cell, so that nothing is left out of sums.
    const float cell = place * cells_per_cm;
    return cell < 1 ? 0 : cell >= static_cast<float>(cells) ? cells - 1 : static_cast<uint32_t>(cell);
}

/// The cell of a place across the beam: of the plane, or of the radius.
HEADRACE_HOST_DEVICE inline uint32_t across(const Tissue& tissue, float x, float y) {
    if (tissue.is_xyz == 0) return cell_of(std::sqrt(x * x + y * y), tissue.columns_per_cm, tissue.columns);
    return cell_of(y - tissue.row_edge, tissue.rows_per_cm, tissue.rows) * tissue.columns +
           cell_of(x - tissue.column_edge, tissue.columns_per_cm, tissue.columns);
}

HEADRACE_HOST_DEVICE inline uint64_t total(const TissueView& view, const Packet& packet, uint32_t which) {
    return static_cast<uint64_t>(packet.number % FLUORESCENCE_BATCHES) * view.tissue.totals + which;
}

/// What a packet has lost in one cell goes to the grid: when it loses some in another, or ends.
HEADRACE_HOST_DEVICE inline void settle_cell(const TissueView& view, Packet& packet) {
    if (packet.in_cell == 0) return;
    const uint64_t cells = static_cast<uint64_t>(view.tissue.depths) * view.tissue.rows * view.tissue.columns;
    view.scores.absorption.add(wavelength(packet) * cells + packet.cell,
                               static_cast<uint64_t>(static_cast<int64_t>(packet.in_cell)));
    packet.in_cell = 0;
}

/// What a packet has lost in its layer goes to the layer's total: when it leaves, or ends.
HEADRACE_HOST_DEVICE inline void settle(const TissueView& view, Packet& packet) {
    const uint32_t which = FLUORESCENCE_ABSORBED + wavelength(packet) * view.tissue.layers + layer_of(packet);
    if (packet.pending != 0)
        view.scores.totals.add(total(view, packet, which),
                               static_cast<uint64_t>(static_cast<int64_t>(packet.pending)));
    packet.pending = 0;
}

HEADRACE_HOST_DEVICE inline void absorb(const TissueView& view, Packet& packet, int32_t amount) {
    const Tissue& tissue = view.tissue;
    const uint32_t cell =
        cell_of(packet.z, tissue.depths_per_cm, tissue.depths) * (tissue.rows * tissue.columns) +
        across(tissue, packet.x, packet.y);
    if (cell != packet.cell) settle_cell(view, packet);
    packet.cell = cell;
    packet.in_cell += amount;
    packet.pending += amount;
}

/// Nothing is left to be added: the packet ends.
HEADRACE_HOST_DEVICE inline void settle_all(const TissueView& view, Packet& packet) {
    settle_cell(view, packet);
    settle(view, packet);
}

/// `cosine`: of the angle to the normal, outside.
HEADRACE_HOST_DEVICE inline void escape(const TissueView& view, const Packet& packet, uint32_t side,
                                        float cosine) {
    const Tissue& tissue = view.tissue;
    const uint32_t which = wavelength(packet) * 2 + side;
    view.scores.totals.add(total(view, packet, which), packet.weight);
    const float angle = std::acos(cosine < 1 ? cosine : 1.0f);
    const uint64_t cell =
        static_cast<uint64_t>(which) * (tissue.rows * tissue.columns) + across(tissue, packet.x, packet.y);
    view.scores.escape.add(cell * tissue.angles + cell_of(angle, tissue.angles_per_radian, tissue.angles),
                           packet.weight);
}

/// Fresnel's reflectance for unpolarised light; `cosine_beyond` becomes that of the refracted ray.
HEADRACE_HOST_DEVICE inline float reflectance(float n, float n_beyond, float cosine, float& cosine_beyond) {
    cosine_beyond = cosine;
    if (n == n_beyond) return 0;
    const float sine = n / n_beyond * std::sqrt(1 - cosine * cosine);
    if (!(sine < 1)) return 1;
    cosine_beyond = std::sqrt(1 - sine * sine);
    const float a = n * cosine, b = n_beyond * cosine_beyond, c = n * cosine_beyond, d = n_beyond * cosine;
    const float s = (a - b) / (a + b), p = (c - d) / (c + d);
    return 0.5f * (s * s + p * p);
}

/// At the boundary that it has come to: reflected, or into the next layer. False: it has left the tissue.
HEADRACE_HOST_DEVICE inline bool meet_boundary(const TissueView& view, const Layer& layer, Packet& packet,
                                               float random) {
    const bool down = packet.uz > 0;
    const float cosine = std::fabs(packet.uz), n_beyond = down ? layer.n_below : layer.n_above;
    packet.z = down ? layer.bottom : layer.top;
    float cosine_beyond = cosine;
    const float reflected = cosine <= (down ? layer.critical_below : layer.critical_above)
                                ? 1.0f
                                : reflectance(layer.n, n_beyond, cosine, cosine_beyond);
    if (random < reflected) {
        packet.uz = -packet.uz;
        return true;
    }
    settle(view, packet);
    const uint32_t at = layer_of(packet);
    if (down ? at + 1 == view.tissue.layers : at == 0) {
        settle_cell(view, packet);
        escape(view, packet, down ? 1 : 0, cosine_beyond);
        return false;
    }
    enter(packet, down ? at + 1 : at - 1);
    packet.ux *= layer.n / n_beyond;
    packet.uy *= layer.n / n_beyond;
    packet.uz = down ? cosine_beyond : -cosine_beyond;
    return true;
}

/// Another direction, by Henyey and Greenstein.
HEADRACE_HOST_DEVICE inline void scatter(Packet& packet, float g, float random, float turns) {
    float cosine = 2 * random - 1;
    if (g != 0) {
        const float part = (1 - g * g) / (1 - g + 2 * g * random);
        cosine = (1 + g * g - part * part) / (2 * g);
        cosine = cosine < -1 ? -1.0f : cosine > 1 ? 1.0f : cosine;
    }
    const float sine = std::sqrt(1 - cosine * cosine);
    float a, b;
    random_numbers::sin_cos_of_turns(turns, b, a);
    a *= sine;
    b *= sine;
    const float ux = packet.ux, uy = packet.uy, uz = packet.uz;
    const float level = 1 - uz * uz; // squared
    if (level < 1e-6f) {
        packet.ux = a;
        packet.uy = b;
        packet.uz = uz > 0 ? cosine : -cosine;
    } else {
        const float root = std::sqrt(level), inverse = 1 / root;
        packet.ux = (ux * uz * a - uy * b) * inverse + ux * cosine;
        packet.uy = (uy * uz * a + ux * b) * inverse + uy * cosine;
        packet.uz = -root * a + uz * cosine;
    }
    // Rounding would make it grow or shrink over thousands of steps.
    const float scale = 1.5f - 0.5f * (packet.ux * packet.ux + packet.uy * packet.uy + packet.uz * packet.uz);
    packet.ux *= scale;
    packet.uy *= scale;
    packet.uz *= scale;
}

/// A packet at the second wavelength, in any direction from where `packet` is.
HEADRACE_HOST_DEVICE inline Packet emit(const TissueView& view, const Packet& packet, uint32_t weight) {
    Packet emitted = packet;
    emitted.origin = packet.step;
    emitted.step = 0;
    emitted.rest = 0;
    emitted.pending = emitted.in_cell = 0;
    emitted.weight = weight;
    const auto words = random_words(view.tissue, emitted);
    emitted.uz = 2 * random_numbers::uniform(words.a) - 1;
    const float level = std::sqrt(1 - emitted.uz * emitted.uz);
    random_numbers::sin_cos_of_turns(random_numbers::uniform(words.b), emitted.uy, emitted.ux);
    emitted.ux *= level;
    emitted.uy *= level;
    emitted.step = 1;
    view.scores.totals.add(total(view, emitted, FLUORESCENCE_EMITTED), weight);
    return emitted;
}

/// True if it would stay in its layer for ever: along it, or reflected by both sides of a clear one. Or as
/// good as.
HEADRACE_HOST_DEVICE inline bool is_trapped(const Layer& layer, const Optics& optics, const Packet& packet) {
    const float cosine = std::fabs(packet.uz);
    const bool stays = cosine == 0 || (cosine <= layer.critical_above && cosine <= layer.critical_below);
    return (optics.attenuation == 0 && stays) || packet.step >= FLUORESCENCE_MOST_STEPS;
}

/// What a packet loses of its weight: whole units, and one more as often as the rest of one says, or thin
/// absorbers would never or always take one.
HEADRACE_HOST_DEVICE inline uint32_t loss_of(const Packet& packet, float absorbed, uint32_t random) {
    const float dither = (static_cast<float>(random & 255u) + 0.5f) / 256;
    const auto lost = static_cast<uint32_t>(static_cast<float>(packet.weight) * absorbed + dither);
    return lost < packet.weight ? lost : packet.weight;
}

/// To the next place where something happens: a boundary, or an interaction, in which the packet loses
/// weight, may emit a fluorescent packet, is scattered, and may end by roulette.
HEADRACE_HOST_DEVICE inline StepResult take_step(const TissueView& view, Packet& packet) {
    StepResult result{true, false, {}};
    const Layer layer = view.layers[layer_of(packet)];
    const Optics optics = packet.origin != 0 ? layer.emission : layer.excitation;
    const auto words = random_words(view.tissue, packet);
    const bool clear = optics.attenuation == 0;
    if (is_trapped(layer, optics, packet)) {
        absorb(view, packet, static_cast<int32_t>(packet.weight));
        settle_all(view, packet);
        return {false, false, {}};
    }
    if (packet.rest == 0 && !clear) packet.rest = -std::log(1 - random_numbers::uniform(words.a));

    const float way = packet.rest * optics.free_path;
    const float to_boundary = (packet.uz > 0 ? layer.bottom - packet.z : layer.top - packet.z) / packet.uz;
    if (packet.uz != 0 && (clear || to_boundary <= way)) {
        packet.x += to_boundary * packet.ux;
        packet.y += to_boundary * packet.uy;
        packet.rest -= to_boundary * optics.attenuation;
        if (packet.rest < 0) packet.rest = 0;
        result.goes_on = meet_boundary(view, layer, packet, random_numbers::uniform(words.b));
        ++packet.step;
        return result;
    }
    packet.x += way * packet.ux;
    packet.y += way * packet.uy;
    packet.z += way * packet.uz;
    packet.rest = 0;

    const uint32_t lost = loss_of(packet, optics.absorbed, words.d); // whose lower bits nobody else takes
    packet.weight -= lost;
    if (packet.origin == 0 && layer.yield > 0 && lost > 0) {
        const float expected = static_cast<float>(lost) * layer.yield;
        if (fifth_of(words) * static_cast<float>(view.tissue.emission_weight) < expected) {
            const uint32_t weight = rounded(expected);
            result.emits = true;
            result.emitted = emit(
                view, packet, weight > view.tissue.emission_weight ? weight : view.tissue.emission_weight);
        }
    }
    int32_t absorbed = static_cast<int32_t>(lost);
    if (packet.weight < FLUORESCENCE_ROULETTE_BELOW) {
        if (packet.weight != 0 && random_numbers::uniform(words.b) < FLUORESCENCE_ROULETTE_CHANCE) {
            const uint32_t gain = FLUORESCENCE_ROULETTE_GAIN * packet.weight;
            absorbed -= static_cast<int32_t>(gain);
            packet.weight += gain;
        } else {
            absorbed += static_cast<int32_t>(packet.weight);
            packet.weight = 0;
            result.goes_on = false;
        }
    }
    absorb(view, packet, absorbed);
    if (result.goes_on)
        scatter(packet, optics.g, random_numbers::uniform(words.c), random_numbers::uniform(words.d));
    else
        settle_all(view, packet);
    ++packet.step;
    return result;
}

} // namespace fluorescence
