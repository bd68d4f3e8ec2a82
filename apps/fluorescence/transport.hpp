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

/// What a packet meets in its layer, at its wavelength: what steps need of it, ready to be used.
struct Medium {
    float top, bottom;    ///< of its layer
    float free_path;      ///< mean, in cm for a logarithm to base 2
    float absorbed;       ///< part of the weight
    float yield;          ///< of what is absorbed, to be sent on; 0 for fluorescent packets
    bool scatters_evenly; ///< g is 0
    float a, b, c, d, e;  ///< Henyey and Greenstein's: cosine = d - e (a / (b + c random))^2, random < 2^32
    uint32_t near;        ///< the first of this wavelength's cells among the local sums
};

/// What has happened to a packet that somebody must look after.
struct Incident {
    uint32_t stop;     ///< not 0: it cannot go on before something is decided; at a boundary, by this number
    uint32_t emission; ///< not 0: it sends on a packet of this weight
};

/// Where a packet is in the grid, counted from the top and from the axis or a corner.
struct Cell {
    uint32_t z, y, x;
};

struct StepResult {
    bool goes_on; ///< the packet
    bool emits;   ///< a fluorescent one
    Packet emitted;
};

HEADRACE_HOST_DEVICE inline uint32_t wavelength(const Packet& packet) { return packet.origin != 0 ? 1 : 0; }
HEADRACE_HOST_DEVICE inline uint32_t layer_of(const Packet& packet) { return packet.layer_and_name & 255u; }
HEADRACE_HOST_DEVICE inline void enter(Packet& packet, uint32_t layer) {
    packet.layer_and_name = (packet.layer_and_name & ~255u) | layer;
}

HEADRACE_HOST_DEVICE inline Medium medium_of(const TissueView& view, const Packet& packet) {
    const Layer& layer = view.layers[layer_of(packet)];
    const Tissue& tissue = view.tissue;
    const bool fluoresces = packet.origin != 0;
    const Optics optics = fluoresces ? layer.emission : layer.excitation;
    Medium medium{};
    medium.top = layer.top;
    medium.bottom = layer.bottom;
    medium.free_path = optics.free_path * 0.693147181f;
    medium.absorbed = optics.absorbed;
    medium.yield = fluoresces ? 0 : layer.yield;
    medium.scatters_evenly = optics.g == 0;
    medium.a = 1 - optics.g * optics.g;
    medium.b = 1 - optics.g;
    medium.c = 2 * optics.g * (1.0f / 4294967296.0f);
    medium.e = medium.scatters_evenly ? 0 : 0.5f / optics.g;
    medium.d = (1 + optics.g * optics.g) * medium.e;
    medium.near = FLUORESCENCE_BATCHES * tissue.totals;
    if (fluoresces) // out of the local sums' reach if only the other has some
        medium.near += tissue.near_wavelengths == 2
                           ? tissue.near_depths * tissue.near_rows * tissue.near_columns
                           : 1u << 31;
    return medium;
}

/// Random numbers of two steps, an even one and the next: a step takes two words. The seed is in the name, so
/// that the generator's key is the same for all, and known to the compiler.
HEADRACE_HOST_DEVICE inline random_numbers::Words4 random_words(const Packet& packet) {
    return random_numbers::philox4x32(
        {packet.name, packet.layer_and_name >> 8, packet.origin, packet.step / 2}, 0, 0);
}

HEADRACE_HOST_DEVICE inline Packet begin_packet(const Tissue& tissue, uint64_t number) {
    Packet packet{};
    packet.z = tissue.first_depth;
    packet.uz = 1;
    packet.weight = tissue.weight;
    const auto words =
        random_numbers::philox4x32({static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32), 0, 0},
                                   tissue.seed_low, tissue.seed_high);
    packet.name = static_cast<uint32_t>(number) % FLUORESCENCE_BATCHES +
                  words.a / FLUORESCENCE_BATCHES * FLUORESCENCE_BATCHES;
    packet.layer_and_name = words.b << 8 | tissue.first_layer;
    return packet;
}

/// As MCML: what lies beyond the grid counts in its last cell, so that nothing is left out of sums.
HEADRACE_HOST_DEVICE inline uint32_t cell_of(float place, float cells_per_cm, float last) {
    return static_cast<uint32_t>(std::fmin(place * cells_per_cm, last));
}

/// A grid of depth and radius.
struct Rz {
    static HEADRACE_HOST_DEVICE Cell cell(const Tissue& tissue, const Packet& packet) {
        const float radius = std::sqrt(packet.x * packet.x + packet.y * packet.y);
        return {cell_of(packet.z, tissue.depths_per_cm, tissue.last_depth), 0,
                cell_of(radius, tissue.columns_per_cm, tissue.last_column)};
    }
    /// Its place among the local sums, which begin with `first`; far beyond them if it has none.
    static HEADRACE_HOST_DEVICE uint32_t near(const Tissue& tissue, const Cell& cell, uint32_t first) {
        return cell.z < tissue.near_depths && cell.x < tissue.near_columns
                   ? first + cell.z * tissue.near_columns + cell.x
                   : ~0u;
    }
};

/// A grid of depth, row and column.
struct Xyz {
    static HEADRACE_HOST_DEVICE Cell cell(const Tissue& tissue, const Packet& packet) {
        const float y = std::fmax(packet.y - tissue.row_edge, 0.0f);
        const float x = std::fmax(packet.x - tissue.column_edge, 0.0f);
        return {cell_of(packet.z, tissue.depths_per_cm, tissue.last_depth),
                cell_of(y, tissue.rows_per_cm, tissue.last_row),
                cell_of(x, tissue.columns_per_cm, tissue.last_column)};
    }
    static HEADRACE_HOST_DEVICE uint32_t near(const Tissue& tissue, const Cell& cell, uint32_t first) {
        const uint32_t y = cell.y - tissue.first_near_row, x = cell.x - tissue.first_near_column;
        return cell.z < tissue.near_depths && y < tissue.near_rows && x < tissue.near_columns
                   ? first + (cell.z * tissue.near_rows + y) * tissue.near_columns + x
                   : ~0u;
    }
};

/// To a total of the packet's batch.
HEADRACE_HOST_DEVICE inline void add_to_total(const TissueView& view, auto& lane, const Packet& packet,
                                              uint32_t which, int32_t amount) {
    const uint32_t number = packet.name % FLUORESCENCE_BATCHES * view.tissue.totals + which;
    lane.add(number, amount, [&]() -> uint64_t& { return view.scores.totals.origin[number]; });
}

/// What a packet has lost in its layer goes to the layer's total: when it leaves, or ends.
HEADRACE_HOST_DEVICE inline void settle(const TissueView& view, auto& lane, Packet& packet) {
    const uint32_t which = FLUORESCENCE_ABSORBED + wavelength(packet) * view.tissue.layers + layer_of(packet);
    if (packet.pending != 0) add_to_total(view, lane, packet, which, packet.pending);
    packet.pending = 0;
}

/// What a packet loses where it is. `Amount`: with a sign or without.
template <class Grid, class Amount>
HEADRACE_HOST_DEVICE void absorb(const TissueView& view, auto& lane, const Medium& medium, Packet& packet,
                                 Amount amount) {
    const Cell cell = Grid::cell(view.tissue, packet);
    lane.add(Grid::near(view.tissue, cell, medium.near), amount,
             [&]() -> uint64_t& { return view.absorption(wavelength(packet), cell.z, cell.y, cell.x); });
    packet.pending += static_cast<int32_t>(amount);
}

/// `cosine`: of the angle to the normal, outside.
template <class Grid>
HEADRACE_HOST_DEVICE void escape(const TissueView& view, auto& lane, const Packet& packet, uint32_t side,
                                 float cosine) {
    const Tissue& tissue = view.tissue;
    const uint32_t which = wavelength(packet) * 2 + side;
    add_to_total(view, lane, packet, which, static_cast<int32_t>(packet.weight));
    const float angle = std::acos(cosine < 1 ? cosine : 1.0f);
    const Cell cell = Grid::cell(tissue, packet);
    const uint64_t place = (static_cast<uint64_t>(which) * tissue.rows + cell.y) * tissue.columns + cell.x;
    const auto last = static_cast<float>(tissue.angles - 1);
    view.scores.escape.add(place * tissue.angles + cell_of(angle, tissue.angles_per_radian, last),
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
template <class Grid>
HEADRACE_HOST_DEVICE void end(const TissueView& view, auto& lane, const Medium& medium, Packet& packet) {
    absorb<Grid>(view, lane, medium, packet, packet.weight);
    settle(view, lane, packet);
    packet.weight = 0;
}

/// At the boundary to which it moves: reflected, or into the next layer; without weight if it has left the
/// tissue, or would be thrown from side to side of a clear layer for ever.
template <class Grid>
HEADRACE_HOST_DEVICE void meet_boundary(const TissueView& view, auto& lane, Medium& medium, Packet& packet,
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
        if (layer.is_clear[wavelength(packet)] != 0 && cosine <= layer.critical_above &&
            cosine <= layer.critical_below)
            end<Grid>(view, lane, medium, packet);
        return;
    }
    settle(view, lane, packet);
    const uint32_t at = layer_of(packet);
    if (down ? at + 1 == view.tissue.layers : at == 0) {
        escape<Grid>(view, lane, packet, down ? 1 : 0, cosine_beyond);
        packet.weight = 0;
        return;
    }
    enter(packet, down ? at + 1 : at - 1);
    packet.ux *= layer.n / n_beyond;
    packet.uy *= layer.n / n_beyond;
    packet.uz = down ? cosine_beyond : -cosine_beyond;
    medium = medium_of(view, packet);
}

HEADRACE_HOST_DEVICE inline void sin_cos_of(float turns, float& sine, float& cosine) {
#if defined(__CUDA_ARCH__)
    __sincosf(turns * 6.28318531f - 3.14159265f, &sine, &cosine); // 2^-21 off, and from another beginning
#else
    random_numbers::sin_cos_of_turns(turns, sine, cosine);
#endif
}

/// Another direction, by Henyey and Greenstein. `random` is below 2^32.
///
/// Source    of the axes: Duff et al., "Building an orthonormal basis, revisited", JCGT 6(1), 2017
HEADRACE_HOST_DEVICE inline void scatter(const Medium& medium, Packet& packet, float random, float turns) {
    const float part = medium.a / (medium.b + medium.c * random);
    const float cosine =
        medium.scatters_evenly ? random * (2.0f / 4294967296.0f) - 1 : medium.d - medium.e * part * part;
    const float sine = std::sqrt(std::fmax(1 - cosine * cosine, 0.0f));
    float a, b;
    sin_cos_of(turns, b, a);
    a *= sine;
    b *= sine;
    const float ux = packet.ux, uy = packet.uy, uz = packet.uz;
    const float sign = std::copysign(1.0f, uz), inverse = -1 / (sign + uz), cross = ux * uy * inverse;
    packet.ux = a * (1 + sign * ux * ux * inverse) + b * cross + cosine * ux;
    packet.uy = a * sign * cross + b * (sign + uy * uy * inverse) + cosine * uy;
    packet.uz = cosine * uz - a * sign * ux - b * uy;
}

/// Rounding would make a direction grow or shrink over thousands of steps.
HEADRACE_HOST_DEVICE inline void normalise(Packet& packet) {
    const float scale = 1.5f - 0.5f * (packet.ux * packet.ux + packet.uy * packet.uy + packet.uz * packet.uz);
    packet.ux *= scale;
    packet.uy *= scale;
    packet.uz *= scale;
}

/// A packet at the second wavelength, in any direction from where `packet` is, whose step is the one after
/// that in which it emits.
HEADRACE_HOST_DEVICE inline Packet emit(const TissueView& view, auto& lane, const Packet& packet,
                                        uint32_t weight) {
    Packet emitted = packet;
    emitted.origin = packet.step;
    emitted.step = 0;
    emitted.pending = 0;
    emitted.weight = weight;
    const auto words = random_words(emitted);
    emitted.uz = 2 * random_numbers::uniform(words.a) - 1;
    const float level = std::sqrt(1 - emitted.uz * emitted.uz);
    sin_cos_of(random_numbers::uniform(words.b), emitted.uy, emitted.ux);
    emitted.ux *= level;
    emitted.uy *= level;
    emitted.step = 2;
    add_to_total(view, lane, emitted, FLUORESCENCE_EMITTED, static_cast<int32_t>(weight));
    return emitted;
}

/// A packet too light to be worth its steps ends, or goes on ten times as heavy.
template <class Grid>
HEADRACE_HOST_DEVICE void play_roulette(const TissueView& view, auto& lane, const Medium& medium,
                                        Packet& packet) {
    Packet player = packet;
    player.step |= 1u << 31; // its block for this
    if (packet.weight == 0 ||
        !(random_numbers::uniform(random_words(player).a) < FLUORESCENCE_ROULETTE_CHANCE)) {
        end<Grid>(view, lane, medium, packet);
    } else {
        const uint32_t gain = FLUORESCENCE_ROULETTE_GAIN * packet.weight;
        absorb<Grid>(view, lane, medium, packet, -static_cast<int32_t>(gain));
        packet.weight += gain;
    }
}

/// To the next interaction, in which the packet loses weight, may emit a fluorescent packet and is scattered;
/// or not so far, since there is a boundary before.
///
/// Two random words are enough: `a` for the free path, `b` for the angle of scattering, the lower bits of
/// both for the direction around, which the rounding of a loss to 2^-30 shares. Boundaries take `b`. Emission
/// and roulette ask both words together, which tells nothing of either.
template <class Grid>
HEADRACE_HOST_DEVICE void interact(const TissueView& view, auto& lane, const Medium& medium, Packet& packet,
                                   uint32_t a, uint32_t b, Incident& incident) {
    const float way = (32 - std::log2(static_cast<float>(a | 1u))) * medium.free_path;
    const float depth = packet.z + way * packet.uz;
    if (depth < medium.top || depth > medium.bottom) {
        incident.stop = b | 1u;
        return;
    }
    packet.x += way * packet.ux;
    packet.y += way * packet.uy;
    packet.z = depth;

    const float turns = static_cast<float>(((a << 8) + b) << 16) * (1.0f / 4294967296.0f) + 0.5f / 65536.0f;
    // Whole units of weight, and one more as often as the rest of one says, or thin absorbers would never or
    // always take one.
    auto lost = static_cast<uint32_t>(static_cast<float>(packet.weight) * medium.absorbed + turns);
    lost = lost < packet.weight ? lost : packet.weight;
    packet.weight -= lost;
    if (medium.yield > 0) {
        const float expected = static_cast<float>(lost) * medium.yield;
        const auto chance = static_cast<float>(a * 0x9E3779B1u + b) * (1.0f / 4294967296.0f);
        const uint32_t least = view.tissue.emission_weight;
        if (chance * static_cast<float>(least) < expected) {
            const auto rounded = static_cast<uint32_t>(expected + 0.5f);
            incident.emission = rounded > least ? rounded : least;
        }
    }
    absorb<Grid>(view, lane, medium, packet, lost);
    if (packet.weight < FLUORESCENCE_ROULETTE_BELOW) incident.stop = 1;
    scatter(medium, packet, static_cast<float>(b), turns);
}

/// Some steps: until the packet ends, emits another, or has taken so many that others should have a turn.
/// Ever the same for a packet, whoever follows it. One that has come to a boundary or to roulette waits for
/// the fourth step, with others that have: what happens there takes long, and few lanes come to it at a time.
template <class Grid>
HEADRACE_HOST_DEVICE StepResult follow(const TissueView& view, auto& lane, Packet& packet) {
    StepResult result{false, false, {}};
    Medium medium = medium_of(view, packet);
    if (packet.step >= FLUORESCENCE_MOST_STEPS) {
        end<Grid>(view, lane, medium, packet);
        return result;
    }
    Incident incident{0, 0};
    bool skips = packet.step % 2 != 0; // a step: it has emitted in the one before
    FLUORESCENCE_ROLLED
    for (uint32_t turn = 0; turn < FLUORESCENCE_STEPS_A_CALL / FLUORESCENCE_STEPS_A_TURN; ++turn) {
        FLUORESCENCE_ROLLED
        for (uint32_t block = 0; block < FLUORESCENCE_STEPS_A_TURN / 2; ++block) {
            const random_numbers::Words4 words = random_words(packet);
            if (incident.stop == 0 && !skips)
                interact<Grid>(view, lane, medium, packet, words.a, words.b, incident);
            skips = false;
            packet.step |= 1;
            if (incident.emission != 0) break;
            if (incident.stop == 0) interact<Grid>(view, lane, medium, packet, words.c, words.d, incident);
            packet.step += 1;
            if (incident.emission != 0) break;
        }
        if (incident.stop != 0) {
            if (packet.weight < FLUORESCENCE_ROULETTE_BELOW)
                play_roulette<Grid>(view, lane, medium, packet);
            else
                meet_boundary<Grid>(view, lane, medium, packet, random_numbers::uniform(incident.stop));
            incident.stop = 0;
        }
        if (incident.emission != 0 || packet.weight == 0) break;
    }
    normalise(packet);
    result.goes_on = packet.weight != 0;
    if (incident.emission != 0) {
        result.emits = true;
        result.emitted = emit(view, lane, packet, incident.emission);
    }
    return result;
}

} // namespace fluorescence
