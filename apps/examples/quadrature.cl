// apps/examples/quadrature.cl - quadrature.kernels.hpp in OpenCL C.
#define HEADRACE_PARAMETERS __global double *integral, double tolerance, double count
#define HEADRACE_ARGUMENTS integral, tolerance, count

typedef struct {
    double a, b;
} HrUnit;

static double peak(double x) { return 1 / ((x - 0.3) * (x - 0.3) + 1e-6); }
static double simpson(double a, double b) { return (b - a) / 6 * (peak(a) + 4 * peak((a + b) / 2) + peak(b)); }

void hr_seed(ulong i, uint* kind, HrUnit* part, HEADRACE_PARAMETERS) {
    *kind = 0;
    part->a = (double)i / count;
    part->b = (double)(i + 1) / count;
}

void hr_run(HrLane* lane, uint kind, HrUnit x, HEADRACE_PARAMETERS) {
    const double middle = (x.a + x.b) / 2;
    const double halves = simpson(x.a, middle) + simpson(middle, x.b);
    if (fabs(halves - simpson(x.a, x.b)) <= tolerance * (x.b - x.a)) {
        hr_atomic_add_double(integral, halves);
    } else {
        const HrUnit left = {x.a, middle}, right = {middle, x.b};
        hr_spawn(lane, 0, &left);
        hr_spawn(lane, 0, &right);
    }
}
