// apps/fluorescence/transport.h - steps of a packet of photons through layered tissue. C++ and OpenCL C read
// this file, after the kernel's view (view.hpp, view.cl). What only general kernels do is behind
// HEADRACE_IF_CONSTEXPR.
//
// Source    L. Wang, S. L. Jacques, L. Zheng, "MCML - Monte Carlo modeling of light transport in
//           multi-layered tissues", Computer Methods and Programs in Biomedicine 47, 1995; differs in:
//           weights are whole numbers, and what roulette takes or gives counts as absorbed, so that energy
//           is conserved exactly; the free path is drawn anew behind a boundary, since it has no memory
#ifndef HEADRACE_FLUORESCENCE_TRANSPORT_H
#define HEADRACE_FLUORESCENCE_TRANSPORT_H
#include "detection.h"
#include "fresnel.h"
#include "grid.h"
#include "random/logarithm.h"
#include "random/philox.h"
#include "scattering.h"
#include "tracks.h"

/// FLUORESCENCE_UNROLL: how often a GPU's compiler should unroll a loop.
/// FLUORESCENCE_LEAVES_BLOCKS, _TURNS: whether a packet that has stopped leaves these loops. On a processor,
/// lanes go their own ways: such a packet need not go along. On a GPU it would do what comes behind them
/// alone, before the others.
#if defined(__CUDACC__) || defined(__HIPCC__)
    #define FLUORESCENCE_UNROLL(times) _Pragma(#times)
    #define FLUORESCENCE_LEAVES_BLOCKS false
    #define FLUORESCENCE_LEAVES_TURNS false
#elif defined(__OPENCL_C_VERSION__)
    #define FLUORESCENCE_UNROLL(times)
    #define FLUORESCENCE_LEAVES_BLOCKS false
    #define FLUORESCENCE_LEAVES_TURNS true
#else
    #define FLUORESCENCE_UNROLL(times)
    #define FLUORESCENCE_LEAVES_BLOCKS true
    #define FLUORESCENCE_LEAVES_TURNS true
#endif

HEADRACE_NAMESPACE(fluorescence)

/// Whether a packet has stopped, since it must be decided how it goes on: at a boundary, when it is too
/// light, or emits another.
typedef struct Incident {
    bool stopped;
    uint32_t random; ///< that of the step, to decide by
    float emitting;  ///< not 0: its weight when it came to emit another
} Incident;

/// What a packet comes to where it has stopped.
typedef enum Fate { FATE_GOES_ON, FATE_EMITS, FATE_ENDS, FATE_ESCAPES } Fate;

HEADRACE_FUNCTION void enter(Packet* packet, uint32_t layer) {
    packet->layer_and_name = (packet->layer_and_name & ~255u) | layer;
}

HEADRACE_FUNCTION Medium medium_of(HEADRACE_ANY(const TissueView*) view, const Packet* packet) {
    HEADRACE_GLOBAL const Layer* layer = &view->layers[layer_of(packet)];
    const Tissue* tissue = &view->tissue;
    Medium medium;
    medium.top = layer->top;
    medium.thickness = layer->thickness;
    medium.optics = layer->optics[wavelength(packet)];
    medium.near = FLUORESCENCE_BATCHES * tissue->totals;
    if (wavelength(packet) == 1) // out of the local sums' reach if only the other has some
        medium.near += tissue->near_wavelengths == 2
                           ? tissue->near_depths * tissue->near_rows * tissue->near_columns
                           : 1u << 31;
    return medium;
}

/// Random numbers of two steps, an even one and the next: a step takes two words. The seed is in the name, so
/// that the generator's key is the same for all, and known to the compiler.
HEADRACE_FUNCTION HEADRACE_ANY(Words4) random_words(HEADRACE_ANY(const Packet*) packet) {
    return philox4x32(words4(packet->name, packet->layer_and_name >> 8, packet->origin, packet->step >> 1), 0,
                      0);
}

/// The lowest bytes of both, twice on end: from 0 to 2^32 - 1, 2^31 on average.
HEADRACE_FUNCTION HEADRACE_ANY(uint32_t) low_bytes_of(HEADRACE_ANY(uint32_t) a, HEADRACE_ANY(uint32_t) b) {
#if defined(__CUDA_ARCH__)
    return __byte_perm(a, b, 0x0404);
#else
    return ((a & 255u) << 8 | (b & 255u)) * 0x10001u;
#endif
}

/// What a packet has lost in its layer goes to the layer's total: when it leaves, or ends.
HEADRACE_FUNCTION void settle(HEADRACE_ANY(const TissueView*) view, HEADRACE_ANY(HrLane*) lane,
                              Packet* packet) {
    const uint32_t which =
        FLUORESCENCE_ABSORBED + wavelength(packet) * view->tissue.layers + layer_of(packet);
    const int32_t lost = (int32_t)(packet->entered - packet->weight); // roulette may have given more
    if (lost != 0) add_to_total(view, lane, packet, which, lost);
    packet->entered = packet->weight;
}

/// To the cell where the packet is. `amount`: with a sign or without.
HEADRACE_FUNCTION void absorb(HEADRACE_ANY(const TissueView*) view, HEADRACE_ANY(HrLane*) lane,
                              HEADRACE_ANY(const Medium*) medium, HEADRACE_ANY(const Packet*) packet,
                              HEADRACE_ANY(int64_t) amount) {
    HEADRACE_IF_CONSTEXPR (FLUORESCENCE_TESTS_FOR_NOTHING) {
        if (amount == 0) return;
    }
    const HEADRACE_ANY(Cell) cell =
        cell_of(&view->tissue, packet, medium->top + packet->z, FLUORESCENCE_IS_XYZ(view));
    add_absorbed(view, lane, medium, packet, cell, amount);
}

/// The packet moves on outside.
HEADRACE_FUNCTION void escape(HEADRACE_ANY(const TissueView*) view, HEADRACE_ANY(HrLane*) lane,
                              HEADRACE_ANY(Packet*) packet) {
    HEADRACE_IF_CONSTEXPR (FLUORESCENCE_DETECTS(view)) {
        detect(view, packet);
    }
    const Tissue* tissue = &view->tissue;
    const uint32_t which = wavelength(packet) * 2 + (packet->uz > 0 ? 1 : 0);
    const float cosine = fabs(packet->uz);
    add_to_total(view, lane, packet, which, (int32_t)packet->weight);
    const float angle = acos(cosine < 1 ? cosine : 1.0f);
    const Cell cell = cell_of(tissue, packet, 0.0f, FLUORESCENCE_IS_XYZ(view));
    const uint64_t place = ((uint64_t)which * tissue->rows + cell.y) * tissue->columns + cell.x;
    const uint32_t cone = cell_at(angle, tissue->angles_per_radian, tissue->angles);
    add_escaped(view, place * tissue->angles + cone, packet->weight);
    packet->weight = 0;
}

/// The packet has come to its end: all that it still carries stays where it is.
HEADRACE_FUNCTION void end_packet(HEADRACE_ANY(const TissueView*) view, HEADRACE_ANY(HrLane*) lane,
                                  const Medium* medium, Packet* packet) {
    absorb(view, lane, medium, packet, packet->weight);
    packet->weight = 0;
    settle(view, lane, packet);
}

/// At the boundary to which it moves: reflected, or into the next layer, or out of the tissue; or it would be
/// thrown from side to side of clear layers for ever.
HEADRACE_FUNCTION Fate meet_boundary(HEADRACE_ANY(const TissueView*) view, HEADRACE_ANY(HrLane*) lane,
                                     Medium* medium, HEADRACE_ANY(Packet*) packet, float random) {
    HEADRACE_GLOBAL const Layer* layer = &view->layers[layer_of(packet)];
    const bool down = packet->uz > 0;
    const Side side = layer->sides[down ? 1 : 0];
    const float edge = down ? medium->thickness : 0, way = (edge - packet->z) / packet->uz;
    HEADRACE_IF_CONSTEXPR (FLUORESCENCE_IS_GENERAL(view)) {
        track(view, packet, medium->top + packet->z, way, (float)packet->weight);
    }
    HEADRACE_IF_CONSTEXPR (FLUORESCENCE_DETECTS(view)) {
        stay_for(packet, way);
    }
    packet->x += way * packet->ux;
    packet->y += way * packet->uy;
    packet->z = edge;
    const float cosine = fabs(packet->uz);
    float cosine_beyond = cosine;
    if (random < reflectance(&side, cosine, &cosine_beyond)) {
        packet->uz = -packet->uz;
        return cosine <= layer->trapped[wavelength(packet)] ? FATE_ENDS : FATE_GOES_ON;
    }
    settle(view, lane, packet);
    HEADRACE_IF_CONSTEXPR (FLUORESCENCE_DETECTS(view)) {
        leave_layer(packet, side.n);
    }
    packet->uz = copysign(cosine_beyond, packet->uz);
    const uint32_t next = layer_of(packet) + (down ? 1u : ~0u);
    if (next >= view->tissue.layers) return FATE_ESCAPES; // also above the first
    enter(packet, next);
    packet->ux *= side.n_ratio;
    packet->uy *= side.n_ratio;
    *medium = medium_of(view, packet);
    packet->z = down ? 0 : medium->thickness;
    return FATE_GOES_ON;
}

/// Rounding would make a direction grow or shrink over thousands of steps; over those of a call by some 1e-6.
HEADRACE_FUNCTION void make_unit_length(Packet* packet) {
    const float scale =
        1.5f - 0.5f * (packet->ux * packet->ux + packet->uy * packet->uy + packet->uz * packet->uz);
    packet->ux *= scale;
    packet->uy *= scale;
    packet->uz *= scale;
}

/// A packet at the second wavelength, in any direction from where `packet` is, which is known by the step
/// with which that goes on.
HEADRACE_FUNCTION void emit(HEADRACE_ANY(const TissueView*) view, HEADRACE_ANY(HrLane*) lane,
                            HEADRACE_ANY(const Packet*) packet, uint32_t weight,
                            HEADRACE_ANY(Packet*) emitted) {
    *emitted = *packet;
    emitted->origin = packet->step;
    emitted->step = 0;
    emitted->weight = emitted->entered = weight;
    const Words4 words = random_words(emitted);
    choose_direction(emitted, uniform_of(words.a), uniform_of(words.b));
    emitted->step = 2;
    add_to_total(view, lane, emitted, FLUORESCENCE_EMITTED, (int32_t)weight);
}

/// A packet too light to be worth its steps ends, or goes on ten times as heavy, or a hundred times.
HEADRACE_FUNCTION Fate play_roulette(HEADRACE_ANY(const TissueView*) view, HEADRACE_ANY(HrLane*) lane,
                                     const Medium* medium, Packet* packet, float random) {
    if (packet->weight == 0) return FATE_ENDS;
    uint32_t times = 1;
    while (times * packet->weight < FLUORESCENCE_ROULETTE_BELOW) times *= FLUORESCENCE_ROULETTE_TIMES;
    if (!(random * (float)times < 1)) return FATE_ENDS;
    const uint32_t gain = (times - 1) * packet->weight;
    absorb(view, lane, medium, packet, -(int32_t)gain);
    packet->weight += gain;
    return FATE_GOES_ON;
}

/// To the next interaction, in which the packet loses weight, may emit a fluorescent packet and is scattered;
/// or not so far, since there is a boundary before; or nowhere if it has stopped. Without branches: on a GPU
/// those cost more than what a few lanes do in vain.
///
/// Two random words are enough: `a` for the free path, `b` for the angle of scattering, the lower bits of
/// both for the direction around, which the rounding of a loss to 2^-30 shares. Boundaries, emission and
/// roulette ask both words together, which tells nothing of either.
HEADRACE_FUNCTION void interact(HEADRACE_ANY(const TissueView*) view, HEADRACE_ANY(HrLane*) lane,
                                HEADRACE_ANY(const Medium*) medium, HEADRACE_ANY(Packet*) packet,
                                HEADRACE_ANY(uint32_t) a, HEADRACE_ANY(uint32_t) b,
                                HEADRACE_ANY(Incident*) incident) {
    HEADRACE_ANY(const Optics*) optics = &medium->optics;
    // Of a random number from 2^-33 to 1 - 2^-24: neither 0 nor endless.
    const HEADRACE_ANY(float) way = -log2_of(float_of(a) * 0x1.fffffep-33f + 0x1p-33f) * optics->free_path;
    const HEADRACE_ANY(float) depth = packet->z + way * packet->uz;
    // From 0 to the thickness: as whole numbers, negative depths are the largest.
    const HEADRACE_ANY(bool) interacts =
        (!incident->stopped) & (as_uint(depth) <= as_uint(medium->thickness));
    HEADRACE_IF_CONSTEXPR (FLUORESCENCE_IS_GENERAL(view)) {
        if (interacts) track(view, packet, medium->top + packet->z, way, (float)packet->weight);
    }
    HEADRACE_IF_CONSTEXPR (FLUORESCENCE_DETECTS(view)) {
        stay_for(packet, interacts ? way : 0);
    }
    packet->x = choose(interacts, packet->x + way * packet->ux, packet->x);
    packet->y = choose(interacts, packet->y + way * packet->uy, packet->y);
    packet->z = choose(interacts, depth, packet->z);

    // Whole units of weight, and one more as often as the rest of one says, or thin absorbers would never or
    // always take one. What is rounded is the smaller part, lost or kept: a pure absorber keeps nothing.
    const HEADRACE_ANY(uint32_t) around = low_bytes_of(a, b);
    const HEADRACE_ANY(float) turns = float_of(around) * 0x1.fffffep-33f; // less than 1, also when rounded
    const HEADRACE_ANY(float) weight = float_of(packet->weight);
    const HEADRACE_ANY(uint32_t) part = uint_of(weight * optics->part + turns);
    const HEADRACE_ANY(uint32_t) loses = choose(optics->keeps != 0u, packet->weight - part, part);
    const HEADRACE_ANY(uint32_t) lost = choose(interacts, loses, 0u), both = a * 0x9E3779B1u + b;
    packet->weight -= lost;
    const HEADRACE_ANY(bool) emits = interacts & (float_of(both) < weight * optics->emission);
    incident->random = choose(incident->stopped, incident->random, both);
    incident->emitting = choose(emits, weight, incident->emitting);
    incident->stopped = (!interacts) | emits | (packet->weight < FLUORESCENCE_ROULETTE_BELOW);
    absorb(view, lane, medium, packet, lost);
    HEADRACE_IF_CONSTEXPR (FLUORESCENCE_IS_GENERAL(view))
        scatter_by_phase(view->phases, optics, packet, b, turns, interacts);
    else
        scatter(optics, packet, float_of(b), turns, interacts);
}

HEADRACE_FUNCTION Fate fate_at_first(HEADRACE_ANY(const TissueView*) view, const Packet* packet) {
    return packet->step < view->tissue.most_steps ? FATE_GOES_ON : FATE_ENDS;
}

/// Decides how a packet goes on that has stopped; then it is no longer stopped, or not in this call.
HEADRACE_FUNCTION Fate meet_incident(HEADRACE_ANY(const TissueView*) view, HEADRACE_ANY(HrLane*) lane,
                                     Medium* medium, HEADRACE_ANY(Packet*) packet, Incident* incident) {
    const float random = uniform_of(incident->random);
    Fate fate = FATE_GOES_ON;
    if (packet->weight < FLUORESCENCE_ROULETTE_BELOW)
        fate = play_roulette(view, lane, medium, packet, random);
    else if (incident->emitting == 0)
        fate = meet_boundary(view, lane, medium, packet, random);
    if (incident->emitting != 0 && fate == FATE_GOES_ON) fate = FATE_EMITS;
    incident->stopped = fate != FATE_GOES_ON;
    return fate;
}

/// What becomes of a packet after the steps of a call, before which it had taken `begin`.
HEADRACE_FUNCTION void end_call(HEADRACE_ANY(const TissueView*) view, HEADRACE_ANY(HrLane*) lane,
                                const Medium* medium, HEADRACE_ANY(Packet*) packet, uint32_t begin, Fate fate,
                                float emitting, HEADRACE_ANY(StepResult*) result) {
    if (fate == FATE_ESCAPES) {
        escape(view, lane, packet);
    } else if (fate == FATE_ENDS) {
        if (begin >= view->tissue.most_steps)
            add_to_total(view, lane, packet, FLUORESCENCE_CUT_OFF, (int32_t)packet->weight);
        end_packet(view, lane, medium, packet);
    }
    make_unit_length(packet);
    result->goes_on = packet->weight != 0;
    result->emits = emitting != 0;
    if (result->emits) {
        const uint32_t rounded = (uint32_t)(emitting * medium->optics.yield + 0.5f);
        const uint32_t least = view->tissue.emission_weight;
        emit(view, lane, packet, rounded > least ? rounded : least, &result->emitted);
    }
}

/// Some steps: until the packet ends, emits another, or has taken so many that others should have a turn.
/// The same for a packet in every run, on every device. One that has stopped waits for the end of a turn,
/// with others that have: what happens there takes long, and few lanes come to it at a time.
HEADRACE_FUNCTION void follow(HEADRACE_ANY(const TissueView*) view, HEADRACE_ANY(HrLane*) lane,
                              HEADRACE_ANY(Packet*) packet, HEADRACE_ANY(StepResult*) result) {
    const uint32_t begin = packet->step;
    Medium medium = medium_of(view, packet);
    Fate fate = fate_at_first(view, packet);
    Incident incident = {fate != FATE_GOES_ON, 0, 0};
    HEADRACE_IF_CONSTEXPR (FLUORESCENCE_IS_GENERAL(view)) {
        track_beginning(view, packet);
    }
    FLUORESCENCE_UNROLL(unroll 1)
    for (uint32_t turn = 0; turn < FLUORESCENCE_STEPS_A_CALL / FLUORESCENCE_STEPS_A_TURN; ++turn) {
        if (FLUORESCENCE_LEAVES_TURNS && incident.stopped) break;
        // As if it never left a loop: or another device would follow it by other numbers.
        if (FLUORESCENCE_LEAVES_BLOCKS) packet->step = begin + turn * FLUORESCENCE_STEPS_A_TURN;
        FLUORESCENCE_UNROLL(unroll 2)
        for (uint32_t block = 0; block < FLUORESCENCE_STEPS_A_TURN / 2; ++block) {
            if (FLUORESCENCE_LEAVES_BLOCKS && incident.stopped) break;
            const Words4 words = random_words(packet);
            interact(view, lane, &medium, packet, words.a, words.b, &incident);
            interact(view, lane, &medium, packet, words.c, words.d, &incident);
            packet->step += 2;
        }
        if (incident.stopped && fate == FATE_GOES_ON)
            fate = meet_incident(view, lane, &medium, packet, &incident);
    }
    if (FLUORESCENCE_LEAVES_TURNS) packet->step = begin + FLUORESCENCE_STEPS_A_CALL;
    end_call(view, lane, &medium, packet, begin, fate, incident.emitting, result);
}

HEADRACE_END_NAMESPACE

#endif
