// apps/fluorescence/view.cl - view.hpp in OpenCL C: what kernels are given, and what transport.h asks of it.
// FLUORESCENCE_GENERAL: a general kernel; FLUORESCENCE_DETECTING: a detecting one, which is general too.
#include "grid.h"
#include "layout.h"

#ifdef FLUORESCENCE_DETECTING
    #define DETECTING_PARAMETERS                                                                                       \
        , __global const Detector *detectors, __global ulong *detected, __global ulong *gated
    #define DETECTING_ARGUMENTS , detectors, detected, gated
    #define FLUORESCENCE_DETECTS(view) true
#else
    #define DETECTING_PARAMETERS
    #define DETECTING_ARGUMENTS
    #define FLUORESCENCE_DETECTS(view) false
#endif
#ifdef FLUORESCENCE_GENERAL
    #define FLUORESCENCE_IS_GENERAL(view) true
    #define GENERAL_PARAMETERS                                                                                         \
        , General general, __global const PhaseNode *phases, __global ulong *fluence DETECTING_PARAMETERS
    #define GENERAL_ARGUMENTS , general, phases, fluence DETECTING_ARGUMENTS
#else
    #define FLUORESCENCE_IS_GENERAL(view) false
    #define GENERAL_PARAMETERS
    #define GENERAL_ARGUMENTS
#endif
#define HEADRACE_PARAMETERS                                                                                            \
    __global const Layer *layers, __global ulong *totals, __global ulong *absorption, __global ulong *escaped,        \
        Tissue tissue GENERAL_PARAMETERS
#define HEADRACE_ARGUMENTS layers, totals, absorption, escaped, tissue GENERAL_ARGUMENTS

#define FLUORESCENCE_IS_XYZ(view) ((view)->tissue.is_xyz != 0)
#define FLUORESCENCE_TESTS_FOR_NOTHING true

// HEADRACE_ARGUMENTS, and nothing for what the kernel is not given.
typedef struct TissueView {
    __global const Layer* layers;
    __global ulong *totals, *absorption, *escaped;
    Tissue tissue;
    General general;
    __global const PhaseNode* phases;
    __global ulong* fluence;
    __global const Detector* detectors;
    __global ulong *detected, *gated;
} TissueView;

typedef struct Medium {
    float top, thickness;
    Optics optics;
    uint near;
} Medium;

typedef struct StepResult {
    bool goes_on, emits;
    Packet emitted;
} StepResult;

// Kernels in OpenCL C keep no sums near.
HR_FUNCTION void add_to_total(const TissueView* view, HrLane* lane, const Packet* packet, uint which, int amount) {
    hr_atomic_add_ulong(view->totals + packet->name % FLUORESCENCE_BATCHES * view->tissue.totals + which,
                        (ulong)(long)amount);
}
HR_FUNCTION void add_absorbed(const TissueView* view, HrLane* lane, const Medium* medium, const Packet* packet,
                              Cell cell, long amount) {
    const Tissue* tissue = &view->tissue;
    const ulong plane = (ulong)wavelength(packet) * tissue->depths + cell.z;
    hr_atomic_add_ulong(view->absorption + (plane * tissue->rows + cell.y) * tissue->columns + cell.x, (ulong)amount);
}
HR_FUNCTION void add_escaped(const TissueView* view, ulong place, uint weight) {
    hr_atomic_add_ulong(view->escaped + place, weight);
}
HR_FUNCTION void add_to_fluence(const TissueView* view, ulong place, ulong amount) {
    hr_atomic_add_ulong(view->fluence + place, amount);
}
HR_FUNCTION void add_detected(const TissueView* view, ulong place, ulong amount) {
    hr_atomic_add_ulong(view->detected + place, amount);
}
HR_FUNCTION void add_to_gate(const TissueView* view, ulong place, uint weight) {
    hr_atomic_add_ulong(view->gated + place, weight);
}
