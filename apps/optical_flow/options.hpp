// apps/optical_flow/options.hpp - what a user may ask of headrace-optical-flow.
#pragma once
#include "level.hpp"
#include "program/command_line.hpp"
#include "size.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace optical_flow {

/// A device's part ends with that many iterations of a warp, all of them unless said otherwise; inclusive.
struct CutPoint {
    std::size_t device;
    int level, warp;
    std::optional<int> iterations;
    friend bool operator==(const CutPoint&, const CutPoint&) = default;
};

/// "0:3,0;1:4,1,208;2:4,2": device, level, warp, and iterations. Errors: invalid_argument
[[nodiscard]] std::vector<CutPoint> parse_cuts(const std::string& option, const std::string& text);

struct Options {
    enum class Map : std::uint8_t { automatic, whole, parts, first };

    std::vector<std::string> input;    ///< as it was written: see input_names()
    std::optional<std::int64_t> start; ///< of a pattern's numbers; nothing: the least that is there
    Size generated{1920, 1080};
    std::int64_t frames = 0; ///< 0: all
    Settings settings;
    std::size_t filter = 0; ///< of headrace::Filter
    std::filesystem::path folder;
    std::string video;
    double longest = 0;
    std::vector<std::string> truth; ///< as it was written: see input_names()
    std::size_t map = 0;            ///< of Map
    std::vector<CutPoint> cuts;     ///< instead of it
    int at_once = 0;                ///< whole pairs that a device computes; 0: as many as fill it
    int in_flight = 0;              ///< 0: as many as devices need

    /// The variables are this one's, which stays where it is.
    void declare(program::CommandLine& line);
};

} // namespace optical_flow
