// apps/path_tracer/path_tracer.kernels.hpp - the two kernels, written once for CPU, CUDA and HIP, each for
// every Shading, and one that finds first hits alone. path_tracer.cl has them in OpenCL C. The two
// see the same random numbers, so they make the same picture up to the order of sums.
#pragma once
#include "path.hpp"

namespace path_tracer {

/// Walks wait for memory most of the time: 64 registers and some spilling for twice the lanes made a picture
/// 1.2 times as fast (H200).
constexpr unsigned lanes_that_hide_memory = 1024;

/// Consumer: a work index is one whole path.
template <int shading>
struct AnyTracePath {
    static constexpr unsigned resident_lanes = lanes_that_hide_memory;

    SceneView scene;
    Frame frame;
    headrace::View<const uint32_t> chosen; ///< pixels: see Frame
    headrace::Sum<Rgb> film;

    HEADRACE_KERNEL void operator()(auto& /*lane*/, std::uint64_t index) const {
        PathVertex vertex = begin_path(&frame, chosen, index);
        Rgb sum{0, 0, 0};
        for (;;) {
            const VertexResult result = trace_vertex<shading>(scene, frame, vertex);
            sum = sum + result.radiance;
            if (!result.goes_on) break;
            vertex = result.next;
        }
        if (!is_black(sum)) film.add(vertex.pixel, sum);
    }
};
struct TracePath : AnyTracePath<SHADING_FLAT> {};
struct TracePathWithCorners : AnyTracePath<SHADING_CORNERS> {};
struct TracePathWithFinishes : AnyTracePath<SHADING_FULL> {};
struct TracePathWithAll : AnyTracePath<SHADING_ALL> {};

/// Seeds of the consumer-producer kernel: a work index is one path, which begins at the camera.
struct CameraPaths {
    Frame frame;
    headrace::View<const uint32_t> chosen;

    HEADRACE_KERNEL PathVertex operator()(std::uint64_t index) const {
        return begin_path(&frame, chosen, index);
    }
};

/// Consumer-producer: a work unit is one segment of a path with its shadow rays.
template <int shading>
struct AnyTraceSegment {
    using Units = headrace::Kinds<headrace::Kind<PathVertex, 1>>;
    static constexpr unsigned resident_lanes = lanes_that_hide_memory;

    SceneView scene;
    Frame frame;
    headrace::Sum<Rgb> film;

    HEADRACE_KERNEL void operator()(auto& lane, PathVertex vertex) const {
        const VertexResult result = trace_vertex<shading>(scene, frame, vertex);
        if (!is_black(result.radiance)) film.add(vertex.pixel, result.radiance);
        if (result.goes_on) lane.spawn(result.next);
    }
};
struct TraceSegment : AnyTraceSegment<SHADING_FLAT> {};
struct TraceSegmentWithCorners : AnyTraceSegment<SHADING_CORNERS> {};
struct TraceSegmentWithFinishes : AnyTraceSegment<SHADING_FULL> {};
struct TraceSegmentWithAll : AnyTraceSegment<SHADING_ALL> {};

/// Consumer: what a path from the camera meets first.
struct FindFirstHits {
    SceneView scene;
    Frame frame;
    headrace::Sum<FirstHit> hits;

    HEADRACE_KERNEL void operator()(auto& /*lane*/, std::uint64_t index) const {
        const PathVertex vertex = begin_path(frame, index);
        const FirstHit found = first_hit(HEADRACE_CONSTANT(int, SHADING_ALL), &scene, &frame, &vertex);
        if (found.hits > 0) hits.add(vertex.pixel, found);
    }
};

} // namespace path_tracer
