// apps/path_tracer/main.cpp - headrace-path-tracer: renders a scene on every device of the machine at once.
// Exit codes: 0; 1 for a failure; 2 for a mistake of the user's; 3 when --watchdog gave up; 128 + signal
// after Ctrl-C.
#include "environment_map.hpp"
#include "host_walk.hpp"
#include "identity.hpp"
#include "job_program/baselines.hpp"
#include "job_program/interruption.hpp"
#include "passes.hpp"
#include "program/exit_code.hpp"
#include "program/one_process.hpp"
#include "program/output_file.hpp"
#include "program/quiet_process.hpp"
#include "program/ranks.hpp"
#include "render.hpp"
#include "report.hpp"
#include "serve.hpp"
#include <headrace/core/log.hpp>
#include <headrace/core/trace.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

namespace {

using namespace path_tracer;
using headrace::Error;
using headrace::ErrorKind;

int complain(const std::string& what, int exit_code) {
    return program::complain("headrace-path-tracer", what, exit_code);
}

/// What there is when the program has been interrupted.
std::string left_behind = "no image was written";

/// Devices keep a film each, and the host three: two that are summed up and one that becomes a file.
void check_size(const Options& options) {
    const Crop part = made_part(options);
    constexpr double of_adaptive = 40; // sums and lists of each pixel
    const double of_pixel =
        double{3} * sizeof(Rgb) + double{2} * sizeof(RgbSum) + (options.adaptive > 0 ? of_adaptive : 0);
    const double film = of_pixel * part.width * part.height;
    const double memory =
        static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
    if (film > memory)
        throw Error{ErrorKind::invalid_argument, "--width " + std::to_string(options.width) + " --height " +
                                                     std::to_string(options.height) + ": needs " +
                                                     std::to_string(static_cast<long long>(film / 1e9)) +
                                                     " GB, more than the " +
                                                     std::to_string(static_cast<long long>(memory / 1e9)) +
                                                     " GB of this machine; ask for fewer pixels"};
}

CameraPose view_of(const Options& options, const Scene& scene) {
    CameraPose view = options.camera ? *options.camera : camera_of(scene, options.scene_camera);
    if (options.orthographic_height > 0) view.orthographic_height = options.orthographic_height;
    view.lens_radius = options.lens_radius;
    view.focus = options.focus;
    if (view.orthographic_height > 0 && view.lens_radius > 0)
        throw Error{ErrorKind::invalid_argument,
                    "--lens: the camera of the scene is orthographic, and parallel rays have no lens"};
    return view;
}

/// How long something takes before rendering begins, which --progress shows.
class Stopwatch {
public:
    Stopwatch(const Options& options, const std::string& doing) : is_shown_(options.shows_progress()) {
        if (is_shown_) std::fprintf(stderr, "%s\n", doing.c_str());
    }
    double read() const {
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
        if (is_shown_) std::fprintf(stderr, "  %.2f s\n", seconds.count());
        return seconds.count();
    }

private:
    bool is_shown_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

void run(const Options& options) {
    if (options.serve) program::expect_one_process();
    check_size(options);

    const Stopwatch loading(options, "reading " + options.scene.string());
    const Scene scene = load_scene(options.scene, options.albedo, options.files);
    double loaded = loading.read();
    if (!options.quiet)
        for (const std::string& note : scene.notes)
            headrace::log_warning(options.scene.string() + ": " + note);
    if (options.list_cameras) {
        std::fputs(list_of_cameras(scene).c_str(), stdout);
        return;
    }
    if (scene.cameras.size() > 1 && !options.camera && options.scene_camera.empty() && !options.quiet)
        headrace::log_warning(options.scene.string() + ": has " + std::to_string(scene.cameras.size()) +
                              " cameras, and the first is shown; --list-cameras names them");
    if (!scene.lights.empty() && options.shadow_rays == 0 && !options.quiet)
        headrace::log_warning("--no-direct-light: the scene's " + std::to_string(scene.lights.size()) +
                              " lights without extent are found by shadow rays alone, and not shown");
    if (!scene.lights.empty() && !options.quiet &&
        std::ranges::any_of(scene.materials, &SurfaceDescription::may_be_glass))
        headrace::log_warning(options.scene.string() +
                              ": lights without extent do not shine through its glass, nor are they seen in "
                              "smooth mirrors: no ray that is bent or mirrored finds a point");
    const CameraPose view = view_of(options, scene);
    std::optional<TextureImage> environment;
    if (!options.environment.empty()) {
        const Stopwatch more(options, "reading " + options.environment.string());
        environment = load_environment(options.environment, options.files);
        loaded += more.read();
    }
    if (environment && !options.quiet)
        for (const std::string& note : environment->notes) headrace::log_warning(note);
    const TextureImage* const far_away = environment ? &*environment : nullptr;
    const Stopwatch building(options,
                             "building, of " + std::to_string(scene.triangles.size()) + " triangles");
    PreparedScene prepared = prepare_scene(scene, options.scattering, far_away, HostTree::none);
    if (prepared.hidden > 0 && !options.quiet)
        headrace::log_warning(
            options.scene.string() + ": " + std::to_string(prepared.hidden) +
            " triangles that are not opaque have the corners of opaque ones, and are left out");
    SceneFigures figures = figures_of(scene, prepared);
    figures.loading = loaded;
    figures.building = building.read();
    const Frame frame = make_frame(options, prepared, view);
    SceneDomains domains(prepared);
    headrace::Domain<Rgb> film("film", {frame.height, frame.width});

    std::optional<headrace::Trace> trace;
    options.trace.begin(trace);
    headrace::Runtime runtime(options.runtime);
    if (has_fast_walk() && std::ranges::any_of(runtime.devices(), [](const auto* device) {
            return device->technology == "cpu";
        })) {
        const Stopwatch more(options, "building, for the CPU");
        add_host_tree(prepared);
        if (!prepared.host_tree.nodes.empty()) domains.host_tree = &prepared.host_tree;
        figures.building += more.read();
    }
    job_program::watch_for_interruption(); // before, a signal ends the process as ever: there is nothing yet
                                           // to take down
    if (options.serve) {
        serve(*options.serve, runtime, options, prepared, domains, view);
        return;
    }
    if (options.baselines)
        job_program::measure_alone(runtime, [&] {
            return render_job(options.kernel, frame, options.samples, domains,
                              headrace::Domain<Rgb>("another film", {frame.height, frame.width}));
        });
    const Picture picture(options, frame,
                          find_first_hits(runtime, options, frame, prepared.placement, domains));
    Rendered rendered = [&] {
        try {
            return render(runtime, options, frame, domains, film, picture,
                          identity_of(options, scene, far_away, frame));
        } catch (const Error&) {
            if (picture.was_written()) left_behind = options.out.string() + " is as it was last saved";
            throw;
        }
    }();
    picture.write(rendered.sums, rendered.counts);
    rendered.report.ranks = headrace::cluster::collect_traffic();
    program::write_output(options.report, json_of(options, figures, rendered));
    if (trace) options.trace.write(*trace);
    const bool stdout_is_taken = options.report == "-" || options.trace.is_on_stdout();
    if (!options.quiet)
        std::fputs(table_of(options, figures, rendered).c_str(), program::table_output(stdout_is_taken));
}

} // namespace

int main(int argc, char** argv) {
    std::optional<program::Ranks> ranks; // until failures are printed
    try {
        try {
            ranks.emplace();
            run(parse_options(argc, argv));
        } catch (const program::Answered&) { // the answer may not have arrived
        }
        program::flush_standard_output();
        return 0;
    } catch (const Error& error) {
        if (job_program::interruption() != 0)
            return complain(job_program::tells_what_is_stored(error) ? error.what()
                                                                     : "interrupted; " + left_behind,
                            128 + job_program::interruption());
        return complain(error.what(), error.is_users_mistake() ? 2 : 1);
    } catch (const std::bad_alloc&) {
        return complain("the host ran out of memory; ask for fewer pixels or a smaller scene", 1);
    } catch (const std::exception& error) {
        return complain(error.what(), 1);
    }
}
