// tests/end_to_end/barnes_hut_runs.hpp - headrace-barnes-hut in a folder, and what it leaves there.
#pragma once
#include "end_to_end/path_tracer.hpp" // options

#include <fstream>
#include <iterator>
#include <string>

namespace headrace::end_to_end {

inline Outcome run(const Scratch& folder, const Options& options) {
    return Program(HEADRACE_BARNES_HUT, options, folder.path()).wait();
}

inline std::string text_of(const Scratch& folder, const std::string& name) {
    std::ifstream stream(folder.path() / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace headrace::end_to_end
