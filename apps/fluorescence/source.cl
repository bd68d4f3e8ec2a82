// apps/fluorescence/source.cl - source.hpp in OpenCL C, function by function: change both. layout.h, philox.cl, turns.cl,
// fresnel.cl and scattering.cl come before this text.

HR_FUNCTION Packet begin_packet(const Tissue* tissue, ulong number) {
    Packet packet;
    packet.x = packet.y = packet.z = packet.ux = packet.uy = 0;
    packet.uz = 1;
    packet.weight = packet.entered = tissue->weight;
    const uint4 words =
        philox4x32((uint4)((uint)number, (uint)(number >> 32), 0, 0), tissue->seed_low, tissue->seed_high);
    packet.name = (uint)number % FLUORESCENCE_BATCHES + words.x / FLUORESCENCE_BATCHES * FLUORESCENCE_BATCHES;
    packet.layer_and_name = words.y << 8 | tissue->first_layer;
    packet.origin = packet.step = 0;
    return packet;
}

#ifdef FLUORESCENCE_GENERAL
HR_FUNCTION uint4 words_of_beginning(const Packet* packet, uint number) {
    return philox4x32((uint4)(packet->name, packet->layer_and_name >> 8, ~0u, number), 0, 0);
}

HR_FUNCTION void place(Packet* packet, float distance_of, float turns) {
    sin_cos_of_turns(turns, &packet->y, &packet->x);
    packet->x *= distance_of;
    packet->y *= distance_of;
}

HR_FUNCTION void leave_fibre(const Source* source, Packet* packet) {
    for (uint number = 1; number < 1000; ++number) {
        const uint4 words = words_of_beginning(packet, number);
        const float square = source->square_sine * uniform_of(words.x);
        const float sine = sqrt(square), cosine = sqrt(1 - square);
        sin_cos_of_turns(uniform_of(words.y), &packet->uy, &packet->ux);
        float across = sine, cosine_beyond = cosine;
        if (source->is_outside != 0) {
            if (uniform_of(words.z) < reflectance(&source->surface, cosine, &cosine_beyond)) continue;
            across *= source->surface.n_ratio;
        }
        packet->ux *= across;
        packet->uy *= across;
        packet->uz = fmax(cosine_beyond, 1e-6f);
        return;
    }
    packet->ux = packet->uy = 0;
}

HR_FUNCTION Packet begin_general_packet(const Tissue* tissue, const Source* source, ulong number) {
    Packet packet = begin_packet(tissue, number);
    const uint4 words = words_of_beginning(&packet, 0);
    const float part = (float)words.x * 0x1.fffffep-33f + 0x1p-33f;
    const float turns = uniform_of(words.y);
    packet.z = source->depth;
    switch (source->kind) {
    case FLUORESCENCE_SOURCE_GAUSSIAN: place(&packet, source->radius * sqrt(-0.5f * log(part)), turns); break;
    case FLUORESCENCE_SOURCE_DISC: place(&packet, source->radius * sqrt(part), turns); break;
    case FLUORESCENCE_SOURCE_ISOTROPIC: choose_direction(&packet, uniform_of(words.x), turns); break;
    case FLUORESCENCE_SOURCE_OBLIQUE:
        packet.ux = source->ux;
        packet.uz = source->uz;
        break;
    case FLUORESCENCE_SOURCE_FIBRE:
        place(&packet, source->radius * sqrt(part), turns);
        leave_fibre(source, &packet);
        break;
    default: break;
    }
    return packet;
}
#endif
