// apps/fluorescence/follow_batch.hpp - transport.h's `follow` for packets in the lanes of a CPU's vectors.
//
// Steps are interact() of transport.h, for all lanes at once. What happens seldom is done packet by packet,
// by the same functions as ever: boundaries, roulette, ends. A packet takes the same way as alone, to the
// last bit.
#pragma once
#include "view.hpp"
#include <headrace/devices/cpu/batch.hpp>

#include "transport.h"

#ifdef HEADRACE_HAS_BATCHES

    #include <bit>

namespace fluorescence {

template <unsigned Width>
using FloatBatch = headrace::Batch<float, Width>;
template <unsigned Width>
using WordBatch = headrace::Batch<uint32_t, Width>;

/// As Packet.
template <unsigned Width>
struct PacketBatch {
    using Columns = headrace::BatchColumns<Packet, Width>;

    FloatBatch<Width> x, y, z, ux, uy, uz;
    WordBatch<Width> weight, name, layer_and_name, origin, step;

    HEADRACE_BATCH_CODE explicit PacketBatch(const Columns& from)
        : name(from.template load<uint32_t>(offsetof(Packet, name))),
          origin(from.template load<uint32_t>(offsetof(Packet, origin))),
          step(from.template load<uint32_t>(offsetof(Packet, step))) {
        reload(from);
    }
    /// What changes in a call.
    HEADRACE_BATCH_CODE void reload(const Columns& from) {
        x = from.template load<float>(offsetof(Packet, x));
        y = from.template load<float>(offsetof(Packet, y));
        z = from.template load<float>(offsetof(Packet, z));
        ux = from.template load<float>(offsetof(Packet, ux));
        uy = from.template load<float>(offsetof(Packet, uy));
        uz = from.template load<float>(offsetof(Packet, uz));
        weight = from.template load<uint32_t>(offsetof(Packet, weight));
        layer_and_name = from.template load<uint32_t>(offsetof(Packet, layer_and_name));
    }
    /// What steps change.
    HEADRACE_BATCH_CODE void store(Columns& to) const {
        to.store(offsetof(Packet, x), x);
        to.store(offsetof(Packet, y), y);
        to.store(offsetof(Packet, z), z);
        to.store(offsetof(Packet, ux), ux);
        to.store(offsetof(Packet, uy), uy);
        to.store(offsetof(Packet, uz), uz);
        to.store(offsetof(Packet, weight), weight);
    }
};

/// What steps use of Optics.
template <unsigned Width>
struct OpticsBatch {
    FloatBatch<Width> free_path, part, emission, root[2], bend[2], forward;
    WordBatch<Width> keeps;
};

/// What steps use of Medium.
template <unsigned Width>
struct MediumBatch {
    using Columns = headrace::BatchColumns<Medium, Width>;

    FloatBatch<Width> top, thickness;
    OpticsBatch<Width> optics;
    WordBatch<Width> near;

    HEADRACE_BATCH_CODE explicit MediumBatch(const Columns& from) {
        const auto number = [&](std::size_t offset) { return from.template load<float>(offset); };
        const auto optical = [&](std::size_t offset) { return number(offsetof(Medium, optics) + offset); };
        top = number(offsetof(Medium, top));
        thickness = number(offsetof(Medium, thickness));
        optics.free_path = optical(offsetof(Optics, free_path));
        optics.part = optical(offsetof(Optics, part));
        optics.emission = optical(offsetof(Optics, emission));
        for (std::size_t i = 0; i < 2; ++i) {
            optics.root[i] = optical(offsetof(Optics, root) + i * sizeof(float));
            optics.bend[i] = optical(offsetof(Optics, bend) + i * sizeof(float));
        }
        optics.forward = optical(offsetof(Optics, forward));
        optics.keeps = from.template load<uint32_t>(offsetof(Medium, optics) + offsetof(Optics, keeps));
        near = from.template load<uint32_t>(offsetof(Medium, near));
    }
};

/// As Incident.
template <unsigned Width>
struct IncidentBatch {
    headrace::BatchMask<Width> stopped;
    WordBatch<Width> random = 0u;
    FloatBatch<Width> emitting = 0.0f;
};

/// Calls f(lane) for each bit that is set.
HEADRACE_BATCH_CODE void for_each_lane(uint32_t bits, auto&& f) {
    for (; bits != 0; bits &= bits - 1) f(static_cast<unsigned>(std::countr_zero(bits)));
}

/// As that of one packet. Lanes add one after the other: two may add to one sum.
template <unsigned Width>
HEADRACE_BATCH_CODE void add_absorbed(const auto* view, auto* lanes, const MediumBatch<Width>* medium,
                                      const PacketBatch<Width>* packet, const CellOf<WordBatch<Width>>& cells,
                                      const WordBatch<Width>& amounts) {
    using View = std::remove_cvref_t<decltype(*view)>;
    alignas(64) uint32_t z[Width], y[Width], x[Width], nears[Width], origins[Width], amount[Width];
    cells.z.store(z);
    cells.y.store(y);
    cells.x.store(x);
    medium->near.store(nears);
    packet->origin.store(origins);
    amounts.store(amount);
    for (unsigned lane = 0; lane < Width; ++lane) { // also nothing: a branch would take longer
        const Cell cell = {z[lane], y[lane], x[lane]};
        lanes->add(View::Grid::near(view->tissue, cell, nears[lane]), amount[lane], [&]() -> uint64_t& {
            return view->absorption(origins[lane] != 0 ? 1 : 0, cell.z, cell.y, cell.x);
        });
    }
}

/// As `follow` of `count` packets, at most `Width`. finish(lane, packet, result) comes at the end of each.
template <unsigned Width>
HEADRACE_BATCH_CODE void follow_batch(const auto* view, auto* lanes, const Packet* packets, uint32_t count,
                                      auto&& finish) {
    constexpr uint32_t all = (1u << Width) - 1;
    typename PacketBatch<Width>::Columns columns;
    typename MediumBatch<Width>::Columns media;
    Fate fates[Width];
    uint32_t over = 0; // lanes that go on in another call, or not at all
    for (unsigned lane = 0; lane < Width; ++lane) {
        const Packet& packet = packets[lane < count ? lane : 0];
        columns.put(lane, packet);
        media.put(lane, medium_of(view, &packet));
        fates[lane] = fate_at_first(view, &packet);
        if (lane >= count || fates[lane] != FATE_GOES_ON) over |= 1u << lane;
    }
    PacketBatch<Width> packet(columns);
    MediumBatch<Width> medium(media);
    IncidentBatch<Width> incident;
    incident.stopped = headrace::BatchMask<Width>::of_bits(over);
    const WordBatch<Width> begin = packet.step;
    auto words = random_words(&packet);
    for (uint32_t turn = 0; turn < FLUORESCENCE_STEPS_A_CALL / FLUORESCENCE_STEPS_A_TURN && over != all;
         ++turn) {
        for (uint32_t block = 0; block < FLUORESCENCE_STEPS_A_TURN / 2; ++block) {
            if (!(!incident.stopped).any()) {
                packet.step = begin + (turn + 1) * FLUORESCENCE_STEPS_A_TURN;
                words = random_words(&packet);
                break;
            }
            const auto now = words;
            packet.step += 2u;
            words = random_words(&packet); // of the next block: they depend on nothing that this one computes
            interact(view, lanes, &medium, &packet, now.a, now.b, &incident);
            interact(view, lanes, &medium, &packet, now.c, now.d, &incident);
        }
        const uint32_t met = incident.stopped.bits() & ~over;
        if (met == 0) continue;
        alignas(64) uint32_t randoms[Width];
        alignas(64) float emitting[Width];
        incident.random.store(randoms);
        incident.emitting.store(emitting);
        packet.store(columns);
        bool new_layers = false;
        for_each_lane(met, [&](unsigned lane) {
            Packet one = columns.get(lane);
            Medium its_medium = medium_of(view, &one);
            const uint32_t layer = layer_of(&one);
            Incident its_incident = {true, randoms[lane], emitting[lane]};
            fates[lane] = meet_incident(view, lanes + lane, &its_medium, &one, &its_incident);
            columns.put(lane, one);
            if (layer_of(&one) != layer) {
                media.put(lane, its_medium);
                new_layers = true;
            }
            if (its_incident.stopped) over |= 1u << lane;
        });
        packet.reload(columns);
        if (new_layers) medium = MediumBatch<Width>(media);
        incident.stopped = headrace::BatchMask<Width>::of_bits(over);
    }
    packet.store(columns);
    alignas(64) float emitting[Width];
    incident.emitting.store(emitting);
    for (unsigned lane = 0; lane < count; ++lane) {
        Packet one = columns.get(lane);
        const Medium its_medium = medium_of(view, &one);
        one.step = begin[lane] + FLUORESCENCE_STEPS_A_CALL;
        StepResult<Packet> result{};
        end_call(view, lanes + lane, &its_medium, &one, begin[lane], fates[lane], emitting[lane], &result);
        finish(lane, one, result);
    }
}

} // namespace fluorescence

#endif
