// Every program on thousands of files that are nearly right: it ends by itself, soon, in 4 GiB, with exit
// code 0, 1 or 2, and leaves a whole result or none.
//
// HEADRACE_TEST_FILES=2000 asks for so many for each program, HEADRACE_SEED=n for others; a file that
// shows something is kept, and named with the command.
#include "end_to_end/mutation.hpp"
#include "end_to_end/program.hpp"

#include <core/environment_variable.hpp>
#include <core/sanitizers.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <sched.h>

namespace headrace::end_to_end {
namespace {

namespace fs = std::filesystem;

/// A program that reads a seed.
struct Reader {
    const char *name, *program, *seed;
    const char* options; ///< with all files that are written in them
    const char*
        output; ///< that one: there, whole and finite, if and only if the exit code is 0; "": a stream
    const char* beside{};    ///< another seed that has to be there as it is
    std::uint64_t least = 1; ///< of a hundred mutated files, at least so many are taken
};
// NOLINTNEXTLINE(readability-identifier-naming): gtest's
void PrintTo(const Reader& reader, std::ostream* to) { *to << reader.name; }

constexpr const char* picture = "--width 8 --height 8 --spp 1 --out o.pfm --camera 0,0,3,0,0,0,45 --scene ";
constexpr const char* packets = "--photons 20 --most-steps 1000 --report o.json --input ";
constexpr const char* flow = "--levels 2 --warps 1 --iterations 4 --output-dir out --input ";
constexpr const char* films = "--in-flight 2 --output s.y4m --input ";

const Reader readers[] = {
    {"Obj", "path-tracer", "triangle.obj", picture, "o.pfm", "triangle.mtl"},
    {"Mtl", "path-tracer", "triangle.mtl", picture, "o.pfm", "triangle.obj"},
    {"Ply", "path-tracer", "square.ply", picture, "o.pfm"},
    {"BinaryPly", "path-tracer", "binary.ply", picture, "o.pfm", nullptr, 0},
    {"Gltf", "path-tracer", "triangle.gltf", picture, "o.pfm"},
    {"Mci", "fluorescence", "layers.mci", packets, "o.json"},
    {"Toml", "fluorescence", "layers.toml", packets, "o.json"},
    {"Light", "fluorescence", "light.toml", packets, "o.json", "phase.csv"},
    {"Phase", "fluorescence", "phase.csv",
     "--photons 20 --most-steps 1000 --report o.json --input light.toml", "o.json", "light.toml"},
    {"Bodies", "barnes-hut", "bodies.csv", "--steps 1 --output o.csv --input ", "o.csv"},
    {"BodiesNpy", "barnes-hut", "bodies.npy", "--steps 1 --accelerations o.npy --input ", "o.npy"},
    {"Temperatures", "hotspot", "cells.txt", "--size 3 --iterations 9 --out o.txt --temperatures ", "o.txt"},
    {"Matrix", "matrix-pow", "matrix.npy", "--steps 2 --out o.npy --matrix ", "o.npy"},
    {"Matrices", "chain-matmul", "matrix.npy", "--iterations 2 --out o.npy --matrices ", "o.npy"},
    {"Film", "sobel", "film.y4m", films, ""},
    {"Fields", "sobel", "fields.y4m", films, ""},
    {"Pictures", "sobel", "frame_1.ppm", "--in-flight 2 --output s_%d.ppm --input frame_%d.ppm", "s_1.ppm"},
    {"FlowOfFilm", "optical-flow", "film.y4m", flow, ""},
    {"FlowOfPng", "optical-flow", "small.png", flow, "out/flow_00000.flo", "small.ppm", 0},
    {"FlowOfJpeg", "optical-flow", "small.jpg", flow, "out/flow_00000.flo", "small.png"},
    {"FlowOfPpm", "optical-flow", "small.ppm", flow, "out/flow_00000.flo", "small.png"},
    {"FlowTruth", "optical-flow", "true.flo",
     "--levels 2 --iterations 4 --width 12 --height 8 --input memory:2 --report o.json --truth ", "o.json"},
    {"Devices", "mandelbrot", "devices.toml",
     "--width 16 --height 16 --frames 2 --threshold 20 --report o.json --devices @", "o.json", nullptr, 0},
    {"DevicesOfJobs", "coexec", "devices.toml",
     "--problem taylor --size 64 --terms 9 --report o.json --devices @", "o.json", nullptr, 0},
    {"Calibrations", "coexec", "calibrations.json", "--problem taylor --size 64 --terms 9 --report o.json",
     "o.json"},
};

std::string content(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

// Processor time tells what takes too long, on a loaded machine too; the deadline is for what waits for ever.
constexpr int slower = test::under_address_sanitizer ? 10 : 1;
constexpr Seconds most_work{10 * slower}, deadline{60 * slower};
constexpr std::uint64_t usual_files = 100 / slower;
constexpr std::uint64_t enough_files = 20; // of fewer, none may be whole by chance

/// "0,1": the first ones that this process may use.
std::string two_cores() {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        throw std::runtime_error("sched_getaffinity failed");
    std::string list;
    for (int core = 0, found = 0; core < CPU_SETSIZE && found < 2; ++core)
        if (CPU_ISSET(core, &allowed)) {
            if (found++ > 0) list += ',';
            list += std::to_string(core);
        }
    return list;
}

class MutatedFiles : public testing::TestWithParam<Reader> {
protected:
    /// As a user runs it, on two cores at most: threads have address space of their own.
    [[nodiscard]] std::string command() const {
        const Reader& reader = GetParam();
        const std::string name = reader.seed, program = reader.program;
        std::string line = within_memory(4) + "exec taskset -c " + two_cores() +
                           " '" HEADRACE_PROGRAMS "/headrace-" + program + "' --quiet " + reader.options;
        if (name == "calibrations.json")
            return "HEADRACE_CALIBRATIONS=calibrations.json; export HEADRACE_CALIBRATIONS; " + line +
                   " --devices cpu";
        if (name == "phase.csv" || name == "frame_1.ppm") return line + " --devices cpu";
        if (name == "triangle.mtl") return line + reader.beside + " --devices cpu";
        line += name;
        if (program == "optical-flow" && reader.beside != nullptr) line += std::string(" ") + reader.beside;
        return name == "devices.toml" ? line : line + " --devices cpu";
    }
    /// What is wrong with how it ended; empty: nothing.
    [[nodiscard]] std::string complaint(const Outcome& outcome) const {
        const fs::path out = GetParam().output, whole = folder_->path() / out;
        if (outcome.timed_out) return "does not end";
        if (outcome.processor_time > most_work) return "computes for too long";
        if (outcome.signal != 0) return "signal " + std::to_string(outcome.signal);
        if (outcome.exit_code < 0 || outcome.exit_code > 2)
            return "exit code " + std::to_string(outcome.exit_code);
        if (outcome.exit_code != 0 && outcome.errors.empty()) return "fails without a word";
        for (const auto& entry : fs::recursive_directory_iterator(folder_->path()))
            if (entry.path().string().ends_with(".partial")) return "leaves " + entry.path().string();
        if (out.empty()) return "";
        if (fs::exists(whole) != (outcome.exit_code == 0))
            return "exit code " + std::to_string(outcome.exit_code) +
                   (fs::exists(whole) ? ", and " : ", and no ") + out.string();
        return outcome.exit_code != 0 || is_finite(out, content(whole)) ? "" : "writes NaN or infinity";
    }

    std::optional<Scratch> folder_;
};

TEST_P(MutatedFiles, AreReadOrRefused) {
    const test::EnvironmentVariable calibrations("HEADRACE_CALIBRATIONS", "");
    const Reader& reader = GetParam();
    const fs::path seeds = HEADRACE_SEEDS, keep = fs::temp_directory_path();
    const std::string seed = content(seeds / reader.seed);
    ASSERT_FALSE(seed.empty());
    const auto readers_of_program = std::ranges::count_if(
        readers, [&](const Reader& other) { return std::string(other.program) == reader.program; });
    const std::uint64_t first = number_from("HEADRACE_SEED", 1);
    const std::uint64_t files =
        number_from("HEADRACE_TEST_FILES", usual_files) / static_cast<std::uint64_t>(readers_of_program);
    std::uint64_t taken = 0;
    for (std::uint64_t i = 0; i <= files; ++i) {
        std::mt19937_64 random(first * 1'000'000 + i);
        const std::string bytes = i == 0 ? seed : mutated(seed, random); // the first as it is
        folder_.emplace();
        folder_->write(reader.seed, bytes);
        if (reader.beside != nullptr) fs::copy_file(seeds / reader.beside, folder_->path() / reader.beside);
        const Outcome outcome = Program("/bin/sh", {"-c", command()}, folder_->path()).wait(deadline);
        ASSERT_TRUE(i > 0 || outcome.exit_code == 0) << outcome.errors;
        if (i > 0 && outcome.exit_code == 0) ++taken;
        const std::string wrong = complaint(outcome);
        if (wrong.empty()) continue;
        const fs::path kept =
            keep / ("mutated_" + std::string(reader.name) + "_" + std::to_string(i) + "_" + reader.seed);
        std::ofstream(kept, std::ios::binary) << bytes;
        ADD_FAILURE() << wrong << ": " << kept << "\n" << command() << "\n" << outcome.errors.substr(0, 500);
    }
    if (files >= enough_files) {
        EXPECT_GE(100 * taken, reader.least * files)
            << "nearly all are refused: nothing but headers is tried";
    }
    folder_.reset();
}

INSTANTIATE_TEST_SUITE_P(Every, MutatedFiles, testing::ValuesIn(readers),
                         [](const auto& reader) { return std::string(reader.param.name); });

} // namespace
} // namespace headrace::end_to_end
