// bench/baseline_options.hpp - the command line of the plain CUDA program, spelt as headrace-path-tracer's.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "path_tracer/scene.hpp"

namespace bench {

struct BaselineOptions {
    std::string scene;
    std::optional<path_tracer::CameraPose> camera; ///< absent: the file's, or one that shows all
    path_tracer::Rgb sky{1, 1, 1};
    float albedo = 0.8f;
    std::uint32_t width = 1280, height = 720, spp = 64, max_depth = 8, shadow_rays = 0, repeats = 5;
};

/// Says what is wrong, or the help, and exits if the program is not to go on.
[[nodiscard]] BaselineOptions parse_baseline_options(int argc, char** argv);

} // namespace bench
