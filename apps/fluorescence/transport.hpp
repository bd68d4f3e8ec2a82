// apps/fluorescence/transport.hpp - steps of a packet of photons through layered tissue. fluorescence.cl has
// them in OpenCL C: change both. What only general kernels do (view.hpp) is behind `if constexpr`.
//
// Source    L. Wang, S. L. Jacques, L. Zheng, "MCML - Monte Carlo modeling of light transport in
//           multi-layered tissues", Computer Methods and Programs in Biomedicine 47, 1995; differs in:
//           weights are whole numbers, and what roulette takes or gives counts as absorbed, so that energy
//           is conserved exactly; the free path is drawn anew behind a boundary, since it has no memory
#pragma once
#include "detection.hpp"
#include "fresnel.hpp"
#include "grid.hpp"
#include "random/philox.hpp"
#include "scattering.hpp"
#include "tracks.hpp"
#include "view.hpp"

#include <bit>
#include <cmath>

#if defined(__CUDACC__) || defined(__HIPCC__)
    /// How often a GPU's compiler should unroll a loop.
    #define FLUORESCENCE_UNROLL(times) _Pragma(#times)
    /// Whether lanes go their own ways: then a packet that has stopped need not go along, and leaves loops.
    /// On a GPU it would do what comes behind them alone, before the others.
    #define FLUORESCENCE_ALONE false
#else
    #define FLUORESCENCE_UNROLL(times)
    #define FLUORESCENCE_ALONE true
#endif

namespace fluorescence {

/// What a packet meets in its layer, at its wavelength.
struct Medium {
    float top, thickness; ///< of its layer
    Optics optics;
    uint32_t near; ///< the first of this wavelength's cells among the local sums
};

/// Whether a packet has stopped, since somebody must decide how it goes on: at a boundary, when it is too
/// light, or emits another.
struct Incident {
    bool stopped;
    uint32_t random; ///< that of the step, to decide by
    float emitting;  ///< not 0: its weight when it came to emit another
};

/// What a packet comes to where it has stopped.
enum class Fate : uint8_t { goes_on, emits, ends, escapes };

template <class Unit>
struct StepResult {
    bool goes_on; ///< the packet
    bool emits;   ///< a fluorescent one
    Unit emitted;
};

HEADRACE_HOST_DEVICE inline void enter(Packet& packet, uint32_t layer) {
    packet.layer_and_name = (packet.layer_and_name & ~255u) | layer;
}

HEADRACE_HOST_DEVICE inline Medium medium_of(const TissueView& view, const Packet& packet) {
    const Layer& layer = view.layers[layer_of(packet)];
    const Tissue& tissue = view.tissue;
    Medium medium{layer.top, layer.thickness, layer.optics[wavelength(packet)],
                  FLUORESCENCE_BATCHES * tissue.totals};
    if (wavelength(packet) == 1) // out of the local sums' reach if only the other has some
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

/// The lowest bytes of both, twice on end: from 0 to 2^32 - 1, 2^31 on average.
HEADRACE_HOST_DEVICE inline uint32_t low_bytes_of(uint32_t a, uint32_t b) {
#if defined(__CUDA_ARCH__)
    return __byte_perm(a, b, 0x0404);
#else
    return ((a & 255u) << 8 | (b & 255u)) * 0x10001u;
#endif
}

/// To a total of the packet's batch.
HEADRACE_HOST_DEVICE inline void add_to_total(const TissueView& view, auto& lane, const Packet& packet,
                                              uint32_t which, int32_t amount) {
    const uint32_t number = packet.name % FLUORESCENCE_BATCHES * view.tissue.totals + which;
    lane.add(number, amount, [&]() -> uint64_t& { return view.scores.totals.origin[number]; });
}

/// What a packet has lost in its layer goes to the layer's total: when it leaves, or ends.
HEADRACE_HOST_DEVICE inline void settle(const TissueView& view, auto& lane, Packet& packet) {
    const uint32_t which = FLUORESCENCE_ABSORBED + wavelength(packet) * view.tissue.layers + layer_of(packet);
    const auto lost = static_cast<int32_t>(packet.entered - packet.weight); // roulette may have given more
    if (lost != 0) add_to_total(view, lane, packet, which, lost);
    packet.entered = packet.weight;
}

/// To the cell where the packet is. `Amount`: with a sign or without.
template <class Grid, class Amount>
HEADRACE_HOST_DEVICE void absorb(const TissueView& view, auto& lane, const Medium& medium,
                                 const Packet& packet, Amount amount) {
    const Cell cell = Grid::cell(view.tissue, packet, medium.top + packet.z);
    lane.add(Grid::near(view.tissue, cell, medium.near), amount,
             [&]() -> uint64_t& { return view.absorption(wavelength(packet), cell.z, cell.y, cell.x); });
}

/// The packet moves on outside.
template <class Grid, class View>
HEADRACE_HOST_DEVICE void escape(const View& view, auto& lane, typename View::Unit& packet) {
    if constexpr (View::detects) detect(view, packet);
    const Tissue& tissue = view.tissue;
    const uint32_t which = wavelength(packet) * 2 + (packet.uz > 0 ? 1 : 0);
    const float cosine = std::fabs(packet.uz);
    add_to_total(view, lane, packet, which, static_cast<int32_t>(packet.weight));
    const float angle = std::acos(cosine < 1 ? cosine : 1.0f);
    const Cell cell = Grid::cell(tissue, packet, 0);
    const uint64_t place = (static_cast<uint64_t>(which) * tissue.rows + cell.y) * tissue.columns + cell.x;
    const uint32_t cone = cell_of(angle, tissue.angles_per_radian, tissue.angles);
    view.scores.escape.add(place * tissue.angles + cone, packet.weight);
    packet.weight = 0;
}

/// The packet has come to its end: all that it still carries stays where it is.
template <class Grid>
HEADRACE_HOST_DEVICE void end(const TissueView& view, auto& lane, const Medium& medium, Packet& packet) {
    absorb<Grid>(view, lane, medium, packet, packet.weight);
    packet.weight = 0;
    settle(view, lane, packet);
}

/// At the boundary to which it moves: reflected, or into the next layer, or out of the tissue; or it would be
/// thrown from side to side of clear layers for ever.
template <class Grid, class View>
HEADRACE_HOST_DEVICE Fate meet_boundary(const View& view, auto& lane, Medium& medium,
                                        typename View::Unit& packet, float random) {
    const Layer& layer = view.layers[layer_of(packet)];
    const bool down = packet.uz > 0;
    const Side side = layer.sides[down ? 1 : 0];
    const float edge = down ? medium.thickness : 0, way = (edge - packet.z) / packet.uz;
    if constexpr (View::is_general)
        track<Grid>(view, packet, medium.top + packet.z, way, static_cast<float>(packet.weight));
    if constexpr (View::detects) packet.stay += way;
    packet.x += way * packet.ux;
    packet.y += way * packet.uy;
    packet.z = edge;
    const float cosine = std::fabs(packet.uz);
    float cosine_beyond = cosine;
    if (random < reflectance(side, cosine, cosine_beyond)) {
        packet.uz = -packet.uz;
        return cosine <= layer.trapped[wavelength(packet)] ? Fate::ends : Fate::goes_on;
    }
    settle(view, lane, packet);
    if constexpr (View::detects) leave_layer(packet, side.n);
    packet.uz = std::copysign(cosine_beyond, packet.uz);
    const uint32_t next = layer_of(packet) + (down ? 1u : ~0u);
    if (next >= view.tissue.layers) return Fate::escapes; // also above the first
    enter(packet, next);
    packet.ux *= side.n_ratio;
    packet.uy *= side.n_ratio;
    medium = medium_of(view, packet);
    packet.z = down ? 0 : medium.thickness;
    return Fate::goes_on;
}

/// Rounding would make a direction grow or shrink over thousands of steps; over those of a call by some 1e-6.
HEADRACE_HOST_DEVICE inline void normalise(Packet& packet) {
    const float scale = 1.5f - 0.5f * (packet.ux * packet.ux + packet.uy * packet.uy + packet.uz * packet.uz);
    packet.ux *= scale;
    packet.uy *= scale;
    packet.uz *= scale;
}

/// A packet at the second wavelength, in any direction from where `packet` is, which is known by the step
/// with which that goes on.
template <class Unit>
HEADRACE_HOST_DEVICE Unit emit(const TissueView& view, auto& lane, const Unit& packet, uint32_t weight) {
    Unit emitted = packet;
    emitted.origin = packet.step;
    emitted.step = 0;
    emitted.weight = emitted.entered = weight;
    const auto words = random_words(emitted);
    choose_direction(emitted, random_numbers::uniform(words.a), random_numbers::uniform(words.b));
    emitted.step = 2;
    add_to_total(view, lane, emitted, FLUORESCENCE_EMITTED, static_cast<int32_t>(weight));
    return emitted;
}

/// A packet too light to be worth its steps ends, or goes on ten times as heavy, or a hundred times.
template <class Grid>
HEADRACE_HOST_DEVICE Fate play_roulette(const TissueView& view, auto& lane, const Medium& medium,
                                        Packet& packet, float random) {
    if (packet.weight == 0) return Fate::ends;
    uint32_t times = 1;
    while (times * packet.weight < FLUORESCENCE_ROULETTE_BELOW) times *= FLUORESCENCE_ROULETTE_TIMES;
    if (!(random * static_cast<float>(times) < 1)) return Fate::ends;
    const uint32_t gain = (times - 1) * packet.weight;
    absorb<Grid>(view, lane, medium, packet, -static_cast<int32_t>(gain));
    packet.weight += gain;
    return Fate::goes_on;
}

/// To the next interaction, in which the packet loses weight, may emit a fluorescent packet and is scattered;
/// or not so far, since there is a boundary before; or nowhere if it has stopped. Without branches: on a GPU
/// those cost more than what a few lanes do in vain.
///
/// Two random words are enough: `a` for the free path, `b` for the angle of scattering, the lower bits of
/// both for the direction around, which the rounding of a loss to 2^-30 shares. Boundaries, emission and
/// roulette ask both words together, which tells nothing of either.
template <class Grid, class View>
HEADRACE_HOST_DEVICE void interact(const View& view, auto& lane, const Medium& medium,
                                   typename View::Unit& packet, uint32_t a, uint32_t b, Incident& incident) {
    const Optics& optics = medium.optics;
    // Of a random number from 2^-33 to 1 - 2^-24: neither 0 nor endless.
    const float way = -std::log2(static_cast<float>(a) * 0x1.fffffep-33f + 0x1p-33f) * optics.free_path;
    const float depth = packet.z + way * packet.uz;
    // From 0 to the thickness: as whole numbers, negative depths are the largest.
    const bool interacts =
        !incident.stopped & (std::bit_cast<uint32_t>(depth) <= std::bit_cast<uint32_t>(medium.thickness));
    if constexpr (View::is_general)
        if (interacts)
            track<Grid>(view, packet, medium.top + packet.z, way, static_cast<float>(packet.weight));
    if constexpr (View::detects) packet.stay += interacts ? way : 0;
    packet.x = interacts ? packet.x + way * packet.ux : packet.x;
    packet.y = interacts ? packet.y + way * packet.uy : packet.y;
    packet.z = interacts ? depth : packet.z;

    // Whole units of weight, and one more as often as the rest of one says, or thin absorbers would never or
    // always take one. What is rounded is the smaller part, lost or kept: a pure absorber keeps nothing.
    const uint32_t around = low_bytes_of(a, b);
    const float turns = static_cast<float>(around) * 0x1.fffffep-33f; // less than 1, also when rounded
    const auto weight = static_cast<float>(packet.weight);
    const auto part = static_cast<uint32_t>(weight * optics.part + turns);
    const uint32_t loses = optics.keeps != 0 ? packet.weight - part : part;
    const uint32_t lost = interacts ? loses : 0, both = a * 0x9E3779B1u + b;
    packet.weight -= lost;
    const bool emits = interacts & (static_cast<float>(both) < weight * optics.emission);
    incident.random = incident.stopped ? incident.random : both;
    incident.emitting = emits ? weight : incident.emitting;
    incident.stopped = !interacts | emits | (packet.weight < FLUORESCENCE_ROULETTE_BELOW);
    absorb<Grid>(view, lane, medium, packet, lost);
    if constexpr (View::is_general)
        scatter(view.phases, optics, packet, b, turns, interacts);
    else
        scatter(optics, packet, static_cast<float>(b), turns, interacts);
}

/// Some steps: until the packet ends, emits another, or has taken so many that others should have a turn.
/// Ever the same for a packet, whoever follows it. One that has stopped waits for the end of a turn, with
/// others that have: what happens there takes long, and few lanes come to it at a time.
template <class Grid, class View>
HEADRACE_HOST_DEVICE StepResult<typename View::Unit> follow(const View& view, auto& lane,
                                                            typename View::Unit& packet) {
    StepResult<typename View::Unit> result{false, false, {}};
    const uint32_t begin = packet.step;
    Medium medium = medium_of(view, packet);
    Fate fate = packet.step < view.tissue.most_steps ? Fate::goes_on : Fate::ends;
    Incident incident{fate != Fate::goes_on, 0, 0};
    if constexpr (View::is_general) track_beginning<Grid>(view, packet);
    FLUORESCENCE_UNROLL(unroll 1)
    for (uint32_t turn = 0; turn < FLUORESCENCE_STEPS_A_CALL / FLUORESCENCE_STEPS_A_TURN; ++turn) {
        // As if it never left a loop: or another device would follow it by other numbers.
        if (FLUORESCENCE_ALONE) packet.step = begin + turn * FLUORESCENCE_STEPS_A_TURN;
        FLUORESCENCE_UNROLL(unroll 2)
        for (uint32_t block = 0; block < FLUORESCENCE_STEPS_A_TURN / 2; ++block) {
            if (FLUORESCENCE_ALONE && incident.stopped) break;
            const random_numbers::Words4 words = random_words(packet);
            interact<Grid>(view, lane, medium, packet, words.a, words.b, incident);
            interact<Grid>(view, lane, medium, packet, words.c, words.d, incident);
            packet.step += 2;
        }
        if (incident.stopped && fate == Fate::goes_on) {
            const float random = random_numbers::uniform(incident.random);
            if (packet.weight < FLUORESCENCE_ROULETTE_BELOW)
                fate = play_roulette<Grid>(view, lane, medium, packet, random);
            else if (incident.emitting == 0)
                fate = meet_boundary<Grid>(view, lane, medium, packet, random);
            if (incident.emitting != 0 && fate == Fate::goes_on) fate = Fate::emits;
            incident.stopped = fate != Fate::goes_on;
        }
        if (FLUORESCENCE_ALONE && incident.stopped) break;
    }
    if (FLUORESCENCE_ALONE) packet.step = begin + FLUORESCENCE_STEPS_A_CALL;
    if (fate == Fate::escapes) {
        escape<Grid>(view, lane, packet);
    } else if (fate == Fate::ends) {
        if (begin >= view.tissue.most_steps)
            add_to_total(view, lane, packet, FLUORESCENCE_CUT_OFF, static_cast<int32_t>(packet.weight));
        end<Grid>(view, lane, medium, packet);
    }
    normalise(packet);
    result.goes_on = packet.weight != 0;
    if (incident.emitting != 0) {
        const auto rounded = static_cast<uint32_t>(incident.emitting * medium.optics.yield + 0.5f);
        const uint32_t least = view.tissue.emission_weight;
        result.emits = true;
        result.emitted = emit(view, lane, packet, rounded > least ? rounded : least);
    }
    return result;
}

} // namespace fluorescence
