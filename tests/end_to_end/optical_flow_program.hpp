// tests/end_to_end/optical_flow_program.hpp - headrace-optical-flow on frames that move as they are told.
#pragma once
#include "end_to_end/moving_texture.hpp"
#include "end_to_end/one_program.hpp"
#include "end_to_end/path_tracer.hpp" // which devices there are

#include <core/environment_variable.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

namespace headrace::end_to_end {

using nlohmann::json;

/// Little work, where flow need not be near to the truth.
inline const Options little{"--levels", "3", "--warps", "2", "--iterations", "40"};

class OpticalFlowProgram : public OneProgram {
protected:
    OpticalFlowProgram() : OneProgram(HEADRACE_OPTICAL_FLOW, "flow") {}

    /// The report of a run that must succeed.
    [[nodiscard]] json report_of(const Options& options) const {
        const Outcome outcome = run(options + Options{"--quiet", "--report", "report.json"});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
        EXPECT_EQ(outcome.output + outcome.errors, "") << "although it was to be quiet";
        return json::parse(content("report.json"), nullptr, false);
    }
    [[nodiscard]] std::vector<std::string> files_in(const std::string& name) const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / name))
            names.push_back(entry.path().filename().string());
        std::ranges::sort(names);
        return names;
    }
    /// Of an --output-dir with so many pairs.
    [[nodiscard]] static std::vector<std::string> files_of(int pairs) {
        std::vector<std::string> names;
        for (int pair = 0; pair < pairs; ++pair)
            for (const char* extension : {".flo", ".png"})
                names.push_back("flow_0000" + std::to_string(pair) + extension);
        return names;
    }
    /// Pictures of the texture as it moves; their names as --input takes them.
    [[nodiscard]] std::string make_pictures(const Motion& motion, int frames, bool pgm = false) const {
        std::string names;
        for (int i = 0; i < frames; ++i) {
            const std::string name = std::to_string(i) + (pgm ? ".pgm" : ".png");
            const auto samples = moved(width, height, motion, i);
            folder_.write(name, pgm ? pgm_of(width, height, samples) : png_of(width, height, samples));
            names += (names.empty() ? "" : ",") + name;
        }
        return names;
    }

    static constexpr int width = 120, height = 88;
    static constexpr std::size_t colour_bytes = 6 + 3 * width * height; ///< of a frame of a video of colours
    static constexpr std::size_t colour_header =
        sizeof "YUV4MPEG2 W120 H88 F0:0 Ip A0:0 C444 XCOLORRANGE=FULL";
    static constexpr std::size_t film_header = colour_header + 1; // films have 25 frames a second

    const test::EnvironmentVariable nowhere_{"HEADRACE_CALIBRATIONS", ""};
};

} // namespace headrace::end_to_end
