// apps/optical_flow/options.cpp - see options.hpp.
#include "options.hpp"
#include "video/start_option.hpp"

#include <limits>
#include <sstream>

namespace optical_flow {
namespace {

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
    return parts;
}

} // namespace

std::vector<CutPoint> parse_cuts(const std::string& option, const std::string& text) {
    constexpr int most = std::numeric_limits<int>::max();
    std::vector<CutPoint> cuts;
    for (const std::string& cut : split(text, ';')) {
        const auto refuse = [&] {
            program::refuse(
                option + ": '" + cut + "' is no cut point; DEVICE:LEVEL,WARP is one, such as 0:3,0, and " +
                "DEVICE:LEVEL,WARP,ITERATIONS within a warp; several with semicolons between them");
        };
        const std::size_t colon = cut.find(':');
        if (colon == std::string::npos) refuse();
        const std::vector<std::string> place = split(cut.substr(colon + 1), ',');
        if (place.size() < 2 || place.size() > 3) refuse();
        const auto number = [&](const std::string& part) { return program::whole(option, part, 0, most); };
        cuts.push_back({.device = static_cast<std::size_t>(number(cut.substr(0, colon))),
                        .level = number(place[0]),
                        .warp = number(place[1]),
                        .iterations = place.size() == 3 ? std::optional(number(place[2])) : std::nullopt});
    }
    return cuts;
}

void Options::declare(program::CommandLine& line) {
    line.group("Frames");
    line.texts("--input", input, "FILE",
               "PNG, JPEG, PGM or PPM files, such as frame_*.png or frame_%04d.png, or with commas between "
               "them; a YUV4MPEG2 video, or - for one from standard input; memory:N: N generated frames");
    video::declare_start(line, start);
    line.whole("--width", generated.width, 1, longest_side, "PIXELS", "Of generated frames");
    line.whole("--height", generated.height, 1, longest_side, "PIXELS", "Of generated frames");
    line.whole("--frames", frames, 0, std::numeric_limits<std::int64_t>::max(), "N",
               "The end comes after so many; 0: all");
    line.group("Flow");
    line.whole("--levels", settings.levels, 1, 16, "N",
               "Of the pyramid; each is half as large as the next one");
    line.whole("--warps", settings.warps, 1, 1000, "N", "Times that a level's flow is corrected");
    line.whole("--iterations", settings.iterations, 0, 1'000'000, "N", "Of the solver in each of these");
    line.real("--alpha", settings.alpha, 1e-12, 1e12, "A",
              "Weight of smoothness, for brightness from 0 to 1: larger ones make the flow smoother");
    line.choice("--filter", filter, {"hardware", "exact"},
                "Between pixels: textures, whose weights have 8 bits, or single precision");
    line.group("Results");
    line.option("--output-dir", "", "FOLDER",
                "Where flow_00000.flo, flow_00000.png and so on go, one of each a pair",
                [this](const std::string& text) { folder = text; });
    line.output_stream(
        "--output", video, "FILE",
        "The flow's colours as a YUV4MPEG2 video; - for standard output; flow_%04d.png: as pictures");
    line.real("--longest", longest, 0, 1e9, "PIXELS",
              "Flow that has full colour; 0: the longest of each pair");
    line.texts(
        "--truth", truth, "FILE",
        "Flow that is known, .flo files of the first pairs: the report has the mean end-point error, and "
        "the share of pixels above 3");
    line.group("Work");
    line.choice(
        "--map", map, {"auto", "whole", "parts", "first"},
        "Who does what: whole gives each device whole pairs, parts measures all devices and cuts pairs into "
        "a part for each, auto measures and takes whole pairs unless parts promise a quarter more, first "
        "gives the first device all");
    line.option("--cut", "", "D:L,W;...",
                "Cut points instead: device D goes on to level L, warp W (or to L,W,iterations)",
                [this](const std::string& text) { cuts = parse_cuts("--cut", text); });
    line.whole("--at-once", at_once, 0, 64, "N",
               "Whole pairs that a device computes beside each other, since the coarse levels of one leave "
               "most of a GPU idle; 0: as many as fill it");
    line.whole("--in-flight", in_flight, 0, 1024, "N", "Pairs under way at once; 0: as many as devices need");
}

} // namespace optical_flow
