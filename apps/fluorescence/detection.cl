// apps/fluorescence/detection.cl - detection.hpp in OpenCL C, function by function: change both. layout.h, view.cl and
// source.cl come before this text.

#ifdef FLUORESCENCE_DETECTING
HR_FUNCTION Packet begin_tracked_packet(const Tissue* tissue, const General* general, ulong number) {
    Packet packet = begin_general_packet(tissue, &general->source, number);
    const float random = (float)words_of_beginning(&packet, 0).w * 0x1.fffffep-33f + 0x1p-33f;
    const float ups = floor(log(random) * general->passes);
    for (uint layer = 0; layer < FLUORESCENCE_MOST_PATHS; ++layer) packet.paths[layer] = 0;
    packet.stay = 0;
    packet.paths[0] = general->first_thickness * (1 + 2 * ups);
    packet.flight = packet.paths[0] * general->first_n;
    return packet;
}

HR_FUNCTION void leave_layer(Packet* packet, float n) {
    const uint layer = layer_of(packet);
    packet->flight += n * packet->stay;
    if (layer < FLUORESCENCE_MOST_PATHS) packet->paths[layer] += packet->stay;
    packet->stay = 0;
}

HR_FUNCTION ulong whole_of(float number, uint random) { return (ulong)(number + (float)(random >> 8) * 0x1p-24f); }

HR_FUNCTION void detect(const TissueView* view, const Packet* packet) {
    const General* general = &view->general;
    const uint side = packet->uz > 0 ? 1 : 0, colour = wavelength(packet);
    const float n = view->layers[layer_of(packet)].sides[side].n;
    const float square_sine = n * n * (packet->ux * packet->ux + packet->uy * packet->uy);
    const float time = packet->flight * general->gates_per_cm;
    const uint gate = time < (float)general->gates ? (uint)time : general->gates;
    const ulong first_place = (ulong)colour * (2 + general->detectors), gates = general->gates + 1;
    if (general->gates != 0)
        hr_atomic_add_ulong(view->gated + (first_place + side) * gates + gate, packet->weight);
    for (uint i = 0; i < general->detectors; ++i) {
        const Detector detector = view->detectors[i];
        const float x = packet->x - detector.x, y = packet->y - detector.y;
        if (detector.side != side || !(x * x + y * y <= detector.square_radius) ||
            !(square_sine <= detector.square_sine))
            continue;
        if (general->gates != 0)
            hr_atomic_add_ulong(view->gated + (first_place + 2 + i) * gates + gate, packet->weight);
        const ulong batch = packet->name % FLUORESCENCE_BATCHES;
        __global ulong* first = view->detected + ((batch * general->detectors + i) * 2 + colour) *
                                                     (FLUORESCENCE_DETECTED_PATHS + view->tissue.layers);
        hr_atomic_add_ulong(first, 1);
        hr_atomic_add_ulong(first + 1, packet->weight);
        bool is_cut = false;
        for (uint layer = 0; layer < view->tissue.layers && layer < FLUORESCENCE_MOST_PATHS; ++layer) {
            const float path = packet->paths[layer];
            is_cut = is_cut || path > FLUORESCENCE_MOST_PATH;
            const float amount = (float)packet->weight * general->path_scale *
                                 (path < FLUORESCENCE_MOST_PATH ? path : FLUORESCENCE_MOST_PATH);
            hr_atomic_add_ulong(first + FLUORESCENCE_DETECTED_PATHS + layer,
                                whole_of(amount, (packet->name ^ packet->step ^ layer << 16) * 0x9E3779B1u));
        }
        if (is_cut) hr_atomic_add_ulong(first + 2, 1);
    }
}
#endif
