// tests/domains/slot_reductions.cl - kernels of slot_reductions.kernels.hpp in OpenCL C; the name of one of
// them is defined.
typedef struct {
    ulong count, odd;
    int least, greatest;
} Summary;
#ifdef COPY_SUMMARIES
    #define HEADRACE_PARAMETERS __global const Summary *from, __global Summary *to
    #define HEADRACE_ARGUMENTS from, to
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) { to[i] = from[i]; }
#endif

#ifdef SUMMARISE
Summary merged(Summary a, Summary b) {
    const Summary both = {a.count + b.count, a.odd ^ b.odd, min(a.least, b.least), max(a.greatest, b.greatest)};
    return both;
}
HR_DEFINE_SLOT_COMBINE(combine_summary, Summary, merged)

typedef struct {
    uchar red, green, blue;
} Colour;
Colour brightest(Colour a, Colour b) {
    const Colour both = {max(a.red, b.red), max(a.green, b.green), max(a.blue, b.blue)};
    return both;
}
HR_DEFINE_SLOT_COMBINE(combine_colour, Colour, brightest)

    #define HEADRACE_PARAMETERS \
        __global const ulong *words, ulong cells, __global uchar *summaries, ulong summary_slots, ulong summary_bytes, \
            __global uchar *colours, ulong colour_slots, ulong colour_bytes
    #define HEADRACE_ARGUMENTS \
        words, cells, summaries, summary_slots, summary_bytes, colours, colour_slots, colour_bytes
void hr_consume(HrLane* lane, ulong i, HEADRACE_PARAMETERS) {
    const ulong word = words[i];
    const Summary summary = {1, word, (int)(word >> 32), (int)(word >> 32)};
    combine_summary(summaries, summary_slots, summary_bytes, i % cells, summary);
    const Colour colour = {(uchar)word, (uchar)(word >> 8), (uchar)(word >> 16)};
    combine_colour(colours, colour_slots, colour_bytes, i % cells, colour);
}
#endif
