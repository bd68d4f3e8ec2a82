// apps/examples/primes.cl - primes.kernels.hpp in OpenCL C.
#define HEADRACE_PARAMETERS __global ulong *primes
#define HEADRACE_ARGUMENTS primes

typedef struct {
    uint n;
} HrUnit;

void hr_seed(ulong i, uint* kind, HrUnit* number, HEADRACE_PARAMETERS) {
    *kind = 0;
    number->n = (uint)(2 * i + 3);
}

static bool passes(ulong n, ulong witness) {
    ulong power = 1;
    for (int bit = 31; bit >= 0; --bit) {
        const ulong root = power;
        power = root * root % n;
        if (power == 1 && root != 1 && root != n - 1) return false;
        if (((n - 1) >> bit & 1) != 0) power = power * witness % n;
    }
    return power == 1;
}

void hr_run(HrLane* lane, uint kind, HrUnit number, HEADRACE_PARAMETERS) {
    const uint n = number.n;
    for (uint divisor = 3; divisor <= 61 && divisor * divisor <= n; divisor += 2)
        if (n % divisor == 0) return;
    if (n < 63 * 63 || (passes(n, 2) && passes(n, 7) && passes(n, 61))) hr_atomic_add_ulong(primes, 1);
}
