// tests/domains/grids/wrong_roles/wrong_roles.cpp - mistakes that the compiler must find, one for each value
// of WRONG; 0 is none. CMakeLists.txt says what each is told.
#include <headrace/domains/grids/launch.hpp>

using namespace headrace;

struct Blend {
    In<float> from;
    Write<float> to;
    float weight;
    HEADRACE_KERNEL void operator()(Index<2> at) const {
#if WRONG == 1
        from[at] = 1;
#elif WRONG == 2
        to[at] = weight * to[at];
#else
        to[at] = weight * from[at];
#endif
    }
};

Event use(Controller& gpu, Array<float>& a, Array<float>& b, [[maybe_unused]] const Array<float>& fixed,
          [[maybe_unused]] Array<double>& doubles) {
    constexpr auto all = grid(10, 10);
#if WRONG == 3
    return launch<Blend>(gpu, all, a, fixed, 0.5f);
#elif WRONG == 4
    return launch<Blend>(gpu, all, doubles, b, 0.5f);
#elif WRONG == 5
    return launch<Blend>(gpu, all, a, b);
#elif WRONG == 6
    return launch<Blend>(gpu, grid(100), a, b, 0.5f);
#elif WRONG == 7
    return host_task(
        gpu, [](In<float>, Write<float>) {}, a, fixed);
#elif WRONG == 8
    return host_task(
        gpu, [](In<float> x) { x(0) = 1; }, a);
#else
    launch<Blend>(gpu, all, a, b, 0.5f);
    return host_task(
        gpu, [](In<float>, Write<float>) {}, fixed, b);
#endif
}
