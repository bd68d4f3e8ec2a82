// apps/fluorescence/scattering.h - how a packet scatters. C++ and OpenCL C read this file.
#ifndef HEADRACE_FLUORESCENCE_SCATTERING_H
#define HEADRACE_FLUORESCENCE_SCATTERING_H
#include "layout.h"
#include "random/turns.h"

HEADRACE_NAMESPACE(fluorescence)
HEADRACE_USING(random_numbers)

/// Of `turns` from anywhere, at most one.
HEADRACE_FUNCTION void sin_cos_of(HEADRACE_ANY(float) turns, HEADRACE_ANY(float*) sine,
                                  HEADRACE_ANY(float*) cosine) {
#if defined(__CUDA_ARCH__)
    __sincosf(turns * 6.28318531f - 3.14159265f, sine, cosine); // 2^-21 off, and from another beginning
#else
    sin_cos_of_turns(turns, sine, cosine);
#endif
}

/// `value`, or its negative if `sign` is negative.
HEADRACE_FUNCTION HEADRACE_ANY(float) with_sign_of(HEADRACE_ANY(float) sign, HEADRACE_ANY(float) value) {
    return as_float(as_uint(value) ^ (as_uint(sign) & 1u << 31));
}

/// Any direction, as likely as any other. Never level: the packet could not leave a clear layer.
HEADRACE_FUNCTION void choose_direction(Packet* packet, float height, float turns) {
    packet->uz = 2 * height - (1 - 1.0f / 16777216.0f);
    const float level = sqrt(1 - packet->uz * packet->uz);
    sin_cos_of(turns, &packet->uy, &packet->ux);
    packet->ux *= level;
    packet->uy *= level;
}

/// Another direction, at an angle whose cosine is `forward` (1 - t) and `turns` around the old one; the old
/// one unless it `scatters`.
///
/// Since every way around is as likely, any two axes across the old direction will do; with those of
/// Duff et al., "Building an orthonormal basis, revisited", JCGT 6(1), 2017, nearly everything falls out.
HEADRACE_FUNCTION void turn_by(HEADRACE_ANY(Packet*) packet, HEADRACE_ANY(float) forward,
                               HEADRACE_ANY(float) t, HEADRACE_ANY(float) turns,
                               HEADRACE_ANY(bool) scatters) {
    const HEADRACE_ANY(float) cosine = forward - forward * t;
    const HEADRACE_ANY(float) sine = sqrt(fabs(t * (2 - t))); // t may be rounded to below 0, or above 2
    HEADRACE_ANY(float) a = turns, b = turns;                 // of this type
    sin_cos_of(turns, &b, &a);
    a *= sine;
    b *= sine;
    const HEADRACE_ANY(float) across = a * packet->ux + b * packet->uy;
    const HEADRACE_ANY(float) kept = cosine - across / (1 + fabs(packet->uz));
    const HEADRACE_ANY(float) uz = cosine * packet->uz - with_sign_of(packet->uz, across);
    packet->ux = choose(scatters, kept * packet->ux + a, packet->ux);
    packet->uy = choose(scatters, kept * packet->uy + b, packet->uy);
    packet->uz = choose(scatters, uz, packet->uz);
}

/// By Henyey and Greenstein, at an angle `random` / 2^32 of the way through its distribution: its t.
HEADRACE_FUNCTION HEADRACE_ANY(float)
    henyey_greenstein(HEADRACE_ANY(const Optics*) optics, HEADRACE_ANY(float) random) {
    const HEADRACE_ANY(float) root = 1 / (optics->root[0] + optics->root[1] * random);
    return (2 + random * (optics->bend[0] + random * optics->bend[1])) * (root * root);
}

HEADRACE_FUNCTION void scatter(HEADRACE_ANY(const Optics*) optics, HEADRACE_ANY(Packet*) packet,
                               HEADRACE_ANY(float) random, HEADRACE_ANY(float) turns,
                               HEADRACE_ANY(bool) scatters) {
    turn_by(packet, optics->forward, henyey_greenstein(optics, random), turns, scatters);
}

/// 1 - cosine by the table's piece in which `random` lies. Where in the piece: a root of a square, in the
/// form in which nothing cancels.
HEADRACE_FUNCTION float tabulated(HEADRACE_ELEMENTS(PhaseNode) phases, const Optics* optics,
                                  uint32_t random) {
    uint32_t first = optics->phase_data, nodes = optics->phase >> 8;
    while (nodes > 1) { // the last that begins at `random` or before
        const uint32_t half_of = nodes / 2;
        const bool is_behind = phases[first + half_of].below <= random;
        first = is_behind ? first + half_of : first;
        nodes = is_behind ? nodes - half_of : half_of;
    }
    const PhaseNode node = phases[first];
    const float rest = (float)(random - node.below) + 0.5f;
    const float square = node.density * node.density + 2 * node.slope * rest;
    return node.turn + 2 * rest / (node.density + sqrt(fmax(square, 0.0f)));
}

/// By the layer's own phase function.
HEADRACE_FUNCTION void scatter_by_phase(HEADRACE_ELEMENTS(PhaseNode) phases, const Optics* optics,
                                        Packet* packet, uint32_t random, float turns, bool scatters) {
    const uint32_t chance = optics->phase_data;
    float forward = 1, t = 0;
    switch (optics->phase & 255u) {
    case FLUORESCENCE_PHASE_MODIFIED: // each part has its share of the words
        if (random < chance) {
            forward = optics->forward;
            t = henyey_greenstein(optics, (float)random * (0x1p32f / (float)chance));
        } else { // the square of the cosine
            const float part = (float)(random - chance) / (float)(~chance);
            t = 1 - cbrt(2 * part - 1);
        }
        break;
    case FLUORESCENCE_PHASE_RAYLEIGH: { // cosine^3 + 3 cosine = 4 (2 random - 1), by Cardano
        const float twice = (float)random * 0x1p-30f - 2;
        const float size = cbrt(fabs(twice) + sqrt(twice * twice + 1));
        t = 1 - with_sign_of(twice, size - 1 / size);
        break;
    }
    case FLUORESCENCE_PHASE_TABULATED:
        t = tabulated(phases, optics, random);
        break;
    default:
        forward = optics->forward;
        t = henyey_greenstein(optics, (float)random);
    }
    turn_by(packet, forward, t, turns, scatters);
}

HEADRACE_END_NAMESPACE

#endif
