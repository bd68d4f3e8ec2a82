// apps/fluorescence/fluorescence.cl - the kernels of fluorescence.kernels.hpp in OpenCL C, function by function: change
// both. layout.h, philox.cl, turns.cl and all others of this folder come before this text. Why things are done as they are is
// said there.

typedef Packet HrUnit;

typedef struct Medium {
    float top, thickness;
    Optics optics;
} Medium;

typedef struct Incident {
    bool stopped;
    uint random;
    float emitting;
} Incident;

typedef enum Fate { GOES_ON, EMITS, ENDS, ESCAPES } Fate;

typedef struct StepResult {
    bool goes_on, emits;
    Packet emitted;
} StepResult;

HR_FUNCTION void enter(Packet* packet, uint layer) {
    packet->layer_and_name = (packet->layer_and_name & ~255u) | layer;
}

HR_FUNCTION Medium medium_of(const TissueView* view, const Packet* packet) {
    __global const Layer* layer = view->layers + layer_of(packet);
    Medium medium;
    medium.top = layer->top;
    medium.thickness = layer->thickness;
    medium.optics = layer->optics[wavelength(packet)];
    return medium;
}

HR_FUNCTION uint4 random_words(const Packet* packet) {
    return philox4x32((uint4)(packet->name, packet->layer_and_name >> 8, packet->origin, packet->step / 2), 0, 0);
}

HR_FUNCTION uint cell_at(float place, float cells_per_cm, uint cells) {
    return min((uint)fmin(place * cells_per_cm, 4294967040.0f), cells - 1);
}
HR_FUNCTION Cell cell_of(const Tissue* tissue, const Packet* packet, float depth) {
    Cell cell = {cell_at(depth, tissue->depths_per_cm, tissue->depths), 0, 0};
    if (tissue->is_xyz == 0) {
        const float radius = sqrt(packet->x * packet->x + packet->y * packet->y);
        cell.x = cell_at(radius, tissue->columns_per_cm, tissue->columns);
    } else {
        cell.y = cell_at(fmax(packet->y - tissue->row_edge, 0.0f), tissue->rows_per_cm, tissue->rows);
        cell.x = cell_at(fmax(packet->x - tissue->column_edge, 0.0f), tissue->columns_per_cm, tissue->columns);
    }
    return cell;
}

HR_FUNCTION void add_to_total(const TissueView* view, const Packet* packet, uint which, int amount) {
    hr_atomic_add_ulong(view->totals + packet->name % FLUORESCENCE_BATCHES * view->tissue.totals + which,
                        (ulong)(long)amount);
}

HR_FUNCTION void settle(const TissueView* view, Packet* packet) {
    const uint which = FLUORESCENCE_ABSORBED + wavelength(packet) * view->tissue.layers + layer_of(packet);
    const int lost = (int)(packet->entered - packet->weight);
    if (lost != 0) add_to_total(view, packet, which, lost);
    packet->entered = packet->weight;
}

// Kernels in OpenCL C keep no sums near.
HR_FUNCTION void absorb(const TissueView* view, const Medium* medium, const Packet* packet, int amount) {
    if (amount == 0) return;
    const Tissue* tissue = &view->tissue;
    const Cell cell = cell_of(tissue, packet, medium->top + packet->z);
    const ulong plane = (ulong)wavelength(packet) * tissue->depths + cell.z;
    hr_atomic_add_ulong(view->absorption + (plane * tissue->rows + cell.y) * tissue->columns + cell.x,
                        (ulong)(long)amount);
}

HR_FUNCTION void escape(const TissueView* view, Packet* packet) {
#ifdef FLUORESCENCE_DETECTING
    detect(view, packet);
#endif
    const Tissue* tissue = &view->tissue;
    const uint which = wavelength(packet) * 2 + (packet->uz > 0 ? 1 : 0);
    add_to_total(view, packet, which, (int)packet->weight);
    const float angle = acos(fmin(fabs(packet->uz), 1.0f));
    const Cell cell = cell_of(tissue, packet, 0);
    const ulong place = ((ulong)which * tissue->rows + cell.y) * tissue->columns + cell.x;
    const uint cone = cell_at(angle, tissue->angles_per_radian, tissue->angles);
    hr_atomic_add_ulong(view->escaped + place * tissue->angles + cone, packet->weight);
    packet->weight = 0;
}

HR_FUNCTION void end_packet(const TissueView* view, const Medium* medium, Packet* packet) {
    absorb(view, medium, packet, (int)packet->weight);
    packet->weight = 0;
    settle(view, packet);
}

HR_FUNCTION Fate meet_boundary(const TissueView* view, Medium* medium, Packet* packet, float random) {
    __global const Layer* layer = view->layers + layer_of(packet);
    const bool down = packet->uz > 0;
    const Side side = layer->sides[down ? 1 : 0];
    const float edge = down ? medium->thickness : 0, way = (edge - packet->z) / packet->uz;
#ifdef FLUORESCENCE_GENERAL
    track(view, packet, medium->top + packet->z, way, (float)packet->weight);
#endif
#ifdef FLUORESCENCE_DETECTING
    packet->stay += way;
#endif
    packet->x += way * packet->ux;
    packet->y += way * packet->uy;
    packet->z = edge;
    const float cosine = fabs(packet->uz);
    float cosine_beyond = cosine;
    if (random < reflectance(&side, cosine, &cosine_beyond)) {
        packet->uz = -packet->uz;
        return cosine <= layer->trapped[wavelength(packet)] ? ENDS : GOES_ON;
    }
    settle(view, packet);
#ifdef FLUORESCENCE_DETECTING
    leave_layer(packet, side.n);
#endif
    packet->uz = copysign(cosine_beyond, packet->uz);
    const uint next = layer_of(packet) + (down ? 1u : ~0u);
    if (next >= view->tissue.layers) return ESCAPES;
    enter(packet, next);
    packet->ux *= side.n_ratio;
    packet->uy *= side.n_ratio;
    *medium = medium_of(view, packet);
    packet->z = down ? 0 : medium->thickness;
    return GOES_ON;
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
    emitted.weight = emitted.entered = weight;
    const uint4 words = random_words(&emitted);
    choose_direction(&emitted, uniform_of(words.x), uniform_of(words.y));
    emitted.step = 2;
    add_to_total(view, &emitted, FLUORESCENCE_EMITTED, (int)weight);
    return emitted;
}

HR_FUNCTION Fate play_roulette(const TissueView* view, const Medium* medium, Packet* packet, float random) {
    if (packet->weight == 0) return ENDS;
    uint times = 1;
    while (times * packet->weight < FLUORESCENCE_ROULETTE_BELOW) times *= FLUORESCENCE_ROULETTE_TIMES;
    if (!(random * (float)times < 1)) return ENDS;
    const uint gain = (times - 1) * packet->weight;
    absorb(view, medium, packet, -(int)gain);
    packet->weight += gain;
    return GOES_ON;
}

HR_FUNCTION uint low_bytes_of(uint a, uint b) { return ((a & 255u) << 8 | (b & 255u)) * 0x10001u; }

HR_FUNCTION void interact(const TissueView* view, const Medium* medium, Packet* packet, uint a, uint b,
                          Incident* incident) {
    const Optics* optics = &medium->optics;
    const float way = -log2((float)a * 0x1.fffffep-33f + 0x1p-33f) * optics->free_path;
    const float depth = packet->z + way * packet->uz;
    const bool interacts = !incident->stopped && as_uint(depth) <= as_uint(medium->thickness);
#ifdef FLUORESCENCE_GENERAL
    if (interacts) track(view, packet, medium->top + packet->z, way, (float)packet->weight);
#endif
#ifdef FLUORESCENCE_DETECTING
    packet->stay += interacts ? way : 0;
#endif
    packet->x = interacts ? packet->x + way * packet->ux : packet->x;
    packet->y = interacts ? packet->y + way * packet->uy : packet->y;
    packet->z = interacts ? depth : packet->z;

    const float turns = (float)low_bytes_of(a, b) * 0x1.fffffep-33f;
    const float weight = (float)packet->weight;
    const uint part = (uint)(weight * optics->part + turns);
    const uint loses = optics->keeps != 0 ? packet->weight - part : part;
    const uint lost = interacts ? loses : 0, both = a * 0x9E3779B1u + b;
    packet->weight -= lost;
    const bool emits = interacts && (float)both < weight * optics->emission;
    incident->random = incident->stopped ? incident->random : both;
    incident->emitting = emits ? weight : incident->emitting;
    incident->stopped = !interacts || emits || packet->weight < FLUORESCENCE_ROULETTE_BELOW;
    absorb(view, medium, packet, (int)lost);
#ifdef FLUORESCENCE_GENERAL
    scatter_by_phase(view->phases, optics, packet, b, turns, interacts);
#else
    scatter(optics, packet, (float)b, turns, interacts);
#endif
}

HR_FUNCTION void follow(const TissueView* view, Packet* packet, StepResult* result) {
    const uint begin = packet->step;
    Medium medium = medium_of(view, packet);
    Fate fate = packet->step < view->tissue.most_steps ? GOES_ON : ENDS;
    Incident incident = {fate != GOES_ON, 0, 0};
#ifdef FLUORESCENCE_GENERAL
    track_beginning(view, packet);
#endif
    for (uint turn = 0; turn < FLUORESCENCE_STEPS_A_CALL / FLUORESCENCE_STEPS_A_TURN && !incident.stopped; ++turn) {
        for (uint block = 0; block < FLUORESCENCE_STEPS_A_TURN / 2; ++block) {
            const uint4 words = random_words(packet);
            interact(view, &medium, packet, words.x, words.y, &incident);
            interact(view, &medium, packet, words.z, words.w, &incident);
            packet->step += 2;
        }
        if (!incident.stopped) continue;
        if (packet->weight < FLUORESCENCE_ROULETTE_BELOW)
            fate = play_roulette(view, &medium, packet, uniform_of(incident.random));
        else if (incident.emitting == 0)
            fate = meet_boundary(view, &medium, packet, uniform_of(incident.random));
        if (incident.emitting != 0 && fate == GOES_ON) fate = EMITS;
        incident.stopped = fate != GOES_ON;
    }
    packet->step = begin + FLUORESCENCE_STEPS_A_CALL;
    if (fate == ESCAPES) {
        escape(view, packet);
    } else if (fate == ENDS) {
        if (begin >= view->tissue.most_steps) add_to_total(view, packet, FLUORESCENCE_CUT_OFF, (int)packet->weight);
        end_packet(view, &medium, packet);
    }
    make_unit_length(packet);
    result->goes_on = packet->weight != 0;
    result->emits = incident.emitting != 0;
    if (result->emits)
        result->emitted = emit(view, packet,
                               max((uint)(incident.emitting * medium.optics.yield + 0.5f), view->tissue.emission_weight));
}

// ---- fluorescence.kernels.hpp

#ifdef HEADRACE_CONSUMER
void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) {
    const TissueView view = {HEADRACE_ARGUMENTS};
    Packet packet = BEGIN_PACKET(index), excitation = packet;
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
    *unit = BEGIN_PACKET(index);
}

void hr_run(HrLane* lane, uint kind, HrUnit packet, HEADRACE_PARAMETERS) {
    const TissueView view = {HEADRACE_ARGUMENTS};
    StepResult result;
    follow(&view, &packet, &result);
    if (result.goes_on) hr_spawn(lane, 0, &packet);
    if (result.emits) hr_spawn(lane, 0, &result.emitted);
}
#endif
