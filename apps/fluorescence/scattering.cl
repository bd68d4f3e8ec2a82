// apps/fluorescence/scattering.cl - scattering.hpp in OpenCL C, function by function: change both. layout.h and turns.cl
// come before this text.

HR_FUNCTION float with_sign_of(float sign, float value) {
    return as_float(as_uint(value) ^ (as_uint(sign) & 1u << 31));
}

HR_FUNCTION void choose_direction(Packet* packet, float height, float turns) {
    packet->uz = 2 * height - (1 - 1.0f / 16777216.0f);
    const float level = sqrt(1 - packet->uz * packet->uz);
    sin_cos_of_turns(turns, &packet->uy, &packet->ux);
    packet->ux *= level;
    packet->uy *= level;
}

HR_FUNCTION void turn_by(Packet* packet, float forward, float t, float turns, bool scatters) {
    const float cosine = forward - forward * t;
    const float sine = sqrt(fabs(t * (2 - t)));
    float a, b;
    sin_cos_of_turns(turns, &b, &a);
    a *= sine;
    b *= sine;
    const float across = a * packet->ux + b * packet->uy;
    const float kept = cosine - across / (1 + fabs(packet->uz));
    const float uz = cosine * packet->uz - with_sign_of(packet->uz, across);
    packet->ux = scatters ? kept * packet->ux + a : packet->ux;
    packet->uy = scatters ? kept * packet->uy + b : packet->uy;
    packet->uz = scatters ? uz : packet->uz;
}

HR_FUNCTION float henyey_greenstein(const Optics* optics, float random) {
    const float root = 1 / (optics->root[0] + optics->root[1] * random);
    return (2 + random * (optics->bend[0] + random * optics->bend[1])) * (root * root);
}

HR_FUNCTION void scatter(const Optics* optics, Packet* packet, float random, float turns, bool scatters) {
    turn_by(packet, optics->forward, henyey_greenstein(optics, random), turns, scatters);
}

#ifdef FLUORESCENCE_GENERAL
HR_FUNCTION float tabulated(__global const PhaseNode* phases, const Optics* optics, uint random) {
    uint first = optics->phase_data, nodes = optics->phase >> 8;
    while (nodes > 1) {
        const uint half_of = nodes / 2;
        const bool is_behind = phases[first + half_of].below <= random;
        first = is_behind ? first + half_of : first;
        nodes = is_behind ? nodes - half_of : half_of;
    }
    const PhaseNode node = phases[first];
    const float rest = (float)(random - node.below) + 0.5f;
    const float square = node.density * node.density + 2 * node.slope * rest;
    return node.turn + 2 * rest / (node.density + sqrt(fmax(square, 0.0f)));
}

HR_FUNCTION void scatter_by_phase(__global const PhaseNode* phases, const Optics* optics, Packet* packet, uint random,
                                  float turns, bool scatters) {
    const uint chance = optics->phase_data;
    float forward = 1, t = 0;
    switch (optics->phase & 255u) {
    case FLUORESCENCE_PHASE_MODIFIED:
        if (random < chance) {
            forward = optics->forward;
            t = henyey_greenstein(optics, (float)random * (0x1p32f / (float)chance));
        } else {
            const float part = (float)(random - chance) / (float)(~chance);
            t = 1 - cbrt(2 * part - 1);
        }
        break;
    case FLUORESCENCE_PHASE_RAYLEIGH: {
        const float twice = (float)random * 0x1p-30f - 2;
        const float size = cbrt(fabs(twice) + sqrt(twice * twice + 1));
        t = 1 - with_sign_of(twice, size - 1 / size);
        break;
    }
    case FLUORESCENCE_PHASE_TABULATED: t = tabulated(phases, optics, random); break;
    default: forward = optics->forward; t = henyey_greenstein(optics, (float)random);
    }
    turn_by(packet, forward, t, turns, scatters);
}
#endif
