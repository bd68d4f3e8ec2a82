// apps/fluorescence/transport.hpp - steps of a packet of photons through layered tissue. fluorescence.cl has
// them in OpenCL C: change both.
//
// Source    L. Wang, S. L. Jacques, L. Zheng, "MCML - Monte Carlo modeling of light transport in
// multi-layered
//           tissues", Computer Methods and Programs in Biomedicine 47, 1995; differs in: weights are whole
//           numbers, and what roulette takes or gives counts as absorbed, so that energy is conserved
//           exactly; the free path is drawn anew behind a boundary, since it has no memory
#pragma once
#include "layout.h"
#include "random/philox.hpp"
#include "random/turns.hpp"
#include <headrace/domains/view.hpp>

#include <cmath>

/// Before a loop that a GPU's compiler should leave alone.
#if defined(__CUDACC__) || defined(__HIPCC__)
    #define FLUORESCENCE_ROLLED _Pragma("unroll 1")
#else
    #define FLUORESCENCE_ROLLED
#endif

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

    /// Sums that are kept near the lanes: all totals, then the absorption in the part of the grid that gets
    /// most.
    HEADRACE_HOST_DEVICE uint32_t local_sums() const {
        return FLUORESCENCE_BATCHES * tissue.totals +
               tissue.near_wavelengths * tissue.near_depths * tissue.near_rows * tissue.near_columns;
    }
    HEADRACE_HOST_DEVICE uint64_t& sum_of(uint32_t number) const {
        const uint32_t totals = FLUORESCENCE_BATCHES * tissue.totals;
        if (number < totals) return scores.totals.origin[number];
        const uint32_t cell = number - totals, depths = cell / (tissue.near_rows * tissue.near_columns);
        const uint32_t row = cell / tissue.near_columns % tissue.near_rows;
        return absorption(depths / tissue.near_depths, depths % tissue.near_depths,
                          row + tissue.first_near_row, cell % tissue.near_columns + tissue.first_near_column);
    }
    HEADRACE_HOST_DEVICE uint64_t& absorption(uint32_t wavelength, uint32_t z, uint32_t y, uint32_t x) const {
        const uint64_t plane = uint64_t{wavelength} * tissue.depths + z;
        return scores.absorption.origin[(plane * tissue.rows + y) * tissue.columns + x];
    }
};

/// What a packet meets in its layer, at its wavelength.
struct Medium {
    float top, bottom;
    float free_path; ///< mean, in cm for a logarithm to base 2
    float absorbed, g;
    float yield; ///< of what is absorbed, to be sent on; 0 for fluorescent packets
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

HEADRACE_HOST_DEVICE inline Medium medium_of(const TissueView& view, const Packet& packet) {
    const Layer& layer = view.layers[layer_of(packet)];
    const bool fluoresces = packet.origin != 0;
    const Optics optics = fluoresces ? layer.emission : layer.excitation;
    return {layer.top,       layer.bottom, optics.free_path * 0.693147181f,
            optics.absorbed, optics.g,     fluoresces ? 0 : layer.yield};
}

/// Random numbers of two steps, an even one and the next: a step takes two words.
HEADRACE_HOST_DEVICE inline random_numbers::Words4 random_words(const Tissue& tissue, const Packet& packet) {
    return random_numbers::philox4x32(
        {packet.number, packet.layer_and_number >> 8, packet.origin, packet.step / 2}, tissue.seed_low,
        tissue.seed_high);
}

HEADRACE_HOST_DEVICE inline Packet begin_packet(const Tissue& tissue, uint64_t number) {
    Packet packet{};
    packet.z = tissue.first_depth;
    packet.uz = 1;
    packet.weight = tissue.weight;
    packet.number = static_cast<uint32_t>(number);
    packet.layer_and_number = static_cast<uint32_t>(number >> 32) << 8 | tissue.first_layer;
    return packet;
}

HEADRACE_HOST_DEVICE inline uint32_t rounded(float weight) { return static_cast<uint32_t>(weight + 0.5f); }

/// As MCML: what lies beyond the grid counts in its last cell, so that nothing is left out of sums.
HEADRACE_HOST_DEVICE inline uint32_t cell_of(float place, float cells_per_cm, uint32_t cells) {
    return static_cast<uint32_t>(
        std::fmin(std::fmax(place * cells_per_cm, 0.0f), static_cast<float>(cells - 1)));
}
HEADRACE_HOST_DEVICE inline uint32_t row_of(const Tissue& tissue, float y) {
    return tissue.is_xyz == 0 ? 0 : cell_of(y - tissue.row_edge, tissue.rows_per_cm, tissue.rows);
}
HEADRACE_HOST_DEVICE inline uint32_t column_of(const Tissue& tissue, float x, float y) {
    const float across = tissue.is_xyz == 0 ? std::sqrt(x * x + y * y) : x - tissue.column_edge;
    return cell_of(across, tissue.columns_per_cm, tissue.columns);
}

/// To a total of the packet's batch.
HEADRACE_HOST_DEVICE inline void add_to_total(const TissueView& view, auto& lane, const Packet& packet,
                                              uint32_t which, int32_t amount) {
    const uint32_t number = packet.number % FLUORESCENCE_BATCHES * view.tissue.totals + which;
    lane.add(number, amount, [&]() -> uint64_t& { return view.scores.totals.origin[number]; });
}

/// What a packet has lost in its layer goes to the layer's total: when it leaves, or ends.
HEADRACE_HOST_DEVICE inline void settle(const TissueView& view, auto& lane, Packet& packet) {
    const uint32_t which = FLUORESCENCE_ABSORBED + wavelength(packet) * view.tissue.layers + layer_of(packet);
    if (packet.pending != 0) add_to_total(view, lane, packet, which, packet.pending);
    packet.pending = 0;
}

/// What a packet loses where it is.
HEADRACE_HOST_DEVICE inline void absorb(const TissueView& view, auto& lane, Packet& packet, int32_t amount) {
    const Tissue& tissue = view.tissue;
    const uint32_t z = cell_of(packet.z, tissue.depths_per_cm, tissue.depths);
    const uint32_t y = row_of(tissue, packet.y), x = column_of(tissue, packet.x, packet.y);
    const uint32_t near_y = y - tissue.first_near_row, near_x = x - tissue.first_near_column;
    uint32_t number = ~0u;
    if (z < tissue.near_depths && near_y < tissue.near_rows && near_x < tissue.near_columns &&
        wavelength(packet) < tissue.near_wavelengths)
        number = FLUORESCENCE_BATCHES * tissue.totals +
                 ((wavelength(packet) * tissue.near_depths + z) * tissue.near_rows + near_y) *
                     tissue.near_columns +
                 near_x;
    lane.add(number, amount, [&]() -> uint64_t& { return view.absorption(wavelength(packet), z, y, x); });
    packet.pending += amount;
}

/// `cosine`: of the angle to the normal, outside.
HEADRACE_HOST_DEVICE inline void escape(const TissueView& view, auto& lane, const Packet& packet,
                                        uint32_t side, float cosine) {
    const Tissue& tissue = view.tissue;
    const uint32_t which = wavelength(packet) * 2 + side;
    add_to_total(view, lane, packet, which, static_cast<int32_t>(packet.weight));
    const float angle = std::acos(cosine < 1 ? cosine : 1.0f);
    const uint64_t row = static_cast<uint64_t>(which) * tissue.rows + row_of(tissue, packet.y);
    const uint64_t cell = row * tissue.columns + column_of(tissue, packet.x, packet.y);
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

/// The packet has come to its end: all that it still carries stays where it is.
HEADRACE_HOST_DEVICE inline void end(const TissueView& view, auto& lane, Packet& packet) {
    absorb(view, lane, packet, static_cast<int32_t>(packet.weight));
    settle(view, lane, packet);
}

/// At the boundary to which it moves: reflected, or into the next layer. False: it has left the tissue, or
/// would be thrown from side to side of a clear layer for ever.
HEADRACE_HOST_DEVICE inline bool meet_boundary(const TissueView& view, auto& lane, Packet& packet,
                                               float random) {
    const Layer& layer = view.layers[layer_of(packet)];
    const bool down = packet.uz > 0;
    const float edge = down ? layer.bottom : layer.top, way = (edge - packet.z) / packet.uz;
    packet.x += way * packet.ux;
    packet.y += way * packet.uy;
    packet.z = edge;
    const float cosine = std::fabs(packet.uz), n_beyond = down ? layer.n_below : layer.n_above;
    float cosine_beyond = cosine;
    const bool all = cosine <= (down ? layer.critical_below : layer.critical_above);
    if (all || random < reflectance(layer.n, n_beyond, cosine, cosine_beyond)) {
        packet.uz = -packet.uz;
        const bool is_trapped = layer.is_clear[wavelength(packet)] != 0 && cosine <= layer.critical_above &&
                                cosine <= layer.critical_below;
        if (is_trapped) end(view, lane, packet);
        return !is_trapped;
    }
    settle(view, lane, packet);
    const uint32_t at = layer_of(packet);
    if (down ? at + 1 == view.tissue.layers : at == 0) {
        escape(view, lane, packet, down ? 1 : 0, cosine_beyond);
        return false;
    }
    enter(packet, down ? at + 1 : at - 1);
    packet.ux *= layer.n / n_beyond;
    packet.uy *= layer.n / n_beyond;
    packet.uz = down ? cosine_beyond : -cosine_beyond;
    return true;
}

HEADRACE_HOST_DEVICE inline void sin_cos_of(float turns, float& sine, float& cosine) {
#if defined(__CUDA_ARCH__)
    __sincosf((turns - 0.5f) * 6.28318531f, &sine, &cosine); // 2^-21 off, and from another beginning
#else
    random_numbers::sin_cos_of_turns(turns, sine, cosine);
#endif
}

/// Another direction, by Henyey and Greenstein.
///
/// Source    of the axes: Duff et al., "Building an orthonormal basis, revisited", JCGT 6(1), 2017
HEADRACE_HOST_DEVICE inline void scatter(Packet& packet, float g, float random, float turns) {
    float cosine = 2 * random - 1;
    if (g != 0) {
        const float part = (1 - g * g) / (1 - g + 2 * g * random);
        cosine = (1 + g * g - part * part) / (2 * g);
        cosine = std::fmin(std::fmax(cosine, -1.0f), 1.0f);
    }
    const float sine = std::sqrt(1 - cosine * cosine);
    float a, b;
    sin_cos_of(turns, b, a);
    a *= sine;
    b *= sine;
    const float ux = packet.ux, uy = packet.uy, uz = packet.uz;
    const float sign = std::copysign(1.0f, uz), part = -1 / (sign + uz), cross = ux * uy * part;
    packet.ux = a * (1 + sign * ux * ux * part) + b * cross + cosine * ux;
    packet.uy = a * sign * cross + b * (sign + uy * uy * part) + cosine * uy;
    packet.uz = cosine * uz - a * sign * ux - b * uy;
}

/// Rounding would make a direction grow or shrink over thousands of steps.
HEADRACE_HOST_DEVICE inline void normalise(Packet& packet) {
    const float scale = 1.5f - 0.5f * (packet.ux * packet.ux + packet.uy * packet.uy + packet.uz * packet.uz);
    packet.ux *= scale;
    packet.uy *= scale;
    packet.uz *= scale;
}

/// A packet at the second wavelength, in any direction from where `packet` is.
HEADRACE_HOST_DEVICE inline Packet emit(const TissueView& view, auto& lane, const Packet& packet,
                                        uint32_t weight) {
    Packet emitted = packet;
    emitted.origin = packet.step + 1;
    emitted.step = 0;
    emitted.pending = 0;
    emitted.weight = weight;
    const auto words = random_words(view.tissue, emitted);
    emitted.uz = 2 * random_numbers::uniform(words.a) - 1;
    const float level = std::sqrt(1 - emitted.uz * emitted.uz);
    sin_cos_of(random_numbers::uniform(words.b), emitted.uy, emitted.ux);
    emitted.ux *= level;
    emitted.uy *= level;
    emitted.step = 2;
    add_to_total(view, lane, emitted, FLUORESCENCE_EMITTED, static_cast<int32_t>(weight));
    return emitted;
}

/// To the next place where something happens: a boundary, or an interaction, in which the packet loses
/// weight, may emit a fluorescent packet, is scattered, and may end by roulette. Two random words are enough:
/// `a` for the free path, `b` for the angle of scattering or what happens at a boundary, eight bits of each
/// for the direction around. Roulette's survivors stretch what is left of the last; the rounding of a loss to
/// 2^-30 shares it. Whether to emit is asked of both words together, which tells nothing of either.
HEADRACE_HOST_DEVICE inline void take_step(const TissueView& view, auto& lane, Medium& medium, Packet& packet,
                                           uint32_t a, uint32_t b, StepResult& result) {
    const float way = (32 - std::log2(static_cast<float>(a | 1u))) * medium.free_path;
    const float depth = packet.z + way * packet.uz;
    if (depth < medium.top || depth > medium.bottom) {
        result.goes_on = meet_boundary(view, lane, packet, random_numbers::uniform(b));
        if (result.goes_on) medium = medium_of(view, packet);
        return;
    }
    packet.x += way * packet.ux;
    packet.y += way * packet.uy;
    packet.z = depth;

    float turns = static_cast<float>((a & 255u) << 8 | (b & 255u)) * (1.0f / 65536.0f) + 0.5f / 65536.0f;
    // Whole units of weight, and one more as often as the rest of one says, or thin absorbers would never or
    // always take one.
    auto lost = static_cast<uint32_t>(static_cast<float>(packet.weight) * medium.absorbed + turns);
    lost = lost < packet.weight ? lost : packet.weight;
    packet.weight -= lost;
    if (medium.yield > 0) {
        const float expected = static_cast<float>(lost) * medium.yield;
        const auto chance = static_cast<float>(a * 0x9E3779B1u + b) * (1.0f / 4294967296.0f);
        if (chance * static_cast<float>(view.tissue.emission_weight) < expected) {
            const uint32_t weight = rounded(expected);
            result.emits = true;
            result.emitted =
                emit(view, lane, packet,
                     weight > view.tissue.emission_weight ? weight : view.tissue.emission_weight);
        }
    }
    int32_t absorbed = static_cast<int32_t>(lost);
    if (packet.weight < FLUORESCENCE_ROULETTE_BELOW) {
        if (packet.weight != 0 && turns < FLUORESCENCE_ROULETTE_CHANCE) {
            const uint32_t gain = FLUORESCENCE_ROULETTE_GAIN * packet.weight;
            absorbed -= static_cast<int32_t>(gain);
            packet.weight += gain;
            turns /= FLUORESCENCE_ROULETTE_CHANCE;
        } else {
            absorbed += static_cast<int32_t>(packet.weight);
            packet.weight = 0;
            result.goes_on = false;
        }
    }
    absorb(view, lane, packet, absorbed);
    if (result.goes_on)
        scatter(packet, medium.g, static_cast<float>(b) * (1.0f / 4294967296.0f), turns);
    else
        settle(view, lane, packet);
}

/// Some steps: until the packet ends, emits another, or has taken so many that others should have a turn.
/// Ever the same for a packet, whoever follows it.
HEADRACE_HOST_DEVICE inline StepResult follow(const TissueView& view, auto& lane, Packet& packet) {
    StepResult result{true, false, {}};
    if (packet.step >= FLUORESCENCE_MOST_STEPS) {
        end(view, lane, packet);
        result.goes_on = false;
        return result;
    }
    Medium medium = medium_of(view, packet);
    random_numbers::Words4 words{};
    const uint32_t first =
        packet.step % 2; // 1 after an emission: then lanes are in step again, with one block for two
    FLUORESCENCE_ROLLED
    for (uint32_t i = 0; i < FLUORESCENCE_STEPS_A_CALL; ++i) {
        if (i % 2 == 0)
            words = random_words(view.tissue, packet);
        else
            words.a = words.c, words.b = words.d;
        if (i < first) continue;
        take_step(view, lane, medium, packet, words.a, words.b, result);
        ++packet.step;
        if (!result.goes_on || result.emits) break;
    }
    normalise(packet);
    return result;
}

} // namespace fluorescence
