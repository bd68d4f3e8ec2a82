// apps/fluorescence/source.hpp - how a packet begins. source.cl has it in OpenCL C: change both.
#pragma once
#include "fresnel.hpp"
#include "random/philox.hpp"
#include "scattering.hpp"
#include "view.hpp"

#include <cmath>

namespace fluorescence {

/// A packet of a pencil beam, below the surface.
HEADRACE_HOST_DEVICE inline Packet begin_packet(const Tissue& tissue, uint64_t number) {
    Packet packet{};
    packet.uz = 1;
    packet.weight = packet.entered = tissue.weight;
    const auto words =
        random_numbers::philox4x32({static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32), 0, 0},
                                   tissue.seed_low, tissue.seed_high);
    packet.name = static_cast<uint32_t>(number) % FLUORESCENCE_BATCHES +
                  words.a / FLUORESCENCE_BATCHES * FLUORESCENCE_BATCHES;
    packet.layer_and_name = words.b << 8 | tissue.first_layer;
    return packet;
}

/// Random numbers of a packet's beginning. None that is emitted has such an origin, so they are no step's.
HEADRACE_HOST_DEVICE inline random_numbers::Words4 words_of_beginning(const Packet& packet, uint32_t number) {
    return random_numbers::philox4x32({packet.name, packet.layer_and_name >> 8, ~0u, number}, 0, 0);
}

/// `distance` from the axis.
HEADRACE_HOST_DEVICE inline void place(Packet& packet, float distance, float turns) {
    sin_cos_of(turns, packet.y, packet.x);
    packet.x *= distance;
    packet.y *= distance;
}

/// A ray of a fibre, which gives the same light to each part of its cone, as seen from there. Of those that
/// the surface reflects others are drawn: so all that begin weigh the same.
HEADRACE_HOST_DEVICE inline void leave_fibre(const Source& source, Packet& packet) {
    constexpr uint32_t most_tries = 1000;
    for (uint32_t number = 1; number < most_tries; ++number) {
        const auto words = words_of_beginning(packet, number);
        const float square = source.square_sine * random_numbers::uniform(words.a);
        const float sine = std::sqrt(square), cosine = std::sqrt(1 - square);
        sin_cos_of(random_numbers::uniform(words.b), packet.uy, packet.ux);
        float across = sine, cosine_beyond = cosine;
        if (source.is_outside != 0) {
            if (random_numbers::uniform(words.c) < reflectance(source.surface, cosine, cosine_beyond))
                continue;
            across *= source.surface.n_ratio;
        }
        packet.ux *= across;
        packet.uy *= across;
        packet.uz = std::fmax(cosine_beyond, 1e-6f); // never level
        return;
    }
    packet.ux = packet.uy = 0; // hardly a ray enters
}

/// A packet of any source. As before it, if that is a pencil beam.
HEADRACE_HOST_DEVICE inline Packet begin_packet(const Tissue& tissue, const Source& source, uint64_t number) {
    Packet packet = begin_packet(tissue, number);
    const auto words = words_of_beginning(packet, 0);
    const float part = static_cast<float>(words.a) * 0x1.fffffep-33f + 0x1p-33f; // neither 0 nor 1
    const float turns = random_numbers::uniform(words.b);
    packet.z = source.depth;
    switch (source.kind) {
    case FLUORESCENCE_SOURCE_GAUSSIAN:
        place(packet, source.radius * std::sqrt(-0.5f * std::log(part)), turns);
        break;
    case FLUORESCENCE_SOURCE_DISC:
        place(packet, source.radius * std::sqrt(part), turns);
        break;
    case FLUORESCENCE_SOURCE_ISOTROPIC:
        choose_direction(packet, random_numbers::uniform(words.a), turns);
        break;
    case FLUORESCENCE_SOURCE_OBLIQUE:
        packet.ux = source.ux;
        packet.uz = source.uz;
        break;
    case FLUORESCENCE_SOURCE_FIBRE:
        place(packet, source.radius * std::sqrt(part), turns);
        leave_fibre(source, packet);
        break;
    default:
        break;
    }
    return packet;
}

HEADRACE_HOST_DEVICE inline Packet begin_packet(const TissueView& view, uint64_t number) {
    return begin_packet(view.tissue, number);
}
HEADRACE_HOST_DEVICE inline Packet begin_packet(const GeneralView& view, uint64_t number) {
    return begin_packet(view.tissue, view.general.source, number);
}

} // namespace fluorescence
