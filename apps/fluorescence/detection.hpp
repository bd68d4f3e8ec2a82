// apps/fluorescence/detection.hpp - the ways of packets, and what detectors and time gates make of them.
// detection.cl has it in OpenCL C: change both.
#pragma once
#include "source.hpp"
#include "view.hpp"

#include <cmath>

namespace fluorescence {

/// A packet of any source, with its way through a clear first layer that is above where it begins.
HEADRACE_HOST_DEVICE inline TrackedPacket begin_packet(const Tissue& tissue, const General& general,
                                                       uint64_t number) {
    TrackedPacket packet{};
    static_cast<Packet&>(packet) = begin_packet(tissue, general.source, number);
    const float random = static_cast<float>(words_of_beginning(packet, 0).d) * 0x1.fffffep-33f + 0x1p-33f;
    const float ups = std::floor(std::log(random) * general.passes);
    packet.paths[0] = general.first_thickness * (1 + 2 * ups);
    packet.flight = packet.paths[0] * general.first_n;
    return packet;
}
HEADRACE_HOST_DEVICE inline TrackedPacket begin_packet(const DetectingView& view, uint64_t number) {
    return begin_packet(view.tissue, view.general, number);
}

/// The packet comes out of its layer: sums of many short ways and few long ones lose nothing so.
HEADRACE_HOST_DEVICE inline void leave_layer(TrackedPacket& packet, float n) {
    const uint32_t layer = layer_of(packet);
    packet.flight += n * packet.stay;
    if (layer < FLUORESCENCE_MOST_PATHS) packet.paths[layer] += packet.stay;
    packet.stay = 0;
}

/// A number as a whole one, by chance: no sum of many is wrong.
HEADRACE_HOST_DEVICE inline uint64_t whole_of(float number, uint32_t random) {
    return static_cast<uint64_t>(number + static_cast<float>(random >> 8) * 0x1p-24f);
}

/// The packet leaves the tissue, as steeply as it was within.
HEADRACE_HOST_DEVICE inline void detect(const DetectingView& view, const TrackedPacket& packet) {
    const General& general = view.general;
    const uint32_t side = packet.uz > 0 ? 1 : 0, colour = wavelength(packet);
    const float n = view.layers[layer_of(packet)].sides[side].n;
    const float square_sine = n * n * (packet.ux * packet.ux + packet.uy * packet.uy);
    const float time = packet.flight * general.gates_per_cm;
    const uint32_t gate =
        time < static_cast<float>(general.gates) ? static_cast<uint32_t>(time) : general.gates;
    const uint64_t first_place = uint64_t{colour} * (2 + general.detectors), gates = general.gates + 1;
    if (general.gates != 0) view.gated.add((first_place + side) * gates + gate, packet.weight);
    for (uint32_t i = 0; i < general.detectors; ++i) {
        const Detector detector = view.detectors[i];
        const float x = packet.x - detector.x, y = packet.y - detector.y;
        if (detector.side != side || !(x * x + y * y <= detector.square_radius) ||
            !(square_sine <= detector.square_sine))
            continue;
        if (general.gates != 0) view.gated.add((first_place + 2 + i) * gates + gate, packet.weight);
        const uint64_t batch = packet.name % FLUORESCENCE_BATCHES;
        const uint64_t first = ((batch * general.detectors + i) * 2 + colour) *
                               (FLUORESCENCE_DETECTED_PATHS + view.tissue.layers);
        view.detected.add(first, 1);
        view.detected.add(first + 1, packet.weight);
        bool is_cut = false;
        for (uint32_t layer = 0; layer < view.tissue.layers && layer < FLUORESCENCE_MOST_PATHS; ++layer) {
            const float path = packet.paths[layer];
            is_cut = is_cut || path > FLUORESCENCE_MOST_PATH;
            const float amount = static_cast<float>(packet.weight) * general.path_scale *
                                 (path < FLUORESCENCE_MOST_PATH ? path : FLUORESCENCE_MOST_PATH);
            view.detected.add(first + FLUORESCENCE_DETECTED_PATHS + layer,
                              whole_of(amount, (packet.name ^ packet.step ^ layer << 16) * 0x9E3779B1u));
        }
        if (is_cut) view.detected.add(first + 2, 1);
    }
}

} // namespace fluorescence
