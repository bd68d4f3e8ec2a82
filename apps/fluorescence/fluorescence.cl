// apps/fluorescence/fluorescence.cl - the kernels of fluorescence.kernels.hpp in OpenCL C, function by function: change
// both. layout.h, philox.cl and turns.cl come before this text. Why things are done as they are is said there.

#define HEADRACE_PARAMETERS                                                                                            \
    __global const Layer *layers, __global ulong *totals, __global ulong *absorption, __global ulong *escaped,        \
        Tissue tissue
#define HEADRACE_ARGUMENTS layers, totals, absorption, escaped, tissue

typedef Packet HrUnit;

typedef struct TissueView {
    __global const Layer* layers;
    __global ulong *totals, *absorption, *escaped;
    Tissue tissue;
} TissueView;

HR_FUNCTION uint wavelength(const Packet* packet) { return packet->origin != 0 ? 1 : 0; }
HR_FUNCTION uint layer_of(const Packet* packet) { return packet->layer_and_number & 255u; }
HR_FUNCTION void enter(Packet* packet, uint layer) {
    packet->layer_and_number = (packet->layer_and_number & ~255u) | layer;
}

HR_FUNCTION uint4 random_words(const Tissue* tissue, const Packet* packet) {
    return philox4x32((uint4)(packet->number, packet->layer_and_number >> 8, packet->origin, packet->step),
                      tissue->seed_low, tissue->seed_high);
}

HR_FUNCTION float fifth_of(uint4 words) {
    return uniform_of((words.x & 255u) << 24 | (words.y & 255u) << 16 | (words.z & 255u) << 8);
}

HR_FUNCTION Packet begin_packet(const Tissue* tissue, ulong number) {
    Packet packet;
    packet.x = packet.y = packet.ux = packet.uy = packet.rest = 0;
    packet.z = tissue->first_depth;
    packet.uz = 1;
    packet.weight = tissue->weight;
    packet.pending = packet.in_cell = 0;
    packet.cell = 0;
    packet.number = (uint)number;
    packet.layer_and_number = (uint)(number >> 32) << 8 | tissue->first_layer;
    packet.origin = 0;
    packet.step = 1;
    return packet;
}

HR_FUNCTION uint rounded(float weight) { return (uint)(weight + 0.5f); }

HR_FUNCTION uint cell_of(float place, float cells_per_cm, uint cells) {
    const float cell = place * cells_per_cm;
    return cell < 1 ? 0 : cell >= (float)cells ? cells - 1 : (uint)cell;
}

HR_FUNCTION uint across(const Tissue* tissue, float x, float y) {
    if (tissue->is_xyz == 0) return cell_of(sqrt(x * x + y * y), tissue->columns_per_cm, tissue->columns);
    return cell_of(y - tissue->row_edge, tissue->rows_per_cm, tissue->rows) * tissue->columns +
           cell_of(x - tissue->column_edge, tissue->columns_per_cm, tissue->columns);
}

HR_FUNCTION ulong total(const TissueView* view, const Packet* packet, uint which) {
    return (ulong)(packet->number % FLUORESCENCE_BATCHES) * view->tissue.totals + which;
}

HR_FUNCTION void settle(const TissueView* view, Packet* packet) {
    const uint which = FLUORESCENCE_ABSORBED + wavelength(packet) * view->tissue.layers + layer_of(packet);
    if (packet->pending != 0)
        hr_atomic_add_ulong(view->totals + total(view, packet, which), (ulong)(long)packet->pending);
    packet->pending = 0;
}

HR_FUNCTION void settle_cell(const TissueView* view, Packet* packet) {
    if (packet->in_cell == 0) return;
    const ulong cells = (ulong)view->tissue.depths * view->tissue.rows * view->tissue.columns;
    hr_atomic_add_ulong(view->absorption + wavelength(packet) * cells + packet->cell, (ulong)(long)packet->in_cell);
    packet->in_cell = 0;
}

HR_FUNCTION void absorb(const TissueView* view, Packet* packet, int amount) {
    const Tissue* tissue = &view->tissue;
    const uint cell = cell_of(packet->z, tissue->depths_per_cm, tissue->depths) * (tissue->rows * tissue->columns) +
                      across(tissue, packet->x, packet->y);
    if (cell != packet->cell) settle_cell(view, packet);
    packet->cell = cell;
    packet->in_cell += amount;
    packet->pending += amount;
}

HR_FUNCTION void settle_all(const TissueView* view, Packet* packet) {
    settle_cell(view, packet);
    settle(view, packet);
}

HR_FUNCTION void escape(const TissueView* view, const Packet* packet, uint side, float cosine) {
    const Tissue* tissue = &view->tissue;
    const uint which = wavelength(packet) * 2 + side;
    hr_atomic_add_ulong(view->totals + total(view, packet, which), packet->weight);
    const float angle = acos(fmin(cosine, 1.0f));
    const ulong cell =
        (ulong)which * (tissue->rows * tissue->columns) + across(tissue, packet->x, packet->y);
    hr_atomic_add_ulong(view->escaped + cell * tissue->angles +
                            cell_of(angle, tissue->angles_per_radian, tissue->angles),
                        packet->weight);
}

HR_FUNCTION float reflectance(float n, float n_beyond, float cosine, float* cosine_beyond) {
    *cosine_beyond = cosine;
    if (n == n_beyond) return 0;
    const float sine = n / n_beyond * sqrt(1 - cosine * cosine);
    if (!(sine < 1)) return 1;
    *cosine_beyond = sqrt(1 - sine * sine);
    const float a = n * cosine, b = n_beyond * *cosine_beyond, c = n * *cosine_beyond, d = n_beyond * cosine;
    const float s = (a - b) / (a + b), p = (c - d) / (c + d);
    return 0.5f * (s * s + p * p);
}

HR_FUNCTION bool meet_boundary(const TissueView* view, const Layer* layer, Packet* packet, float random) {
    const bool down = packet->uz > 0;
    const float cosine = fabs(packet->uz), n_beyond = down ? layer->n_below : layer->n_above;
    packet->z = down ? layer->bottom : layer->top;
    float cosine_beyond = cosine;
    const float reflected = cosine <= (down ? layer->critical_below : layer->critical_above)
                                ? 1.0f
                                : reflectance(layer->n, n_beyond, cosine, &cosine_beyond);
    if (random < reflected) {
        packet->uz = -packet->uz;
        return true;
    }
    settle(view, packet);
    const uint at = layer_of(packet);
    if (down ? at + 1 == view->tissue.layers : at == 0) {
        settle_cell(view, packet);
        escape(view, packet, down ? 1 : 0, cosine_beyond);
        return false;
    }
    enter(packet, down ? at + 1 : at - 1);
    packet->ux *= layer->n / n_beyond;
    packet->uy *= layer->n / n_beyond;
    packet->uz = down ? cosine_beyond : -cosine_beyond;
    return true;
}

HR_FUNCTION void scatter(Packet* packet, float g, float random, float turns) {
    float cosine = 2 * random - 1;
    if (g != 0) {
        const float part = (1 - g * g) / (1 - g + 2 * g * random);
        cosine = clamp((1 + g * g - part * part) / (2 * g), -1.0f, 1.0f);
    }
    const float sine = sqrt(1 - cosine * cosine);
    float a, b;
    sin_cos_of_turns(turns, &b, &a);
    a *= sine;
    b *= sine;
    const float ux = packet->ux, uy = packet->uy, uz = packet->uz;
    const float level = 1 - uz * uz;
    if (level < 1e-6f) {
        packet->ux = a;
        packet->uy = b;
        packet->uz = uz > 0 ? cosine : -cosine;
    } else {
        const float root = sqrt(level), inverse = 1 / root;
        packet->ux = (ux * uz * a - uy * b) * inverse + ux * cosine;
        packet->uy = (uy * uz * a + ux * b) * inverse + uy * cosine;
        packet->uz = -root * a + uz * cosine;
    }
    const float scale =
        1.5f - 0.5f * (packet->ux * packet->ux + packet->uy * packet->uy + packet->uz * packet->uz);
    packet->ux *= scale;
    packet->uy *= scale;
    packet->uz *= scale;
}

HR_FUNCTION Packet emit(const TissueView* view, const Packet* packet, uint weight) {
    Packet emitted = *packet;
    emitted.origin = packet->step;
    emitted.step = 0;
    emitted.rest = 0;
    emitted.pending = emitted.in_cell = 0;
    emitted.weight = weight;
    const uint4 words = random_words(&view->tissue, &emitted);
    emitted.uz = 2 * uniform_of(words.x) - 1;
    const float level = sqrt(1 - emitted.uz * emitted.uz);
    sin_cos_of_turns(uniform_of(words.y), &emitted.uy, &emitted.ux);
    emitted.ux *= level;
    emitted.uy *= level;
    emitted.step = 1;
    hr_atomic_add_ulong(view->totals + total(view, &emitted, FLUORESCENCE_EMITTED), weight);
    return emitted;
}

HR_FUNCTION bool is_trapped(const Layer* layer, const Optics* optics, const Packet* packet) {
    const float cosine = fabs(packet->uz);
    const bool stays = cosine == 0 || (cosine <= layer->critical_above && cosine <= layer->critical_below);
    return (optics->attenuation == 0 && stays) || packet->step >= FLUORESCENCE_MOST_STEPS;
}

HR_FUNCTION uint loss_of(const Packet* packet, float absorbed, uint random) {
    const float dither = ((float)(random & 255u) + 0.5f) / 256;
    return min((uint)((float)packet->weight * absorbed + dither), packet->weight);
}

// True if the packet goes on.
HR_FUNCTION bool take_step(const TissueView* view, Packet* packet, bool* emits, Packet* emitted) {
    *emits = false;
    const Layer layer = view->layers[layer_of(packet)];
    const Optics optics = packet->origin != 0 ? layer.emission : layer.excitation;
    const uint4 words = random_words(&view->tissue, packet);
    const bool clear = optics.attenuation == 0;
    if (is_trapped(&layer, &optics, packet)) {
        absorb(view, packet, (int)packet->weight);
        settle_all(view, packet);
        return false;
    }
    if (packet->rest == 0 && !clear) packet->rest = -log(1 - uniform_of(words.x));

    const float way = packet->rest * optics.free_path;
    const float to_boundary = (packet->uz > 0 ? layer.bottom - packet->z : layer.top - packet->z) / packet->uz;
    if (packet->uz != 0 && (clear || to_boundary <= way)) {
        packet->x += to_boundary * packet->ux;
        packet->y += to_boundary * packet->uy;
        packet->rest -= to_boundary * optics.attenuation;
        if (packet->rest < 0) packet->rest = 0;
        const bool goes_on = meet_boundary(view, &layer, packet, uniform_of(words.y));
        ++packet->step;
        return goes_on;
    }
    packet->x += way * packet->ux;
    packet->y += way * packet->uy;
    packet->z += way * packet->uz;
    packet->rest = 0;

    const uint lost = loss_of(packet, optics.absorbed, words.w);
    packet->weight -= lost;
    if (packet->origin == 0 && layer.yield > 0 && lost > 0) {
        const float expected = (float)lost * layer.yield;
        if (fifth_of(words) * (float)view->tissue.emission_weight < expected) {
            *emits = true;
            *emitted = emit(view, packet, max(rounded(expected), view->tissue.emission_weight));
        }
    }
    int absorbed = (int)lost;
    bool goes_on = true;
    if (packet->weight < FLUORESCENCE_ROULETTE_BELOW) {
        if (packet->weight != 0 && uniform_of(words.y) < FLUORESCENCE_ROULETTE_CHANCE) {
            const uint gain = FLUORESCENCE_ROULETTE_GAIN * packet->weight;
            absorbed -= (int)gain;
            packet->weight += gain;
        } else {
            absorbed += (int)packet->weight;
            packet->weight = 0;
            goes_on = false;
        }
    }
    absorb(view, packet, absorbed);
    if (goes_on)
        scatter(packet, optics.g, uniform_of(words.z), uniform_of(words.w));
    else
        settle_all(view, packet);
    ++packet->step;
    return goes_on;
}

// ---- fluorescence.kernels.hpp

#ifdef HEADRACE_CONSUMER
void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) {
    const TissueView view = {layers, totals, absorption, escaped, tissue};
    Packet packet = begin_packet(&tissue, index), excitation = packet, emitted;
    bool waits = false, emits;
    for (;;) {
        const bool goes_on = take_step(&view, &packet, &emits, &emitted);
        if (emits) {
            excitation = packet;
            waits = goes_on;
            packet = emitted;
        } else if (!goes_on) {
            if (!waits) break;
            packet = excitation;
            waits = false;
        }
    }
}
#else
void hr_seed(ulong index, uint* kind, HrUnit* unit, HEADRACE_PARAMETERS) {
    *kind = 0;
    *unit = begin_packet(&tissue, index);
}

void hr_run(HrLane* lane, uint kind, HrUnit packet, HEADRACE_PARAMETERS) {
    const TissueView view = {layers, totals, absorption, escaped, tissue};
    Packet emitted;
    bool emits;
    const bool goes_on = take_step(&view, &packet, &emits, &emitted);
    if (goes_on) hr_spawn(lane, 0, &packet);
    if (emits) hr_spawn(lane, 0, &emitted);
}
#endif
