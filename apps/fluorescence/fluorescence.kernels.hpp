// apps/fluorescence/fluorescence.kernels.hpp - the two kernels, written once for CPU, CUDA and HIP.
// fluorescence.cl has them in OpenCL C. Both take the same steps with the same random numbers. A view says
// which tissue they are for: plain, general or detecting (view.hpp).
#pragma once
#include "source.h"
#include "view.hpp"

#include "follow_batch.hpp"
#include "transport.h" // needs the view

namespace fluorescence {

HEADRACE_HOST_DEVICE inline TrackedPacket begin_tracked_packet(const Tissue& tissue, const General& general,
                                                               uint64_t number) {
    TrackedPacket packet;
    static_cast<Packet&>(packet) = begin_general_packet(&tissue, &general.source, number);
    begin_way(&general, &packet);
    return packet;
}

HEADRACE_HOST_DEVICE inline Packet begin(const TissueView& view, uint64_t number) {
    return begin_packet(&view.tissue, number);
}
HEADRACE_HOST_DEVICE inline Packet begin(const GeneralView& view, uint64_t number) {
    return begin_general_packet(&view.tissue, &view.general.source, number);
}
HEADRACE_HOST_DEVICE inline TrackedPacket begin(const DetectingView& view, uint64_t number) {
    return begin_tracked_packet(view.tissue, view.general, number);
}

/// Consumer: a work index is a packet with the fluorescent ones that it emits. Each of those is followed at
/// once, since it emits no other.
template <class Grid, class View = TissueView>
struct TracePacket {
    static constexpr unsigned resident_lanes = 896;

    On<Grid, View> view;
    HEADRACE_KERNEL std::uint32_t local_sums() const { return view.local_sums(); }
    HEADRACE_KERNEL std::uint64_t& sum_of(std::uint32_t number) const { return view.sum_of(number); }

    HEADRACE_KERNEL void operator()(auto& lane, std::uint64_t index) const {
        typename View::Unit packet = begin(view, index), excitation{};
        StepResult<typename View::Unit> result;
        bool waits = false; // the excitation packet, for the fluorescent one
        for (;;) {
            follow(&view, &lane, &packet, &result);
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
};

/// Seeds of the consumer-producer kernel: a work index is a packet above the tissue.
struct IncidentPackets {
    Tissue tissue;

    HEADRACE_KERNEL Packet operator()(std::uint64_t index) const { return begin_packet(&tissue, index); }
};

/// The same of general kernels: it begins where the source says.
struct GeneralPackets {
    Tissue tissue;
    Source source;

    HEADRACE_KERNEL Packet operator()(std::uint64_t index) const {
        return begin_general_packet(&tissue, &source, index);
    }
};

/// And of detecting ones: with the way behind it.
struct TrackedPackets {
    Tissue tissue;
    General general;

    HEADRACE_KERNEL TrackedPacket operator()(std::uint64_t index) const {
        return begin_tracked_packet(tissue, general, index);
    }
};

/// Consumer-producer: a work unit is a few steps, after which there are none, one or two packets.
template <class Grid, class View = TissueView>
struct TraceSteps {
    using Units = headrace::Kinds<headrace::Kind<typename View::Unit, 2>>;
    static constexpr unsigned refill_percent = 100; // a call is long beside a refill
    static constexpr unsigned resident_lanes = 896;

    On<Grid, View> view;
    HEADRACE_KERNEL std::uint32_t local_sums() const { return view.local_sums(); }
    HEADRACE_KERNEL std::uint64_t& sum_of(std::uint32_t number) const { return view.sum_of(number); }

    HEADRACE_KERNEL void operator()(auto& lane, typename View::Unit packet) const {
        StepResult<typename View::Unit> result{}; // with no zeros, compilers spill more registers
        follow(&view, &lane, &packet, &result);
        spawn(lane, packet, result);
    }

#ifdef HEADRACE_HAS_BATCHES
    /// The same of several packets, in vectors. General kernels follow the ways of packets one by one.
    template <std::uint32_t Width>
    requires(!View::is_general) HEADRACE_BATCH_CODE
        void batch(headrace::Constant<Width>, auto* lanes, const Packet* packets, std::uint32_t count) const {
        follow_batch<Width>(&view, lanes, packets, count,
                            [&](unsigned lane, const Packet& packet, const auto& result) {
                                spawn(lanes[lane], packet, result);
                            });
    }
#endif

private:
    static HEADRACE_KERNEL void spawn(auto& lane, const typename View::Unit& packet,
                                      const StepResult<typename View::Unit>& result) {
        if (result.goes_on) lane.spawn(packet);
        if (result.emits) lane.spawn(result.emitted);
    }
};

using TracePacketRz = TracePacket<Rz>;
using TracePacketXyz = TracePacket<Xyz>;
using TraceStepsRz = TraceSteps<Rz>;
using TraceStepsXyz = TraceSteps<Xyz>;

using TraceGeneralPacketRz = TracePacket<Rz, GeneralView>;
using TraceGeneralPacketXyz = TracePacket<Xyz, GeneralView>;
using TraceGeneralStepsRz = TraceSteps<Rz, GeneralView>;
using TraceGeneralStepsXyz = TraceSteps<Xyz, GeneralView>;

using DetectPacketRz = TracePacket<Rz, DetectingView>;
using DetectPacketXyz = TracePacket<Xyz, DetectingView>;
using DetectStepsRz = TraceSteps<Rz, DetectingView>;
using DetectStepsXyz = TraceSteps<Xyz, DetectingView>;

} // namespace fluorescence
