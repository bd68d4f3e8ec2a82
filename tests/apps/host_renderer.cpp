// tests/apps/host_renderer.cpp - see host_renderer.hpp.
#include "apps/host_renderer.hpp"

#include <cmath>
#include <type_traits>

namespace path_tracer::test {
namespace {

template <class T>
headrace::View<const T> view(const std::vector<T>& elements) {
    return {elements.data(), {{elements.size(), 1, 1}}};
}

/// What the engine would be.
struct Lane {
    std::vector<PathVertex> waiting;
    void spawn(const PathVertex& vertex) { waiting.push_back(vertex); }
};

} // namespace

SceneView view_of(const PreparedScene& scene) {
    return {view(scene.nodes),          view(scene.triangles),
            view(scene.details),        view(scene.materials),
            view(scene.lights),         view(scene.punctual_lights),
            view(scene.corner_shading), view(scene.corner_colours),
            view(scene.corner_places),  view(scene.surface_textures),
            view(scene.textures),       view(scene.texture_levels),
            view(scene.texels),         view(scene.finishes),
            view(scene.albedos),        view(scene.environment),
            view(scene.instances),      scene.host_tree.nodes.empty() ? nullptr : &scene.host_tree};
}

Frame small_frame(const PreparedScene& scene, const CameraPose& pose, uint32_t width, uint32_t height) {
    Frame frame{};
    frame.camera = make_camera(pose, scene.placement, width, height);
    frame.width = width;
    frame.height = height;
    frame.max_depth = 8;
    use_scene(frame, scene);
    frame.seed_low = 1;
    return frame;
}

namespace {

template <class Consumer>
std::vector<Rgb> sum_with_consumer(const PreparedScene& scene, const Frame& frame, uint32_t samples) {
    std::vector<Rgb> film(std::size_t{frame.width} * frame.height);
    const Consumer kernel{view_of(scene), frame, {}, {film.data(), {{film.size(), 1, 1}}}};
    Lane lane;
    for (std::uint64_t i = 0; i < film.size() * samples; ++i) kernel(lane, i);
    return film;
}

template <class Producer>
std::vector<Rgb> sum_with_producer(const PreparedScene& scene, const Frame& frame, uint32_t samples) {
    std::vector<Rgb> film(std::size_t{frame.width} * frame.height);
    const Producer kernel{view_of(scene), frame, {film.data(), {{film.size(), 1, 1}}}};
    const CameraPaths seeds{frame, {}};
    Lane lane;
    for (std::uint64_t i = 0; i < film.size() * samples; ++i) {
        lane.spawn(seeds(i));
        while (!lane.waiting.empty()) {
            const PathVertex vertex = lane.waiting.back();
            lane.waiting.pop_back();
            kernel(lane, vertex);
        }
    }
    return film;
}

} // namespace

namespace {

/// Calls `use` with the frame's shading as a constant.
template <class Use>
auto with_shading(const Frame& frame, const Use& use) {
    switch (static_cast<Shading>(frame.shading)) {
    case SHADING_FLAT:
        return use(std::integral_constant<int, SHADING_FLAT>{});
    case SHADING_CORNERS:
        return use(std::integral_constant<int, SHADING_CORNERS>{});
    case SHADING_FULL:
        return use(std::integral_constant<int, SHADING_FULL>{});
    case SHADING_ALL:
        break;
    }
    return use(std::integral_constant<int, SHADING_ALL>{});
}

} // namespace

VertexResult trace_vertex(const SceneView& scene, const Frame& frame, const PathVertex& vertex) {
    return with_shading(frame, [&](auto shading) {
        return path_tracer::trace_vertex<decltype(shading)::value>(scene, frame, vertex);
    });
}

std::vector<Rgb> sum_with_consumer(const PreparedScene& scene, const Frame& frame, uint32_t samples) {
    return with_shading(frame, [&](auto shading) {
        return sum_with_consumer<AnyTracePath<decltype(shading)::value>>(scene, frame, samples);
    });
}

std::vector<Rgb> sum_with_producer(const PreparedScene& scene, const Frame& frame, uint32_t samples) {
    return with_shading(frame, [&](auto shading) {
        return sum_with_producer<AnyTraceSegment<decltype(shading)::value>>(scene, frame, samples);
    });
}

Estimate estimate(const PreparedScene& scene, const Frame& frame, uint32_t samples) {
    double sum = 0, sum2 = 0;
    const std::uint64_t pixels = std::uint64_t{frame.width} * frame.height;
    for (std::uint64_t i = 0; i < pixels * samples; ++i) {
        PathVertex vertex = begin_path(frame, i);
        double radiance = 0;
        for (bool goes_on = true; goes_on;) {
            const VertexResult result = trace_vertex(view_of(scene), frame, vertex);
            radiance += double{result.radiance.r};
            goes_on = result.goes_on;
            vertex = result.next;
        }
        sum += radiance;
        sum2 += radiance * radiance;
    }
    const double count = static_cast<double>(pixels * samples), mean = sum / count;
    return {mean, std::sqrt(std::max(0.0, sum2 / count - mean * mean) / count)};
}

} // namespace path_tracer::test
