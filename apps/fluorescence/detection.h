// apps/fluorescence/detection.h - the ways of packets, and what detectors and time gates make of them. C++
// and OpenCL C read this file, after the kernel's view.
#ifndef HEADRACE_FLUORESCENCE_DETECTION_H
#define HEADRACE_FLUORESCENCE_DETECTION_H
#include "grid.h"
#include "source.h"

#if defined(__OPENCL_C_VERSION__) && !defined(FLUORESCENCE_DETECTING)
    // There a packet has no way.
    #define stay_for(packet, way)
    #define leave_layer(packet, n)
    #define detect(view, packet)
#else

HEADRACE_NAMESPACE(fluorescence)

/// The way of a packet through a clear first layer that is above where it begins.
HEADRACE_FUNCTION void begin_way(const General* general, HEADRACE_ANY(Packet*) packet) {
    const float random = (float)words_of_beginning(packet, 0).d * 0x1.fffffep-33f + 0x1p-33f;
    const float ups = floor(log(random) * general->passes);
    for (uint32_t layer = 1; layer < FLUORESCENCE_MOST_PATHS; ++layer) packet->paths[layer] = 0;
    packet->stay = 0;
    packet->paths[0] = general->first_thickness * (1 + 2 * ups);
    packet->flight = packet->paths[0] * general->first_n;
}

HEADRACE_FUNCTION void stay_for(HEADRACE_ANY(Packet*) packet, float way) { packet->stay += way; }

/// The packet comes out of its layer: sums of many short ways and few long ones lose nothing so.
HEADRACE_FUNCTION void leave_layer(HEADRACE_ANY(Packet*) packet, float n) {
    const uint32_t layer = layer_of(packet);
    packet->flight += n * packet->stay;
    if (layer < FLUORESCENCE_MOST_PATHS) packet->paths[layer] += packet->stay;
    packet->stay = 0;
}

/// A number as a whole one, by chance: no sum of many is wrong.
HEADRACE_FUNCTION uint64_t whole_of(float number, uint32_t random) {
    return (uint64_t)(number + (float)(random >> 8) * 0x1p-24f);
}

/// The packet leaves the tissue, as steeply as it was within.
HEADRACE_FUNCTION void detect(HEADRACE_ANY(const TissueView*) view, HEADRACE_ANY(const Packet*) packet) {
    const General* general = &view->general;
    const uint32_t side = packet->uz > 0 ? 1 : 0, colour = wavelength(packet);
    const float n = view->layers[layer_of(packet)].sides[side].n;
    const float square_sine = n * n * (packet->ux * packet->ux + packet->uy * packet->uy);
    const float time = packet->flight * general->gates_per_cm;
    const uint32_t gate = time < (float)general->gates ? (uint32_t)time : general->gates;
    const uint64_t first_place = (uint64_t)colour * (2 + general->detectors), gates = general->gates + 1;
    if (general->gates != 0) add_to_gate(view, (first_place + side) * gates + gate, packet->weight);
    for (uint32_t i = 0; i < general->detectors; ++i) {
        const Detector detector = view->detectors[i];
        const float x = packet->x - detector.x, y = packet->y - detector.y;
        if (detector.side != side || !(x * x + y * y <= detector.square_radius) ||
            !(square_sine <= detector.square_sine))
            continue;
        if (general->gates != 0) add_to_gate(view, (first_place + 2 + i) * gates + gate, packet->weight);
        const uint64_t batch = packet->name % FLUORESCENCE_BATCHES;
        const uint64_t first = ((batch * general->detectors + i) * 2 + colour) *
                               (FLUORESCENCE_DETECTED_PATHS + view->tissue.layers);
        add_detected(view, first, 1);
        add_detected(view, first + 1, packet->weight);
        bool is_cut = false;
        for (uint32_t layer = 0; layer < view->tissue.layers && layer < FLUORESCENCE_MOST_PATHS; ++layer) {
            const float path = packet->paths[layer];
            is_cut = is_cut || path > FLUORESCENCE_MOST_PATH;
            const float amount = (float)packet->weight * general->path_scale *
                                 (path < FLUORESCENCE_MOST_PATH ? path : FLUORESCENCE_MOST_PATH);
            add_detected(view, first + FLUORESCENCE_DETECTED_PATHS + layer,
                         whole_of(amount, (packet->name ^ packet->step ^ layer << 16) * 0x9E3779B1u));
        }
        if (is_cut) add_detected(view, first + 2, 1);
    }
}

HEADRACE_END_NAMESPACE

#endif
#endif
