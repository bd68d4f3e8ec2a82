// apps/python/render.cpp - headrace-path-tracer's pictures for Python.
#include "path_tracer/render.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "path_tracer/environment_map.hpp"
#include "path_tracer/growing_picture.hpp"
#include "path_tracer/host_walk.hpp"
#include "path_tracer/options.hpp"
#include "path_tracer/report.hpp"
#include "session.hpp"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace headrace::python {
namespace {

using namespace path_tracer;

/// A scene that was read, and what kernels need of it, on the devices of each session that shows it.
///
/// Threads   any
class LoadedScene {
public:
    LoadedScene(const std::filesystem::path& file, float albedo,
                const std::optional<std::filesystem::path>& environment, const FileRules& rules)
        : scene_(load_scene(file, albedo, rules)) {
        std::optional<TextureImage> far_away;
        if (environment) far_away = load_environment(*environment, rules);
        prepared_ =
            prepare_scene(scene_, Scattering::multiple, far_away ? &*far_away : nullptr, HostTree::none);
    }

    [[nodiscard]] const Scene& scene() const { return scene_; }
    [[nodiscard]] const PreparedScene& prepared() const { return prepared_; }

    [[nodiscard]] SceneDomains domains(const std::shared_ptr<Session>& session) {
        const auto devices = session->runtime().devices();
        const std::lock_guard lock(mutex_);
        std::erase_if(shown_by_, [](const Shown& shown) { return shown.session.expired(); });
        auto found = std::ranges::find_if(
            shown_by_, [&](const Shown& shown) { return shown.session.lock() == session; });
        if (found == shown_by_.end()) {
            if (has_fast_walk() && std::ranges::any_of(devices, [](const DeviceInfo* device) {
                    return device->technology == "cpu";
                }))
                give_host_tree();
            found = shown_by_.insert(shown_by_.end(), {session, SceneDomains(prepared_)});
            if (!prepared_.host_tree.nodes.empty()) found->domains.host_tree = &prepared_.host_tree;
        }
        return found->domains;
    }

private:
    void give_host_tree() {
        if (!std::exchange(has_host_tree_, true)) add_host_tree(prepared_);
    }

    const Scene scene_;
    PreparedScene prepared_;
    struct Shown {
        std::weak_ptr<Session> session;
        SceneDomains domains;
    };
    std::mutex mutex_; ///< of the following
    std::vector<Shown> shown_by_;
    bool has_host_tree_ = false;
};

/// A picture that grows, and what it needs meanwhile.
///
/// Threads   one at a time
class Rendering {
public:
    Rendering(std::shared_ptr<Session> session, std::shared_ptr<LoadedScene> scene, Options options,
              const CameraPose& view)
        : session_(std::move(session)),
          scene_(std::move(scene)),
          options_(std::move(options)),
          frame_(make_frame(options_, scene_->prepared(), view)),
          picture_(frame_, options_.kernel, scene_->domains(session_),
                   [this](const Job& job) { return session_->run(job); }) {}

    void add(std::uint32_t samples) { picture_.add(samples); }
    [[nodiscard]] std::uint32_t samples() const { return picture_.samples(); }
    [[nodiscard]] std::vector<float> pixels() const {
        std::vector<float> radiance;
        for (const Rgb& pixel : picture_.pixels())
            radiance.insert(radiance.end(), {pixel.r, pixel.g, pixel.b});
        return radiance;
    }
    [[nodiscard]] std::string report() const {
        return json_of(options_, figures_of(scene_->scene(), scene_->prepared()), picture_.rendered());
    }
    [[nodiscard]] std::vector<std::size_t> shape() const { return {frame_.height, frame_.width, 3}; }

private:
    const std::shared_ptr<Session> session_;
    const std::shared_ptr<LoadedScene> scene_;
    const Options options_;
    const Frame frame_;
    GrowingPicture picture_;
};

/// Of seven or eight numbers, as --camera takes them, or of one in the scene.
CameraPose view_of(const Scene& scene, const std::vector<double>& numbers, const std::string& name) {
    if (numbers.empty()) return camera_of(scene, name);
    return {{numbers[0], numbers[1], numbers[2]},
            {numbers[3], numbers[4], numbers[5]},
            static_cast<float>(numbers[6]),
            std::nullopt,
            numbers.size() > 7 ? numbers[7] : 0};
}

std::vector<std::string> names_of(const std::vector<NamedCamera>& cameras) {
    std::vector<std::string> names;
    for (const NamedCamera& camera : cameras) names.push_back(camera.name);
    return names;
}

} // namespace

void bind_render(py::module_& module) {
    py::class_<LoadedScene, std::shared_ptr<LoadedScene>>(module, "Scene")
        .def(py::init([](const std::filesystem::path& file, float albedo,
                         const std::optional<std::filesystem::path>& environment, bool allow_outside,
                         std::uint64_t largest) {
                 const py::gil_scoped_release no_gil;
                 return std::make_shared<LoadedScene>(file, albedo, environment,
                                                      FileRules{allow_outside, largest});
             }),
             py::arg("file"), py::arg("albedo"), py::arg("environment"), py::arg("allow_outside"),
             py::arg("largest"))
        .def_property_readonly("notes", [](const LoadedScene& scene) { return scene.scene().notes; })
        .def_property_readonly("cameras",
                               [](const LoadedScene& scene) { return names_of(scene.scene().cameras); })
        .def_property_readonly("triangles",
                               [](const LoadedScene& scene) { return scene.scene().triangles.size(); })
        .def_property_readonly("bounds", [](const LoadedScene& scene) {
            const Surroundings box = surroundings_of(scene.scene());
            return py::make_tuple(py::make_tuple(box.lo.x, box.lo.y, box.lo.z),
                                  py::make_tuple(box.hi.x, box.hi.y, box.hi.z));
        });
    py::class_<Rendering>(module, "Rendering")
        .def(py::init([](std::shared_ptr<Session> session, std::shared_ptr<LoadedScene> scene,
                         const std::vector<double>& camera, const std::string& camera_name,
                         std::uint32_t width, std::uint32_t height, std::uint32_t expected_samples,
                         std::uint64_t seed, std::uint32_t max_depth, std::uint32_t roulette_from,
                         std::uint32_t shadow_rays, const std::array<float, 3>& sky,
                         const std::string& kernel) {
                 Options options;
                 options.width = width;
                 options.height = height;
                 options.samples = options.expected_samples = expected_samples;
                 options.seed = seed;
                 options.max_depth = max_depth;
                 options.roulette_from = roulette_from;
                 options.shadow_rays = shadow_rays;
                 options.sky = {sky[0], sky[1], sky[2]};
                 options.kernel = kernel == "consumer" ? KernelChoice::consumer : KernelChoice::producer;
                 const py::gil_scoped_release no_gil;
                 const CameraPose view = view_of(scene->scene(), camera, camera_name);
                 return std::make_unique<Rendering>(std::move(session), std::move(scene), std::move(options),
                                                    view);
             }),
             py::arg("session"), py::arg("scene"), py::kw_only(), py::arg("camera"), py::arg("camera_name"),
             py::arg("width"), py::arg("height"), py::arg("expected_samples"), py::arg("seed"),
             py::arg("max_depth"), py::arg("roulette_from"), py::arg("shadow_rays"), py::arg("sky"),
             py::arg("kernel"))
        .def("add", &Rendering::add, py::arg("samples"), py::call_guard<py::gil_scoped_release>())
        .def("picture",
             [](const Rendering& rendering) {
                 std::vector<float> picture;
                 {
                     const py::gil_scoped_release no_gil;
                     picture = rendering.pixels();
                 }
                 return array_of(std::move(picture), rendering.shape());
             })
        .def("report", &Rendering::report, py::call_guard<py::gil_scoped_release>())
        .def_property_readonly("samples", &Rendering::samples);
}

} // namespace headrace::python
