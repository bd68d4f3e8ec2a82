// apps/fluorescence/source.h - how a packet begins. C++ and OpenCL C read this file.
#ifndef HEADRACE_FLUORESCENCE_SOURCE_H
#define HEADRACE_FLUORESCENCE_SOURCE_H
#include "fresnel.h"
#include "random/philox.h"
#include "scattering.h"

HEADRACE_NAMESPACE(fluorescence)

/// A packet of a pencil beam, below the surface.
HEADRACE_FUNCTION Packet begin_packet(const Tissue* tissue, uint64_t number) {
    Packet packet;
    packet.x = packet.y = packet.z = packet.ux = packet.uy = 0;
    packet.uz = 1;
    packet.weight = packet.entered = tissue->weight;
    const Words4 words = philox4x32(words4((uint32_t)number, (uint32_t)(number >> 32), 0, 0),
                                    tissue->seed_low, tissue->seed_high);
    packet.name =
        (uint32_t)number % FLUORESCENCE_BATCHES + words.a / FLUORESCENCE_BATCHES * FLUORESCENCE_BATCHES;
    packet.layer_and_name = words.b << 8 | tissue->first_layer;
    packet.origin = packet.step = 0;
    return packet;
}

/// Random numbers of a packet's beginning. None that is emitted has such an origin, so they are no step's.
HEADRACE_FUNCTION Words4 words_of_beginning(const Packet* packet, uint32_t number) {
    return philox4x32(words4(packet->name, packet->layer_and_name >> 8, ~0u, number), 0, 0);
}

/// `radius` from the axis.
HEADRACE_FUNCTION void place(Packet* packet, float radius, float turns) {
    sin_cos_of(turns, &packet->y, &packet->x);
    packet->x *= radius;
    packet->y *= radius;
}

#define FLUORESCENCE_MOST_TRIES 1000u

/// A ray of a fibre, which gives the same light to each part of its cone, as seen from there. Of those that
/// the surface reflects others are drawn: so all that begin weigh the same.
HEADRACE_FUNCTION void leave_fibre(const Source* source, Packet* packet) {
    for (uint32_t number = 1; number < FLUORESCENCE_MOST_TRIES; ++number) {
        const Words4 words = words_of_beginning(packet, number);
        const float square = source->square_sine * uniform_of(words.a);
        const float sine = sqrt(square), cosine = sqrt(1 - square);
        sin_cos_of(uniform_of(words.b), &packet->uy, &packet->ux);
        float across = sine, cosine_beyond = cosine;
        if (source->is_outside != 0) {
            if (uniform_of(words.c) < reflectance(&source->surface, cosine, &cosine_beyond)) continue;
            across *= source->surface.n_ratio;
        }
        packet->ux *= across;
        packet->uy *= across;
        packet->uz = fmax(cosine_beyond, 1e-6f); // never level
        return;
    }
    packet->ux = packet->uy = 0; // hardly a ray enters
}

/// A packet of any source. As before it, if that is a pencil beam.
HEADRACE_FUNCTION Packet begin_general_packet(const Tissue* tissue, const Source* source, uint64_t number) {
    Packet packet = begin_packet(tissue, number);
    const Words4 words = words_of_beginning(&packet, 0);
    const float part = (float)words.a * 0x1.fffffep-33f + 0x1p-33f; // neither 0 nor 1
    const float turns = uniform_of(words.b);
    packet.z = source->depth;
    switch (source->kind) {
    case FLUORESCENCE_SOURCE_GAUSSIAN:
        place(&packet, source->radius * sqrt(-0.5f * log(part)), turns);
        break;
    case FLUORESCENCE_SOURCE_DISC:
        place(&packet, source->radius * sqrt(part), turns);
        break;
    case FLUORESCENCE_SOURCE_ISOTROPIC:
        choose_direction(&packet, uniform_of(words.a), turns);
        break;
    case FLUORESCENCE_SOURCE_OBLIQUE:
        packet.ux = source->ux;
        packet.uz = source->uz;
        break;
    case FLUORESCENCE_SOURCE_FIBRE:
        place(&packet, source->radius * sqrt(part), turns);
        leave_fibre(source, &packet);
        break;
    default:
        break;
    }
    return packet;
}

HEADRACE_END_NAMESPACE

#endif
