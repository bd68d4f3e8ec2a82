// apps/path_tracer/host_walk.cpp - see host_walk.hpp.
//
// The walk is compiled once for each set of instructions. Results do not depend on it: boxes and triangles
// are compared with bounds alone, and what floats cannot tell waits, as in intersect.h.
//
// A plane of a box is met at byte x step + from. The step is a power of two times the slope, and `from` is
// (origin of the node - origin of the ray) x slope. Rounding moves the plane by 6 x 2^-24 for the origin of
// the ray, and by 8 x 2^-24 each for the difference, its product, the product of byte and step, and the sum:
// 38 x 2^-24, where coordinates are at most 1. That is less than PATH_TRACER_BOX_MARGIN, by which boxes are
// wider.
#include "host_walk.hpp"
#include "path.hpp"
#include "wide_tree.hpp"
#include <headrace/devices/cpu/instructions.hpp>

#include <array>
#include <bit>

#if defined(__x86_64__) && defined(__GNUC__)
    #include <immintrin.h>
    #define PATH_TRACER_X86 1
#else
    #define PATH_TRACER_X86 0
#endif

namespace path_tracer {
namespace {

/// A node that is still to be visited, and where the ray enters it.
struct Ahead {
    float distance;
    uint32_t node;
};

/// Which bytes of a node are near, and which far, along one axis.
struct Planes {
    std::size_t near, far;
};
Planes planes_along(float inverse, std::size_t low, std::size_t high) {
    return inverse < 0 ? Planes{high, low} : Planes{low, high};
}

struct WalkingRay {
    explicit WalkingRay(const Sight& along)
        : sight(along),
          inverse(inverse_slopes(along.ray.direction)),
          x(planes_along(inverse.x, offsetof(WideNode, low_x), offsetof(WideNode, high_x))),
          y(planes_along(inverse.y, offsetof(WideNode, low_y), offsetof(WideNode, high_y))),
          z(planes_along(inverse.z, offsetof(WideNode, low_z), offsetof(WideNode, high_z))) {}

    const Sight& sight;
    Float3 inverse;
    Planes x, y, z;
};

/// Both cache lines that a node may be in.
template <class T>
[[gnu::always_inline]] inline void fetch_ahead(const T* from) {
    __builtin_prefetch(from);
    __builtin_prefetch(reinterpret_cast<const char*>(from) + sizeof(T) - 1);
}

/// A node's step along an axis.
float step_of(const WideNode& node, unsigned axis) {
    return as_float((node.steps >> (8 * axis) & 255u) << 23);
}

/// Corners of a pair as a ray sees them: see SeenTriangle. Edges: ab, bc, cd, da.
struct SeenPair {
    alignas(16) float edges[4], depths[4];
    float ca, reach;
};

// ---- for any processor -----------------------------------------------------------------------------

namespace baseline {

/// The slots whose boxes the ray enters, and where.
uint32_t entered(const WideNode& node, const WalkingRay& ray, float farthest, float (&enters)[wide_slots]) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&node);
    const Float3 origin = ray.sight.ray.origin;
    const float step[3] = {step_of(node, 0) * ray.inverse.x, step_of(node, 1) * ray.inverse.y,
                           step_of(node, 2) * ray.inverse.z};
    const float from[3] = {(node.origin.x - origin.x) * ray.inverse.x,
                           (node.origin.y - origin.y) * ray.inverse.y,
                           (node.origin.z - origin.z) * ray.inverse.z};
    uint32_t slots = 0;
    for (unsigned slot = 0; slot < wide_slots; ++slot) {
        const auto at = [&](std::size_t planes, unsigned axis) {
            return static_cast<float>(bytes[planes + slot]) * step[axis] + from[axis];
        };
        enters[slot] = larger(larger(at(ray.x.near, 0), at(ray.y.near, 1)), larger(at(ray.z.near, 2), 0.0f));
        const float leaves =
            smaller(smaller(at(ray.x.far, 0), at(ray.y.far, 1)), smaller(at(ray.z.far, 2), farthest));
        slots |= enters[slot] <= leaves * PATH_TRACER_BOX_SLACK ? 1u << slot : 0u;
    }
    return slots;
}

SeenPair look_at(const TrianglePair& pair, const Sight& sight) {
    const Float3 corners[4] = {pair.a, pair.b, pair.c, pair.d};
    float x[4], y[4];
    SeenPair seen;
    seen.reach = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const Float3 from = sub(corners[i], sight.ray.origin);
        x[i] = dot_of(from, sight.across);
        y[i] = dot_of(from, sight.up);
        seen.depths[i] = dot_of(from, sight.ray.direction);
        seen.reach += fabs(x[i]) + fabs(y[i]);
    }
    for (unsigned i = 0; i < 4; ++i) seen.edges[i] = x[i] * y[(i + 1) % 4] - x[(i + 1) % 4] * y[i];
    seen.ca = x[2] * y[0] - x[0] * y[2];
    return seen;
}

#define PATH_TRACER_TARGET

#include "host_walk_body.hpp"

#undef PATH_TRACER_TARGET

} // namespace baseline

// ---- for processors with AVX2: compiled for AVX-512, the same took longer (0.85 of the rays a second) ---

#if PATH_TRACER_X86

namespace avx2 {

    #define PATH_TRACER_TARGET [[gnu::target("avx2,fma,popcnt,bmi")]]

PATH_TRACER_TARGET [[gnu::always_inline]] inline __m256 plane(const WideNode& node, std::size_t planes,
                                                              __m256 step, __m256 from) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&node) + planes;
    const __m256i wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(wide), step, from);
}
PATH_TRACER_TARGET [[gnu::always_inline]] inline uint32_t
entered(const WideNode& node, const WalkingRay& ray, float farthest, float (&enters)[wide_slots]) {
    const Float3 origin = ray.sight.ray.origin;
    const __m256 step_x = _mm256_set1_ps(step_of(node, 0) * ray.inverse.x),
                 step_y = _mm256_set1_ps(step_of(node, 1) * ray.inverse.y),
                 step_z = _mm256_set1_ps(step_of(node, 2) * ray.inverse.z);
    const __m256 from_x = _mm256_set1_ps((node.origin.x - origin.x) * ray.inverse.x),
                 from_y = _mm256_set1_ps((node.origin.y - origin.y) * ray.inverse.y),
                 from_z = _mm256_set1_ps((node.origin.z - origin.z) * ray.inverse.z);
    const __m256 in = _mm256_max_ps(
        _mm256_max_ps(plane(node, ray.x.near, step_x, from_x), plane(node, ray.y.near, step_y, from_y)),
        _mm256_max_ps(plane(node, ray.z.near, step_z, from_z), _mm256_setzero_ps()));
    const __m256 out = _mm256_min_ps(
        _mm256_min_ps(plane(node, ray.x.far, step_x, from_x), plane(node, ray.y.far, step_y, from_y)),
        _mm256_min_ps(plane(node, ray.z.far, step_z, from_z), _mm256_set1_ps(farthest)));
    _mm256_store_ps(enters, in);
    const __m256 is_met =
        _mm256_cmp_ps(in, _mm256_mul_ps(out, _mm256_set1_ps(PATH_TRACER_BOX_SLACK)), _CMP_LE_OQ);
    return static_cast<uint32_t>(_mm256_movemask_ps(is_met));
}

PATH_TRACER_TARGET [[gnu::always_inline]] inline __m128 along(__m128 x, __m128 y, __m128 z, Float3 axis) {
    return _mm_fmadd_ps(x, _mm_set1_ps(axis.x),
                        _mm_fmadd_ps(y, _mm_set1_ps(axis.y), _mm_mul_ps(z, _mm_set1_ps(axis.z))));
}
/// Four corners at once.
PATH_TRACER_TARGET [[gnu::always_inline]] inline SeenPair look_at(const TrianglePair& pair,
                                                                  const Sight& sight) {
    __m128 x = _mm_load_ps(&pair.a.x), y = _mm_load_ps(&pair.b.x), z = _mm_load_ps(&pair.c.x),
           rest = _mm_load_ps(&pair.d.x);
    _MM_TRANSPOSE4_PS(x, y, z, rest);
    x = _mm_sub_ps(x, _mm_set1_ps(sight.ray.origin.x));
    y = _mm_sub_ps(y, _mm_set1_ps(sight.ray.origin.y));
    z = _mm_sub_ps(z, _mm_set1_ps(sight.ray.origin.z));
    const __m128 across = along(x, y, z, sight.across), up = along(x, y, z, sight.up);
    SeenPair seen;
    _mm_store_ps(seen.depths, along(x, y, z, sight.ray.direction));
    const __m128 next_across = _mm_shuffle_ps(across, across, _MM_SHUFFLE(0, 3, 2, 1)),
                 next_up = _mm_shuffle_ps(up, up, _MM_SHUFFLE(0, 3, 2, 1));
    _mm_store_ps(seen.edges, _mm_fmsub_ps(across, next_up, _mm_mul_ps(next_across, up)));
    const __m128 c_across = _mm_movehl_ps(across, across), c_up = _mm_movehl_ps(up, up);
    seen.ca = _mm_cvtss_f32(_mm_fmsub_ss(c_across, up, _mm_mul_ss(across, c_up)));
    const __m128 no_sign = _mm_castsi128_ps(_mm_set1_epi32(0x7fffffff));
    __m128 reach = _mm_add_ps(_mm_and_ps(across, no_sign), _mm_and_ps(up, no_sign));
    reach = _mm_add_ps(reach, _mm_movehl_ps(reach, reach));
    seen.reach = _mm_cvtss_f32(_mm_add_ss(reach, _mm_shuffle_ps(reach, reach, 1)));
    return seen;
}

    #include "host_walk_body.hpp"

    #undef PATH_TRACER_TARGET

} // namespace avx2

#endif

} // namespace

bool has_fast_walk() { return headrace::instructions_in_use() >= headrace::Instructions::avx2; }

Hit walk_wide_tree(bool any_hit, const SceneView& scene, const Sight& sight, float limit, Waiting& waiting) {
#if PATH_TRACER_X86
    if (has_fast_walk()) return avx2::walk(any_hit, scene, sight, limit, waiting);
#endif
    return baseline::walk(any_hit, scene, sight, limit, waiting);
}

} // namespace path_tracer
