// apps/path_tracer/serve_absent.cpp - in the place of serve.cpp, where cpp-httplib is not installed.
#include "serve.hpp"

namespace path_tracer {

void serve(int, headrace::Runtime&, const Options&, const PreparedScene&, const SceneDomains&, CameraPose) {
    throw headrace::Error{
        headrace::ErrorKind::unsupported,
        "--serve: this build has no web server; install libcpp-httplib-dev, and build again"};
}

} // namespace path_tracer
