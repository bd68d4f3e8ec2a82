// apps/fluorescence/view.cl - view.hpp in OpenCL C: what kernels are given. layout.h comes before this text.
// FLUORESCENCE_GENERAL: a general kernel.

#ifdef FLUORESCENCE_GENERAL
    #define BEGIN_PACKET(index) begin_general_packet(&tissue, &general.source, index)
    #define GENERAL_PARAMETERS , General general, __global const PhaseNode *phases, __global ulong *fluence
    #define GENERAL_ARGUMENTS , general, phases, fluence
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
} TissueView;


HR_FUNCTION uint wavelength(const Packet* packet) { return packet->origin != 0 ? 1 : 0; }
