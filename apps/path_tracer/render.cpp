// apps/path_tracer/render.cpp - see render.hpp.
#include "render.hpp"
#include "path_tracer.kernels.hpp"

#include "path_tracer.cl.hpp"

namespace path_tracer {
namespace {

headrace::OpenClKernel opencl_kernel(KernelChoice choice, Shading shading) {
    headrace::OpenClKernel kernel;
    kernel.name = "path_tracer.cl";
    kernel.source = headrace::embedded::path_tracer_cl;
    if (choice == KernelChoice::producer) {
        kernel.kinds = TraceSegment::Units::count;
        kernel.unit_bytes = sizeof(PathVertex);
        kernel.max_spawns = 1;
    }
    // As exact as C++: without this, OpenCL allows divisions and square roots to be off by some units.
    kernel.options = "-cl-fp32-correctly-rounded-divide-sqrt";
    kernel.options += " -DSHADING=" + std::to_string(static_cast<int>(shading));
    return kernel;
}

SceneView view_in(headrace::Task& task, const SceneDomains& scene) {
    return SceneView{task.read(scene.nodes),
                     task.read(scene.triangles),
                     task.read(scene.details),
                     task.read(scene.materials),
                     task.read(scene.lights),
                     task.read(scene.punctual_lights),
                     task.read(scene.corner_shading),
                     task.read(scene.corner_colours),
                     task.read(scene.corner_places),
                     task.read(scene.surface_textures),
                     task.read(scene.textures),
                     task.read(scene.texture_levels),
                     task.read(scene.texels),
                     task.read(scene.finishes),
                     task.read(scene.albedos),
                     task.read(scene.environment),
                     task.read(scene.instances),
                     task.device().info().technology == "cpu" ? scene.host_tree : nullptr};
}

/// Where all pixels have samples.
headrace::Domain<uint32_t> no_pixels() {
    headrace::Domain<uint32_t> none("chosen pixels", {1});
    none.fill()[0] = 0;
    return none;
}

void read_scene(headrace::Job& job, const SceneDomains& scene) {
    job.reads(scene.nodes, scene.triangles, scene.details, scene.materials, scene.lights,
              scene.punctual_lights, scene.corner_shading, scene.corner_colours, scene.corner_places,
              scene.surface_textures, scene.textures, scene.texture_levels, scene.texels, scene.finishes,
              scene.albedos, scene.environment, scene.instances);
}

/// In the order of HEADRACE_SCENE in path_tracer.cl.
void add_scene(headrace::OpenClArguments& arguments, headrace::Task& task, const SceneDomains& scene) {
    arguments.buffer(task.memory(scene.nodes))
        .buffer(task.memory(scene.triangles))
        .buffer(task.memory(scene.details))
        .buffer(task.memory(scene.materials))
        .buffer(task.memory(scene.lights))
        .buffer(task.memory(scene.punctual_lights))
        .buffer(task.memory(scene.corner_shading))
        .buffer(task.memory(scene.corner_colours))
        .buffer(task.memory(scene.corner_places))
        .buffer(task.memory(scene.surface_textures))
        .buffer(task.memory(scene.textures))
        .buffer(task.memory(scene.texture_levels))
        .buffer(task.memory(scene.texels))
        .buffer(task.memory(scene.finishes))
        .buffer(task.memory(scene.albedos))
        .buffer(task.memory(scene.environment))
        .buffer(task.memory(scene.instances));
}

/// Gives the job a kernel for CPU, CUDA and HIP.
template <class Consumer, class Producer, class View>
void use_kernel(headrace::Job& job, KernelChoice choice, const Frame& frame, View view,
                const headrace::Domain<uint32_t>& chosen, const headrace::Domain<Rgb>& film) {
    if (choice == KernelChoice::consumer)
        job.kernel([=](headrace::Task& task) {
            return Consumer{view(task), frame, task.read(chosen), task.sum(film)};
        });
    else
        job.seeds([=](headrace::Task& task) {
               return CameraPaths{frame, task.read(chosen)};
           })
            .kernel([=](headrace::Task& task) {
                return Producer{view(task), frame, task.sum(film)};
            });
}

/// The camera of a part of the picture that begins at this pixel.
Camera cropped(Camera camera, const Crop& crop) {
    const auto x = static_cast<float>(crop.x), y = static_cast<float>(crop.y);
    if (camera.projection == PROJECTION_ORTHOGRAPHIC)
        camera.eye = camera.eye + camera.aside * x + camera.below * y;
    else
        camera.corner = camera.corner + camera.right * x + camera.down * y;
    return camera;
}

} // namespace

Frame make_frame(const Options& options, const PreparedScene& scene, const CameraPose& view) {
    Frame frame{};
    frame.camera = make_camera(view, scene.placement, options.width, options.height);
    const Crop part = made_part(options);
    frame.camera = cropped(frame.camera, part);
    frame.width = part.width;
    frame.height = part.height;
    frame.max_depth = options.max_depth;
    frame.roulette_from = options.roulette_from;
    frame.shadow_rays = options.shadow_rays;
    frame.coherent = options.coherent ? 1 : 0;
    use_scene(frame, scene);
    const SampleWidth width = sample_width(view, scene.placement, options.height, options.expected_samples);
    frame.first_width = width.at_camera;
    frame.spread = width.spread;
    frame.seed_low = static_cast<uint32_t>(options.seed);
    frame.seed_high = static_cast<uint32_t>(options.seed >> 32);
    frame.sky = options.sky;
    frame.environment_scale *= static_cast<float>(options.environment_scale);
    frame.environment_turn = static_cast<float>(options.environment_degrees / 360);
    return frame;
}

SceneDomains::SceneDomains(PreparedScene& scene)
    : nodes("bvh", std::span(scene.nodes)),
      triangles("triangles", std::span(scene.triangles)),
      details("triangle details", std::span(scene.details)),
      materials("materials", std::span(scene.materials)),
      lights("lights", std::span(scene.lights)),
      punctual_lights("punctual lights", std::span(scene.punctual_lights)),
      corner_shading("corner shading", std::span(scene.corner_shading)),
      corner_colours("corner colours", std::span(scene.corner_colours)),
      corner_places("corner places", std::span(scene.corner_places)),
      surface_textures("surface textures", std::span(scene.surface_textures)),
      textures("textures", std::span(scene.textures)),
      texture_levels("texture levels", std::span(scene.texture_levels)),
      texels("texels", std::span(scene.texels)),
      finishes("finishes", std::span(scene.finishes)),
      albedos("albedos", std::span(scene.albedos)),
      environment("environment", std::span(scene.environment)),
      instances("instances", std::span(scene.instances)),
      host_tree(scene.host_tree.nodes.empty() ? nullptr : &scene.host_tree) {}

headrace::Job render_job(KernelChoice kernel, const Frame& frame, uint32_t samples, const SceneDomains& scene,
                         const headrace::Domain<Rgb>& film) {
    return render_job(kernel, frame, samples, scene, no_pixels(), film);
}

headrace::Job render_job(KernelChoice kernel, const Frame& frame, uint32_t samples, const SceneDomains& scene,
                         const headrace::Domain<uint32_t>& chosen, const headrace::Domain<Rgb>& film) {
    const auto view = [scene](headrace::Task& task) { return view_in(task, scene); };
    headrace::Job job("path tracing",
                      (frame.chosen != 0 ? frame.chosen : std::uint64_t{frame.width} * frame.height) *
                          samples);
    job.kernel_name(
        std::string("path tracing, ") + (kernel == KernelChoice::consumer ? "consumer, " : "producer, ") +
        std::to_string(frame.max_depth) + " hits, roulette " + std::to_string(frame.roulette_from) + ", " +
        std::to_string(frame.shadow_rays) + " shadow rays" + (frame.coherent ? ", coherent" : "") +
        (frame.shading == SHADING_ALL       ? ", instances and holes"
         : frame.shading == SHADING_FULL    ? ", finishes"
         : frame.shading == SHADING_CORNERS ? ", corners"
                                            : ""));
    read_scene(job, scene);
    job.reads(chosen).accumulates(film).share_units();
    const auto shading = static_cast<Shading>(frame.shading);
    switch (shading) {
    case SHADING_FLAT:
        use_kernel<TracePath, TraceSegment>(job, kernel, frame, view, chosen, film);
        break;
    case SHADING_CORNERS:
        use_kernel<TracePathWithCorners, TraceSegmentWithCorners>(job, kernel, frame, view, chosen, film);
        break;
    case SHADING_FULL:
        use_kernel<TracePathWithFinishes, TraceSegmentWithFinishes>(job, kernel, frame, view, chosen, film);
        break;
    case SHADING_ALL:
        use_kernel<TracePathWithAll, TraceSegmentWithAll>(job, kernel, frame, view, chosen, film);
        break;
    }
    job.opencl(opencl_kernel(kernel, shading),
               [=](headrace::Task& task, headrace::OpenClArguments& arguments) {
                   add_scene(arguments, task, scene);
                   arguments.buffer(task.memory(chosen)).buffer(task.memory(film)).value(frame);
               });
    return job;
}

headrace::Job first_hits_job(const Frame& frame, uint32_t samples, const SceneDomains& scene,
                             const headrace::Domain<FirstHit>& hits) {
    headrace::Job job("first hits", std::uint64_t{frame.width} * frame.height * samples);
    const headrace::Domain<uint32_t> none = no_pixels();
    read_scene(job, scene);
    job.reads(none).accumulates(hits).kernel([=](headrace::Task& task) {
        return FindFirstHits{view_in(task, scene), frame, task.sum(hits)};
    });
    headrace::OpenClKernel kernel =
        opencl_kernel(KernelChoice::consumer, frame.shading == SHADING_ALL ? SHADING_ALL : SHADING_FULL);
    kernel.options += " -DFIRST_HITS";
    job.opencl(kernel, [=](headrace::Task& task, headrace::OpenClArguments& arguments) {
        add_scene(arguments, task, scene);
        arguments.buffer(task.memory(none)).buffer(task.memory(hits)).value(frame);
    });
    return job;
}

} // namespace path_tracer
