// apps/fluorescence/fluorescence.cl - the kernels of fluorescence.kernels.hpp in OpenCL C. What they compute is in files
// that both languages read; why things are done as they are is said there.
#include "view.cl"

#include "source.h"
#include "transport.h" // needs the view

typedef Packet HrUnit;

HR_FUNCTION Packet begin(const TissueView* view, ulong number) {
#if defined(FLUORESCENCE_DETECTING)
    Packet packet = begin_general_packet(&view->tissue, &view->general.source, number);
    begin_way(&view->general, &packet);
    return packet;
#elif defined(FLUORESCENCE_GENERAL)
    return begin_general_packet(&view->tissue, &view->general.source, number);
#else
    return begin_packet(&view->tissue, number);
#endif
}

#ifdef HEADRACE_CONSUMER
void hr_consume(HrLane* lane, ulong index, HEADRACE_PARAMETERS) {
    const TissueView view = {HEADRACE_ARGUMENTS};
    Packet packet = begin(&view, index), excitation = packet;
    StepResult result;
    bool waits = false;
    for (;;) {
        follow(&view, lane, &packet, &result);
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
    const TissueView view = {HEADRACE_ARGUMENTS};
    *kind = 0;
    *unit = begin(&view, index);
}

void hr_run(HrLane* lane, uint kind, HrUnit packet, HEADRACE_PARAMETERS) {
    const TissueView view = {HEADRACE_ARGUMENTS};
    StepResult result;
    follow(&view, lane, &packet, &result);
    if (result.goes_on) hr_spawn(lane, 0, &packet);
    if (result.emits) hr_spawn(lane, 0, &result.emitted);
}
#endif
