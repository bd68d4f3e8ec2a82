// bench/together/path_tracing.cpp - a scene in 1280 x 720 pixels, with direct light and roulette.
#include "path_tracer/render.hpp"
#include "workload.hpp"

#include <memory>

namespace bench {

Workload path_tracing(const std::string& kernel, std::uint64_t samples, const std::string& scene) {
    namespace app = ::path_tracer;
    return {"path tracing, " + kernel + ", " + std::to_string(samples) + " samples",
            [=](headrace::Runtime& runtime) -> TakeTurn {
                app::Options options;
                options.kernel =
                    kernel == "consumer" ? app::KernelChoice::consumer : app::KernelChoice::producer;
                options.width = 1280;
                options.height = 720;
                options.samples = static_cast<uint32_t>(samples);
                const app::Scene loaded = app::load_scene(scene, options.albedo);
                const app::CameraPose view = app::camera_of(loaded, "");
                struct Data {
                    explicit Data(app::PreparedScene from) : prepared(std::move(from)), domains(prepared) {}
                    app::PreparedScene prepared;
                    app::SceneDomains domains;
                };
                const auto data = std::make_shared<Data>(app::prepare_scene(loaded));
                const app::Frame frame = app::make_frame(options, data->prepared, view);
                return [&runtime, data, frame, options] {
                    headrace::Domain<app::Rgb> film("film", {options.height, options.width});
                    return timed(runtime,
                                 app::render_job(options.kernel, frame, options.samples, data->domains, film),
                                 [&] { static_cast<void>(film.gather()); });
                };
            }};
}

} // namespace bench
