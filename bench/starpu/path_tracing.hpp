// bench/starpu/path_tracing.hpp - headrace-path-tracer's consumer kernel, as tasks of StarPU.
#pragma once
#include "path_tracer/prepared_scene.hpp"
#include "workload.hpp"

#include <span>

namespace bench {

/// All samples of the frame's pixels into `film`. A band is four rows: tiles of the image order do not cross
/// it.
[[nodiscard]] std::unique_ptr<StarPuWorkload>
starpu_path_tracing(const path_tracer::Frame& frame, std::uint32_t samples, path_tracer::PreparedScene& scene,
                    std::span<path_tracer::Rgb> film, std::uint32_t tasks);

} // namespace bench
