// apps/path_tracer/options.hpp - what a user may ask of the program.
#pragma once
#include "albedo_tables.hpp"
#include "image.hpp"
#include "job_program/checkpoint.hpp"
#include "program/command_line.hpp"
#include "program/trace_files.hpp"
#include "scene.hpp"
#include "tone_map.hpp"
#include <headrace/domains/runtime.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace path_tracer {

enum class KernelChoice : std::uint8_t { consumer, producer };

/// A part of a picture, in pixels from its upper left corner.
struct Crop {
    uint32_t x = 0, y = 0, width = 0, height = 0;
};

/// The command line, checked: every value is in its range.
struct Options {
    std::string command; ///< as it was written, quoted for a shell
    std::filesystem::path scene;
    FileRules files;
    std::optional<CameraPose> camera; ///< else:
    std::string scene_camera;         ///< name or number of one in the scene; empty: the first
    bool list_cameras = false;
    double orthographic_height = 0;    ///< 0: as the camera says
    double lens_radius = 0, focus = 0; ///< 0: a pinhole
    Rgb sky{1, 1, 1};
    std::filesystem::path environment; ///< empty: `sky` is all around
    double environment_scale = 1, environment_degrees = 0;
    float albedo = 0.8f;
    uint32_t width = 640, height = 360, samples = 64;
    uint32_t expected_samples = 64; ///< of a pixel, for the width of samples in textures
    std::optional<Crop> crop;       ///< else all of it is made
    uint32_t max_depth = 8;
    uint32_t roulette_from = 4;
    uint32_t shadow_rays = 1; ///< 0 with --no-direct-light
    Scattering scattering = Scattering::multiple;
    KernelChoice kernel = KernelChoice::producer;
    bool coherent = false;
    headrace::RuntimeOptions runtime;
    job_program::CheckpointOptions checkpoints;
    std::uint64_t seed = 1;
    float exposure = 0; ///< EV: the picture's radiance is multiplied by 2 to this power
    ToneMap tone_map = ToneMap::none;
    std::filesystem::path out = "image.png";
    std::filesystem::path report; ///< empty: none
    program::TraceFiles trace;
    std::optional<int> serve; ///< port at which a browser sees the picture, instead of a file
    double seconds = 0;       ///< in which it has to be rendered; 0: as long as it takes
    double save_every = 0;    ///< seconds; 0: the picture is written at the end alone
    double adaptive = 0;      ///< relative error wanted of each tile; 0: all pixels have the same samples
    bool baselines = false, progress = false, quiet = false;

    [[nodiscard]] bool shows_progress() const { return progress && !quiet; }
};

/// The part of the picture that is made: all of it without --crop.
[[nodiscard]] inline Crop made_part(const Options& options) {
    return options.crop.value_or(Crop{0, 0, options.width, options.height});
}

/// Errors  invalid_argument: which option, what is wrong with it, what it takes, which file cannot be
/// written. Throws program::Answered.
[[nodiscard]] Options parse_options(int argc, char** argv);

} // namespace path_tracer
