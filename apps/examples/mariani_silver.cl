// apps/examples/mariani_silver.cl - mariani_silver.kernels.hpp in OpenCL C.
#define HEADRACE_PARAMETERS __global uint *steps, uint width
#define HEADRACE_ARGUMENTS steps, width

#define FRACTION 28
#define ONE (1l << FRACTION)

typedef struct {
    uint x, y, side;
} HrUnit;

static uint steps_at(uint x, uint y, uint width) {
    const long c_re = 3 * ONE * x / width - 2 * ONE, c_im = 3 * ONE * y / width - 3 * ONE / 2;
    long re = 0, im = 0;
    for (uint step = 0; step < 1000; ++step) {
        const long re2 = re * re >> FRACTION, im2 = im * im >> FRACTION;
        if (re2 + im2 > 4 * ONE) return step;
        im = (re * im >> (FRACTION - 1)) + c_im;
        re = re2 - im2 + c_re;
    }
    return 1000;
}

void hr_seed(ulong index, uint* kind, HrUnit* square, HEADRACE_PARAMETERS) {
    const uint in_row = width / 64;
    *kind = 0;
    square->x = (uint)index % in_row * 64;
    square->y = (uint)index / in_row * 64;
    square->side = 64;
}

void hr_run(HrLane* lane, uint kind, HrUnit at, HEADRACE_PARAMETERS) {
    const uint first = steps_at(at.x, at.y, width), end = at.side - 1, side = at.side / 2;
    bool is_plain = true;
    for (uint i = 0; i <= end && is_plain; ++i)
        is_plain = steps_at(at.x + i, at.y, width) == first && steps_at(at.x + i, at.y + end, width) == first &&
                   steps_at(at.x, at.y + i, width) == first && steps_at(at.x + end, at.y + i, width) == first;
    if (!is_plain && at.side > 4) {
        for (uint i = 0; i < 4; ++i) {
            const HrUnit quarter = {at.x + i % 2 * side, at.y + i / 2 * side, side};
            hr_spawn(lane, 0, &quarter);
        }
    } else {
        for (uint y = at.y; y <= at.y + end; ++y)
            for (uint x = at.x; x <= at.x + end; ++x)
                steps[(ulong)y * width + x] = is_plain ? first : steps_at(x, y, width);
    }
}
