// apps/path_tracer/serve.hpp - the growing picture in a browser on this machine.
#pragma once
#include "options.hpp"
#include "prepared_scene.hpp"
#include "render.hpp"

namespace path_tracer {

/// Renders, and shows it at http://127.0.0.1:PORT/?token=..., which it prints, until the program is
/// interrupted. Only this machine can connect, and only with the token that this run has made up. The browser
/// changes the camera.
///
/// `port`    0: any that is free
/// Errors    io if the port is taken; of jobs
void serve(int port, headrace::Runtime& runtime, const Options& options, const PreparedScene& prepared,
           const SceneDomains& scene, CameraPose view);

} // namespace path_tracer
