// apps/path_tracer/options.cpp - see options.hpp. The one unit that sees CLI11.
#include "options.hpp"
#include <headrace/core/error.hpp>

#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace path_tracer {
namespace {

using headrace::Error;
using headrace::ErrorKind;

[[noreturn]] void refuse(const std::string& what) { throw Error{ErrorKind::invalid_argument, what}; }

/// `count` finite numbers, separated by commas.
std::vector<float> numbers(const std::string& option, const std::string& text, std::size_t count,
                           const char* form) {
    std::vector<float> values;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (values.size() <= count) {
        float value = 0;
        const auto [stop, error] = std::from_chars(at, end, value);
        if (error != std::errc{} || !std::isfinite(value)) break;
        values.push_back(value);
        at = stop;
        if (at == end || *at != ',') break;
        ++at;
    }
    if (at != end || values.size() != count) refuse(option + " " + text + ": takes " + form);
    return values;
}

/// A whole number in [least, most].
template <class Number>
Number whole(const std::string& option, const std::string& text, Number least, Number most) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
        refuse(option + " " + (text.empty() ? "\"\"" : text) + ": takes a whole number from " +
               std::to_string(least) + " to " + std::to_string(most));
    return value;
}

/// Options as written; numbers are read by the functions above, whose messages all have one form.
struct Written {
    std::string scene, camera, sky = "1,1,1", albedo = "0.8", width = "640", height = "360", samples = "64",
                               max_depth = "8", roulette_from = "4", shadow_rays = "1", kernel = "producer",
                               devices, policy = "demand", seed = "1", out = "image.png", report;
    bool no_direct_light = false, coherent = false, progress = false, quiet = false;
};

Options check(const Written& written) {
    constexpr uint32_t most = std::numeric_limits<uint32_t>::max();
    Options options;
    if (written.scene.empty()) refuse("--scene FILE is needed: an .obj, .ply, .gltf or .glb; see --help");
    options.scene = written.scene;
    if (!written.camera.empty()) {
        const auto n = numbers("--camera", written.camera, 7,
                               "ex,ey,ez,tx,ty,tz,vfov_degrees: where the eye is, what it looks at, "
                               "and how wide it sees from top to bottom");
        options.camera = CameraPose{{n[0], n[1], n[2]}, {n[3], n[4], n[5]}, n[6]};
    }
    const auto sky = numbers("--sky", written.sky, 3, "r,g,b: radiance, 0 or more");
    options.sky = {sky[0], sky[1], sky[2]};
    if (sky[0] < 0 || sky[1] < 0 || sky[2] < 0)
        refuse("--sky " + written.sky + ": takes r,g,b: radiance, 0 or more");
    options.albedo = numbers("--albedo", written.albedo, 1, "a reflectance from 0 to 1")[0];
    if (!(options.albedo >= 0 && options.albedo <= 1))
        refuse("--albedo " + written.albedo + ": takes a reflectance from 0 to 1");
    options.width = whole<uint32_t>("--width", written.width, 1, most);
    options.height = whole<uint32_t>("--height", written.height, 1, most);
    options.samples = whole<uint32_t>("--spp", written.samples, 1, most);
    if (std::uint64_t{options.width} * options.height > most)
        refuse("--width " + written.width + " --height " + written.height +
               ": at most 4294967295 pixels together");
    options.max_depth = whole<uint32_t>("--max-depth", written.max_depth, 1, 1u << 20);
    options.roulette_from = whole<uint32_t>("--roulette-from", written.roulette_from, 0, 1u << 20);
    options.shadow_rays = whole<uint32_t>("--shadow-rays", written.shadow_rays, 1, 1u << 16);
    if (written.no_direct_light) options.shadow_rays = 0;
    const std::map<std::string, KernelChoice> kernels = {{"consumer", KernelChoice::consumer},
                                                         {"producer", KernelChoice::producer}};
    const auto kernel = kernels.find(written.kernel);
    if (kernel == kernels.end()) refuse("--kernel " + written.kernel + ": takes consumer or producer");
    options.kernel = kernel->second;
    options.coherent = written.coherent;
    options.devices = written.devices;
    options.policy = written.policy;
    options.seed = whole<std::uint64_t>("--seed", written.seed, 0, std::numeric_limits<std::uint64_t>::max());
    options.out = written.out;
    static_cast<void>(image_format(options.out));
    options.report = written.report;
    options.progress = written.progress;
    options.quiet = written.quiet;
    return options;
}

} // namespace

Options parse_options(int argc, char** argv) {
    Written written;
    CLI::App app("Renders a scene by path tracing, on every device of this machine at once.",
                 "headrace-path-tracer");
    app.set_version_flag("--version", HEADRACE_VERSION);
    app.set_help_flag("--help,-h", "Print this and leave");
    const auto text = [&app](const char* name, std::string& value, const char* form, const char* help) {
        app.add_option(name, value, help)->type_name(form)->capture_default_str()->group("");
        return app.get_option(name);
    };
    const auto flag = [&app](const char* name, bool& value, const char* help) {
        return app.add_flag(name, value, help);
    };

    text("--scene", written.scene, "FILE", "OBJ with MTL, PLY, or glTF 2.0 (.gltf, .glb); +y is up")
        ->group("Scene");
    text("--camera", written.camera, "EX,EY,EZ,TX,TY,TZ,VFOV",
         "From e towards t, VFOV degrees from top to bottom; default: the file's own, else one that shows "
         "all from +z")
        ->group("Scene");
    text("--sky", written.sky, "R,G,B", "Radiance of what is not in the scene")->group("Scene");
    text("--albedo", written.albedo, "R", "Reflectance of meshes without a material, 0 to 1")->group("Scene");

    text("--width", written.width, "PIXELS", "Width of the image")->group("Image");
    text("--height", written.height, "PIXELS", "Height of the image")->group("Image");
    text("--spp", written.samples, "N", "Samples (paths) per pixel; noise falls with its square root")
        ->group("Image");
    text("--out", written.out, "FILE",
         "Image: .png (8 bits, sRGB, 1 is white), .exr or .pfm (linear radiance)")
        ->group("Image");

    text("--max-depth", written.max_depth, "D", "Segments of a path: it ends at its Dth hit")
        ->group("Light transport");
    text("--roulette-from", written.roulette_from, "HIT",
         "Hit from which on Russian roulette may end a path; 0: never")
        ->group("Light transport");
    text("--shadow-rays", written.shadow_rays, "N",
         "Shadow rays to the area lights at each diffuse hit but the last")
        ->group("Light transport");
    flag("--no-direct-light", written.no_direct_light, "No shadow rays: emission is found by hitting it")
        ->group("Light transport");
    flag("--coherent", written.coherent,
         "Groups of 32 pixels, far from each other, share their random numbers")
        ->group("Light transport");
    text("--seed", written.seed, "N", "Of the random numbers; same seed, same image, on any devices")
        ->group("Light transport");

    text("--kernel", written.kernel, "KIND",
         "consumer: a whole path is a unit of work; producer: a segment is")
        ->group("Work");
    text("--devices", written.devices, "LIST",
         "Such as cpu,cuda:0,opencl:pocl, or @FILE.toml; default: $HEADRACE_DEVICES, else all, each "
         "processor once")
        ->group("Work");
    text("--policy", written.policy, "NAME",
         "How work is dealt out to devices: demand, or demand:20 for smaller tasks")
        ->group("Work");

    text("--report", written.report, "FILE", "Who did what in which time, as JSON")->group("Messages");
    flag("--progress", written.progress, "A bar on stderr while it renders")->group("Messages");
    flag("--quiet", written.quiet, "Nothing but errors")->group("Messages");

    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        std::cout << app.help();
        throw Answered{};
    } catch (const CLI::CallForVersion&) {
        std::cout << app.version() << '\n';
        throw Answered{};
    } catch (const CLI::ParseError& error) {
        std::string what = error.what();
        if (const auto end = what.find('\n'); end != std::string::npos) what.resize(end);
        refuse(what + "; see --help");
    }
    return check(written);
}

} // namespace path_tracer
