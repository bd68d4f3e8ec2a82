// bench/together/workload.cpp - see workload.hpp.
#include "workload.hpp"

#include <headrace/core/error.hpp>

#include <sstream>
#include <vector>

namespace bench {
namespace {

std::vector<std::string> parts_of(const std::string& text) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, ':');) parts.push_back(part);
    return parts;
}

std::uint64_t number(const std::string& text, const std::string& whole) try {
    return std::stoull(text);
} catch (const std::exception&) {
    throw headrace::Error{headrace::ErrorKind::invalid_argument, whole + ": '" + text + "' is no number"};
}

} // namespace

Workload make_workload(const std::string& text) {
    const std::vector<std::string> parts = parts_of(text);
    const auto part = [&](std::size_t i, const char* otherwise) {
        return i < parts.size() && !parts[i].empty() ? parts[i] : std::string(otherwise);
    };
    const std::string problem = part(0, "");
    if (problem == "fluorescence")
        return fluorescence(part(1, "producer"), number(part(2, "20000000"), text));
    if (problem == "path-tracing")
        return path_tracing(part(1, "producer"), number(part(2, "64"), text),
                            part(3, "apps/path_tracer/scenes/demo.gltf"));
    if (problem == "barnes-hut") return barnes_hut(part(1, "producer"), number(part(2, "1048576"), text));
    if (is_coexec(problem)) return coexec(problem, number(part(1, "0"), text), part(2, "single") == "double");
    throw headrace::Error{headrace::ErrorKind::not_found,
                          "there is no workload '" + problem +
                              "'; there is fluorescence:KERNEL:PACKETS, path-tracing:KERNEL:SAMPLES:SCENE, "
                              "barnes-hut:KERNEL:BODIES, and headrace-coexec's problems: matmul:SIZE:double, "
                              "mandelbrot:SIZE, ..."};
}

} // namespace bench
