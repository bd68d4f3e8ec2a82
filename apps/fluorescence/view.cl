// apps/fluorescence/view.cl - view.hpp in OpenCL C: what kernels are given. layout.h comes before this text.
// FLUORESCENCE_GENERAL: a general kernel; FLUORESCENCE_DETECTING: a detecting one, which is general too.

#ifdef FLUORESCENCE_DETECTING
    #define DETECTING_PARAMETERS                                                                                       \
        , __global const Detector *detectors, __global ulong *detected, __global ulong *gated
    #define DETECTING_ARGUMENTS , detectors, detected, gated
#else
    #define DETECTING_PARAMETERS
    #define DETECTING_ARGUMENTS
#endif
#ifdef FLUORESCENCE_GENERAL
    #ifdef FLUORESCENCE_DETECTING
        #define BEGIN_PACKET(index) begin_tracked_packet(&tissue, &general, index)
    #else
        #define BEGIN_PACKET(index) begin_general_packet(&tissue, &general.source, index)
    #endif
    #define GENERAL_PARAMETERS                                                                                         \
        , General general, __global const PhaseNode *phases, __global ulong *fluence DETECTING_PARAMETERS
    #define GENERAL_ARGUMENTS , general, phases, fluence DETECTING_ARGUMENTS
#else
    #define BEGIN_PACKET(index) begin_packet(&tissue, index)
    #define GENERAL_PARAMETERS
    #define GENERAL_ARGUMENTS
#endif
#define HEADRACE_PARAMETERS                                                                                            \
    __global const Layer *layers, __global ulong *totals, __global ulong *absorption, __global ulong *escaped,        \
        Tissue tissue GENERAL_PARAMETERS
#define HEADRACE_ARGUMENTS layers, totals, absorption, escaped, tissue GENERAL_ARGUMENTS

typedef struct Cell {
    uint z, y, x;
} Cell;

typedef struct TissueView {
    __global const Layer* layers;
    __global ulong *totals, *absorption, *escaped;
    Tissue tissue;
#ifdef FLUORESCENCE_GENERAL
    General general;
    __global const PhaseNode* phases;
    __global ulong* fluence;
#endif
#ifdef FLUORESCENCE_DETECTING
    __global const Detector* detectors;
    __global ulong *detected, *gated;
#endif
} TissueView;

HR_FUNCTION uint layer_of(const Packet* packet) { return packet->layer_and_name & 255u; }

HR_FUNCTION uint wavelength(const Packet* packet) { return packet->origin != 0 ? 1 : 0; }
