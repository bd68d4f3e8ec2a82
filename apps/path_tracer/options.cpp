// apps/path_tracer/options.cpp - see options.hpp.
#include "options.hpp"
#include "job_program/baselines.hpp"
#include "job_program/options.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <system_error>
#include <tuple>
#include <utility>

namespace path_tracer {
namespace {

using program::numbers;
using program::refuse;

CameraPose to_camera(const std::string& text) {
    const bool has_roll = std::count(text.begin(), text.end(), ',') == 7;
    const auto n =
        numbers("--camera", text, has_roll ? 8 : 7,
                "ex,ey,ez,tx,ty,tz,vfov_degrees[,roll_degrees]: where the eye is, what it looks at, how "
                "wide it sees from top to bottom, and how far it is turned clockwise; or the name or "
                "the number of a camera of the scene");
    return {
        {n[0], n[1], n[2]}, {n[3], n[4], n[5]}, static_cast<float>(n[6]), std::nullopt, has_roll ? n[7] : 0};
}

double to_height(const std::string& text) {
    constexpr const char* form = "a height above 0, in units of the scene";
    const double height = numbers("--orthographic", text, 1, form)[0];
    if (!(height > 0)) refuse("--orthographic " + text + ": takes " + form);
    return height;
}

std::pair<double, double> to_lens(const std::string& text) {
    constexpr const char* form =
        "radius,focus: of the lens and how far before it all is sharp, above 0 and in units of the scene";
    const auto n = numbers("--lens", text, 2, form);
    if (!(n[0] > 0 && n[1] > 0)) refuse("--lens " + text + ": takes " + form);
    return {n[0], n[1]};
}

Crop to_crop(const std::string& text) {
    constexpr const char* form = "x,y,w,h: whole numbers of pixels, w and h above 0";
    const auto n = numbers("--crop", text, 4, form);
    for (const double number : n)
        if (!(number >= 0 && number <= 4294967295.0 && number == std::floor(number)))
            refuse("--crop " + text + ": takes " + form);
    if (n[2] == 0 || n[3] == 0) refuse("--crop " + text + ": takes " + form);
    const auto whole = [&](std::size_t i) { return static_cast<uint32_t>(n[i]); };
    return {whole(0), whole(1), whole(2), whole(3)};
}

float to_exposure(const std::string& text) {
    constexpr const char* form = "stops, from -100 to 100: each doubles the radiance";
    const double stops = numbers("--exposure", text, 1, form)[0];
    if (!(std::abs(stops) <= 100)) refuse("--exposure " + text + ": takes " + form);
    return static_cast<float>(stops);
}

Rgb to_sky(const std::string& text) {
    constexpr const char* form = "r,g,b: radiance, 0 or more";
    const auto sky = numbers("--sky", text, 3, form);
    constexpr double brightest = std::numeric_limits<float>::max();
    if (std::any_of(sky.begin(), sky.end(), [](double part) { return part < 0 || part > brightest; }))
        refuse("--sky " + text + ": takes " + form);
    return {static_cast<float>(sky[0]), static_cast<float>(sky[1]), static_cast<float>(sky[2])};
}

double to_scale(const std::string& text) {
    constexpr const char* form = "a factor from 0 to 1e15";
    const double scale = numbers("--environment-scale", text, 1, form)[0];
    if (!(scale >= 0 && scale <= 1e15)) refuse("--environment-scale " + text + ": takes " + form);
    return scale;
}

double to_degrees(const std::string& text) {
    constexpr const char* form = "an angle from -36000 to 36000 degrees";
    const double degrees = numbers("--environment-rotate", text, 1, form)[0];
    if (!(std::abs(degrees) <= 36000)) refuse("--environment-rotate " + text + ": takes " + form);
    return degrees;
}

float to_albedo(const std::string& text) {
    constexpr const char* form = "a reflectance from 0 to 1";
    const double albedo = numbers("--albedo", text, 1, form)[0];
    if (albedo < 0 || albedo > 1) refuse("--albedo " + text + ": takes " + form);
    return static_cast<float>(albedo);
}

/// Words as a shell reads them.
std::string command_of(int argc, char** argv) {
    std::string command;
    for (int i = 0; i < argc; ++i) {
        const std::string word = argv[i];
        const bool is_plain =
            !word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                    "0123456789-_=+,./:@%") == std::string::npos;
        command += i > 0 ? " " : "";
        if (is_plain) {
            command += word;
            continue;
        }
        command += '\'';
        for (const char letter : word)
            command += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
        command += '\'';
    }
    return command;
}

} // namespace

Options parse_options(int argc, char** argv) {
    constexpr uint32_t most = std::numeric_limits<uint32_t>::max();
    Options options;
    std::size_t kernel = 1, tone_map = 0;
    bool no_direct_light = false, single_scatter = false;
    program::CommandLine line("headrace-path-tracer",
                              "Renders a scene by path tracing, on every device of this machine at once.");
    line.example({R"(printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >triangle.obj)",
                  "headrace-path-tracer --scene triangle.obj --spp 16 --out triangle.png"});

    line.group("Scene");
    line.input("--scene", options.scene, "OBJ with MTL, PLY, or glTF 2.0 (.gltf, .glb); +y is up");
    line.option(
        "--camera", "", "EX,EY,EZ,TX,TY,TZ,VFOV[,ROLL]|NAME|INDEX",
        "From e towards t, VFOV degrees from top to bottom, turned clockwise by ROLL degrees; or a camera "
        "of the scene; default: the scene's first one, else a view that shows all from +z",
        [&](const std::string& text) {
            if (text.find(',') != std::string::npos)
                options.camera = to_camera(text);
            else
                options.scene_camera = text;
        });
    line.option("--orthographic", "", "HEIGHT",
                "Parallel rays: the picture shows so much of the scene from top to bottom, in its units",
                [&](const std::string& text) {
                    if (!text.empty()) options.orthographic_height = to_height(text);
                });
    line.option("--lens", "", "RADIUS,FOCUS",
                "A lens, in units of the scene: what is FOCUS before it is sharp, all else is blurred",
                [&](const std::string& text) {
                    if (!text.empty()) std::tie(options.lens_radius, options.focus) = to_lens(text);
                });
    line.flag("--list-cameras", options.list_cameras,
              "Print the scene's cameras (number, name, what --camera takes) and leave");
    line.option("--sky", "1,1,1", "R,G,B", "Radiance of what is not in the scene",
                [&](const std::string& text) { options.sky = to_sky(text); });
    line.input("--environment", options.environment,
               "Light from far away: .hdr or .exr, longitudes by latitudes, -z in the middle, +y on top; "
               "in place of --sky");
    line.option("--environment-scale", "1", "S", "Multiply the environment's radiance",
                [&](const std::string& text) { options.environment_scale = to_scale(text); });
    line.option("--environment-rotate", "0", "DEGREES",
                "Turn the environment around +y, counter-clockwise as seen from above",
                [&](const std::string& text) { options.environment_degrees = to_degrees(text); });
    line.option("--albedo", "0.8", "R", "Reflectance of meshes without a material, 0 to 1",
                [&](const std::string& text) { options.albedo = to_albedo(text); });

    line.flag("--allow-outside", options.files.allow_outside,
              "The scene may name files outside its folder; else they are refused");
    line.whole("--max-file-size", options.files.largest, 1, std::numeric_limits<std::uint64_t>::max(),
               "BYTES", "Largest file of a scene that is read");

    line.group("Image");
    line.whole("--width", options.width, 1, most, "PIXELS", "Width of the image");
    line.whole("--height", options.height, 1, most, "PIXELS", "Height of the image");
    line.option(
        "--serve", "", "PORT",
        "Show the picture as it grows in a browser on this machine, which also turns the camera, until "
        "Ctrl-C; no file is written. 0: any port that is free",
        [&](const std::string& text) {
            if (!text.empty()) options.serve = program::whole<int>("--serve", text, 0, 65535);
        });
    line.option("--crop", "", "X,Y,W,H", "Make only this part of the image: W x H pixels from (X, Y) on",
                [&](const std::string& text) {
                    if (!text.empty()) options.crop = to_crop(text);
                });
    line.whole("--spp", options.samples, 1, most, "N",
               "Samples (paths) per pixel; with --time or --adaptive the most, 16384 unless said");
    line.real("--time", options.seconds, 0, 1e9, "SECONDS",
              "Render about so long: as many samples as there is time for; 0: as long as it takes");
    line.real("--adaptive", options.adaptive, 0, 1e6, "ERROR",
              "Sample until the relative standard error of luminance is so low in each tile of 16 x 16; 0: "
              "all pixels alike");
    line.real("--save-every", options.save_every, 0, 1e9, "SECONDS",
              "Write the image as it grows, with so much time between; 0: at the end");
    line.option("--exposure", "0", "EV", "Multiply the image by 2^EV",
                [&](const std::string& text) { options.exposure = to_exposure(text); });
    line.choice("--tone-map", tone_map, {"none", "aces", "agx"},
                "For .png: how radiance above 1 becomes white; none: it is clipped");
    line.output("--out", options.out,
                "Image: .png (8 bits, sRGB, 1 is white), .exr or .pfm (linear radiance)");

    line.group("Light transport");
    line.whole("--max-depth", options.max_depth, 1, 1u << 20, "D",
               "Segments of a path: it ends at its Dth hit");
    line.whole("--roulette-from", options.roulette_from, 0, 1u << 20, "HIT",
               "Hit from which on Russian roulette may end a path; 0: never");
    line.whole("--shadow-rays", options.shadow_rays, 1, 1u << 16, "N",
               "Shadow rays to lamps and the environment at each hit but the last that spreads light");
    line.flag("--no-direct-light", no_direct_light, "No shadow rays: emission is found by hitting it");
    line.flag("--single-scatter", single_scatter,
              "Rough surfaces lose what their facets reflect to one another, as in many programs");
    line.flag("--coherent", options.coherent,
              "Groups of 32 pixels, far from each other, share their random numbers");
    line.whole("--seed", options.seed, 0, std::numeric_limits<std::uint64_t>::max(), "N",
               "Of the random numbers; same seed, same image, on any devices");

    line.group("Work");
    line.choice("--kernel", kernel, {"consumer", "producer"},
                "consumer: a whole path is a unit of work; producer: a segment is");
    job_program::add_device_options(line, options.runtime);
    job_program::add_baselines_option(line, options.baselines);

    job_program::add_checkpoint_options(line, options.checkpoints);

    line.group("Messages");
    line.output("--report", options.report, "Who did what in which time, as JSON");
    job_program::add_message_options(line, options.trace, options.progress, options.quiet,
                                     "A bar on stderr while it renders");

    line.parse(argc, argv);
    options.command = command_of(argc, argv);
    if (options.scene.empty()) refuse("--scene FILE is needed: an .obj, .ply, .gltf or .glb; see --help");
    if (std::uint64_t{options.width} * options.height > most)
        refuse("--width " + std::to_string(options.width) + " --height " + std::to_string(options.height) +
               ": at most 4294967295 pixels together");
    if (const std::optional<Crop>& crop = options.crop;
        crop && (std::uint64_t{crop->x} + crop->width > options.width ||
                 std::uint64_t{crop->y} + crop->height > options.height))
        refuse("--crop: the part is not within the " + std::to_string(options.width) + " x " +
               std::to_string(options.height) + " pixels of --width and --height");
    if (options.orthographic_height > 0 && options.lens_radius > 0)
        refuse("--orthographic and --lens: take one of them; parallel rays have no lens");
    constexpr std::array tone_maps = {ToneMap::none, ToneMap::aces, ToneMap::agx};
    options.tone_map = tone_maps[tone_map];
    if (image_format(options.out) != ImageFormat::png && options.tone_map != ToneMap::none)
        refuse("--tone-map is for .png; " + options.out.string() + " keeps linear radiance");
    options.expected_samples = options.samples;
    if ((options.seconds > 0 || options.adaptive > 0) && !line.has("--spp")) options.samples = 16384;
    if (options.environment.empty() && (line.has("--environment-scale") || line.has("--environment-rotate")))
        refuse("--environment-scale and --environment-rotate: take an --environment FILE");
    if (!options.environment.empty() && line.has("--sky"))
        refuse("--environment and --sky: take one of them; each is all that is far away");
    if (options.serve)
        for (const char* const other : {"--crop", "--time", "--adaptive", "--checkpoint", "--resume",
                                        "--baselines", "--save-every", "--report", "--out"})
            if (line.has(other)) refuse(std::string("--serve and ") + other + ": take one of them");
    std::error_code ignored;
    if (options.save_every > 0 && std::filesystem::exists(options.out, ignored) &&
        !std::filesystem::is_regular_file(options.out, ignored))
        refuse("--save-every: " + options.out.string() +
               " is no regular file, and would get one picture behind the other");
    if (options.adaptive > 0 && options.checkpoints.are_given())
        refuse("--adaptive: takes none of --checkpoint, --resume and --on-loss continue; what is stored "
               "would not tell how noisy it is");
    if (options.baselines && (options.seconds > 0 || options.adaptive > 0))
        refuse("--baselines: takes neither --time nor --adaptive; each device has to do the same");
    if (options.adaptive > 0 && options.coherent)
        refuse("--adaptive and --coherent: take one of them; noise of samples that share random numbers is "
               "not their error");
    options.kernel = kernel == 0 ? KernelChoice::consumer : KernelChoice::producer;
    if (no_direct_light) options.shadow_rays = 0;
    if (single_scatter) options.scattering = Scattering::single;
    return options;
}

} // namespace path_tracer
