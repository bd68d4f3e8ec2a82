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

typedef struct Medium {
    float top, bottom, free_path, absorbed, yield;
    bool scatters_evenly;
    float a, b, c, d, e;
} Medium;

typedef struct Incident {
    uint stop, emission;
} Incident;

typedef struct Cell {
    uint z, y, x;
} Cell;

typedef struct StepResult {
    bool goes_on, emits;
    Packet emitted;
} StepResult;

HR_FUNCTION uint wavelength(const Packet* packet) { return packet->origin != 0 ? 1 : 0; }
HR_FUNCTION uint layer_of(const Packet* packet) { return packet->layer_and_name & 255u; }
HR_FUNCTION void enter(Packet* packet, uint layer) {
    packet->layer_and_name = (packet->layer_and_name & ~255u) | layer;
}

HR_FUNCTION Medium medium_of(const TissueView* view, const Packet* packet) {
    const Layer layer = view->layers[layer_of(packet)];
    const bool fluoresces = packet->origin != 0;
    const Optics optics = fluoresces ? layer.emission : layer.excitation;
    Medium medium;
    medium.top = layer.top;
    medium.bottom = layer.bottom;
    medium.free_path = optics.free_path * 0.693147181f;
    medium.absorbed = optics.absorbed;
    medium.yield = fluoresces ? 0 : layer.yield;
    medium.scatters_evenly = optics.g == 0;
    medium.a = 1 - optics.g * optics.g;
    medium.b = 1 - optics.g;
    medium.c = 2 * optics.g * (1.0f / 4294967296.0f);
    medium.e = medium.scatters_evenly ? 0 : 0.5f / optics.g;
    medium.d = (1 + optics.g * optics.g) * medium.e;
    return medium;
}

HR_FUNCTION uint4 random_words(const Packet* packet) {
    return philox4x32((uint4)(packet->name, packet->layer_and_name >> 8, packet->origin, packet->step / 2), 0, 0);
}

HR_FUNCTION Packet begin_packet(const Tissue* tissue, ulong number) {
    Packet packet;
    packet.x = packet.y = packet.ux = packet.uy = 0;
    packet.z = tissue->first_depth;
    packet.uz = 1;
    packet.weight = tissue->weight;
    packet.pending = 0;
    const uint4 words =
        philox4x32((uint4)((uint)number, (uint)(number >> 32), 0, 0), tissue->seed_low, tissue->seed_high);
    packet.name = (uint)number % FLUORESCENCE_BATCHES + words.x / FLUORESCENCE_BATCHES * FLUORESCENCE_BATCHES;
    packet.layer_and_name = words.y << 8 | tissue->first_layer;
    packet.origin = packet.step = 0;
    return packet;
}

HR_FUNCTION uint cell_at(float place, float cells_per_cm, float last) { return (uint)fmin(place * cells_per_cm, last); }
HR_FUNCTION Cell cell_of(const Tissue* tissue, const Packet* packet) {
    Cell cell = {cell_at(packet->z, tissue->depths_per_cm, tissue->last_depth), 0, 0};
    if (tissue->is_xyz == 0) {
        const float radius = sqrt(packet->x * packet->x + packet->y * packet->y);
        cell.x = cell_at(radius, tissue->columns_per_cm, tissue->last_column);
    } else {
        cell.y = cell_at(fmax(packet->y - tissue->row_edge, 0.0f), tissue->rows_per_cm, tissue->last_row);
        cell.x = cell_at(fmax(packet->x - tissue->column_edge, 0.0f), tissue->columns_per_cm, tissue->last_column);
    }
    return cell;
}

HR_FUNCTION void add_to_total(const TissueView* view, const Packet* packet, uint which, int amount) {
    hr_atomic_add_ulong(view->totals + packet->name % FLUORESCENCE_BATCHES * view->tissue.totals + which,
                        (ulong)(long)amount);
}

HR_FUNCTION void settle(const TissueView* view, Packet* packet) {
    const uint which = FLUORESCENCE_ABSORBED + wavelength(packet) * view->tissue.layers + layer_of(packet);
    if (packet->pending != 0) add_to_total(view, packet, which, packet->pending);
    packet->pending = 0;
}

// Kernels in OpenCL C keep no sums near.
HR_FUNCTION void absorb(const TissueView* view, Packet* packet, int amount) {
    const Tissue* tissue = &view->tissue;
    const Cell cell = cell_of(tissue, packet);
    const ulong plane = (ulong)wavelength(packet) * tissue->depths + cell.z;
    hr_atomic_add_ulong(view->absorption + (plane * tissue->rows + cell.y) * tissue->columns + cell.x,
                        (ulong)(long)amount);
    packet->pending += amount;
}

HR_FUNCTION void escape(const TissueView* view, const Packet* packet, uint side, float cosine) {
    const Tissue* tissue = &view->tissue;
    const uint which = wavelength(packet) * 2 + side;
    add_to_total(view, packet, which, (int)packet->weight);
    const float angle = acos(fmin(cosine, 1.0f));
    const Cell cell = cell_of(tissue, packet);
    const ulong place = ((ulong)which * tissue->rows + cell.y) * tissue->columns + cell.x;
    hr_atomic_add_ulong(view->escaped + place * tissue->angles +
                            cell_at(angle, tissue->angles_per_radian, (float)(tissue->angles - 1)),
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

HR_FUNCTION void end_packet(const TissueView* view, Packet* packet) {
    absorb(view, packet, (int)packet->weight);
    settle(view, packet);
    packet->weight = 0;
}

HR_FUNCTION void meet_boundary(const TissueView* view, Medium* medium, Packet* packet, float random) {
    const Layer layer = view->layers[layer_of(packet)];
    const bool down = packet->uz > 0;
    const float edge = down ? layer.bottom : layer.top, way = (edge - packet->z) / packet->uz;
    packet->x += way * packet->ux;
    packet->y += way * packet->uy;
    packet->z = edge;
    const float cosine = fabs(packet->uz), n_beyond = down ? layer.n_below : layer.n_above;
    float cosine_beyond = cosine;
    const bool all = cosine <= (down ? layer.critical_below : layer.critical_above);
    if (all || random < reflectance(layer.n, n_beyond, cosine, &cosine_beyond)) {
        packet->uz = -packet->uz;
        if (layer.is_clear[wavelength(packet)] != 0 && cosine <= layer.critical_above &&
            cosine <= layer.critical_below)
            end_packet(view, packet);
        return;
    }
    settle(view, packet);
    const uint at = layer_of(packet);
    if (down ? at + 1 == view->tissue.layers : at == 0) {
        escape(view, packet, down ? 1 : 0, cosine_beyond);
        packet->weight = 0;
        return;
    }
    enter(packet, down ? at + 1 : at - 1);
    packet->ux *= layer.n / n_beyond;
    packet->uy *= layer.n / n_beyond;
    packet->uz = down ? cosine_beyond : -cosine_beyond;
    *medium = medium_of(view, packet);
}

HR_FUNCTION void scatter(const Medium* medium, Packet* packet, float random, float turns) {
    const float part = medium->a / (medium->b + medium->c * random);
    const float cosine =
        medium->scatters_evenly ? random * (2.0f / 4294967296.0f) - 1 : medium->d - medium->e * part * part;
    const float sine = sqrt(fmax(1 - cosine * cosine, 0.0f));
    float a, b;
    sin_cos_of_turns(turns, &b, &a);
    a *= sine;
    b *= sine;
    const float ux = packet->ux, uy = packet->uy, uz = packet->uz;
    const float sign = copysign(1.0f, uz), inverse = -1 / (sign + uz), across = ux * uy * inverse;
    packet->ux = a * (1 + sign * ux * ux * inverse) + b * across + cosine * ux;
    packet->uy = a * sign * across + b * (sign + uy * uy * inverse) + cosine * uy;
    packet->uz = cosine * uz - a * sign * ux - b * uy;
}

HR_FUNCTION void make_unit_length(Packet* packet) {
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
    emitted.pending = 0;
    emitted.weight = weight;
    const uint4 words = random_words(&emitted);
    emitted.uz = 2 * uniform_of(words.x) - 1;
    const float level = sqrt(1 - emitted.uz * emitted.uz);
    sin_cos_of_turns(uniform_of(words.y), &emitted.uy, &emitted.ux);
    emitted.ux *= level;
    emitted.uy *= level;
    emitted.step = 2;
    add_to_total(view, &emitted, FLUORESCENCE_EMITTED, (int)weight);
    return emitted;
}

HR_FUNCTION void play_roulette(const TissueView* view, Packet* packet) {
    Packet player = *packet;
    player.step |= 1u << 31;
    if (packet->weight == 0 || !(uniform_of(random_words(&player).x) < FLUORESCENCE_ROULETTE_CHANCE)) {
        end_packet(view, packet);
    } else {
        const uint gain = FLUORESCENCE_ROULETTE_GAIN * packet->weight;
        absorb(view, packet, -(int)gain);
        packet->weight += gain;
    }
}

HR_FUNCTION void interact(const TissueView* view, const Medium* medium, Packet* packet, uint a, uint b,
                          Incident* incident) {
    const float way = (32 - log2((float)(a | 1u))) * medium->free_path;
    const float depth = packet->z + way * packet->uz;
    if (depth < medium->top || depth > medium->bottom) {
        incident->stop = b | 1u;
        return;
    }
    packet->x += way * packet->ux;
    packet->y += way * packet->uy;
    packet->z = depth;

    const float turns = (float)(((a << 8) + b) << 16) * (1.0f / 4294967296.0f) + 0.5f / 65536.0f;
    const uint lost = min((uint)((float)packet->weight * medium->absorbed + turns), packet->weight);
    packet->weight -= lost;
    if (medium->yield > 0) {
        const float expected = (float)lost * medium->yield;
        const float chance = (float)(a * 0x9E3779B1u + b) * (1.0f / 4294967296.0f);
        const uint least = view->tissue.emission_weight;
        if (chance * (float)least < expected) incident->emission = max((uint)(expected + 0.5f), least);
    }
    absorb(view, packet, (int)lost);
    if (packet->weight < FLUORESCENCE_ROULETTE_BELOW) incident->stop = 1;
    scatter(medium, packet, (float)b, turns);
}

HR_FUNCTION void follow(const TissueView* view, Packet* packet, StepResult* result) {
    result->goes_on = result->emits = false;
    Medium medium = medium_of(view, packet);
    if (packet->step >= FLUORESCENCE_MOST_STEPS) {
        end_packet(view, packet);
        return;
    }
    Incident incident = {0, 0};
    bool skips = packet->step % 2 != 0;
    for (uint turn = 0; turn < FLUORESCENCE_STEPS_A_CALL / FLUORESCENCE_STEPS_A_TURN; ++turn) {
        for (uint block = 0; block < FLUORESCENCE_STEPS_A_TURN / 2; ++block) {
            const uint4 words = random_words(packet);
            if (incident.stop == 0 && !skips) interact(view, &medium, packet, words.x, words.y, &incident);
            skips = false;
            packet->step |= 1;
            if (incident.emission != 0) break;
            if (incident.stop == 0) interact(view, &medium, packet, words.z, words.w, &incident);
            packet->step += 1;
            if (incident.emission != 0) break;
        }
        if (incident.stop != 0) {
            if (packet->weight < FLUORESCENCE_ROULETTE_BELOW)
                play_roulette(view, packet);
            else
                meet_boundary(view, &medium, packet, uniform_of(incident.stop));
            incident.stop = 0;
        }
        if (incident.emission != 0 || packet->weight == 0) break;
    }
    make_unit_length(packet);
    result->goes_on = packet->weight != 0;
    if (incident.emission != 0) {
        result->emits = true;
        result->emitted = emit(view, packet, incident.emission);
    }
}

// ---- fluorescence.kernels.hpp

#ifdef HEADRACE_CONSUMER
void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) {
    const TissueView view = {layers, totals, absorption, escaped, tissue};
    Packet packet = begin_packet(&tissue, index), excitation = packet;
    StepResult result;
    bool waits = false;
    for (;;) {
        follow(&view, &packet, &result);
        if (result.emits) {
            excitation = packet;
            waits = result.goes_on;
            packet = result.emitted;
        } else if (!result.goes_on) {
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
    StepResult result;
    follow(&view, &packet, &result);
    if (result.goes_on) hr_spawn(lane, 0, &packet);
    if (result.emits) hr_spawn(lane, 0, &result.emitted);
}
#endif
