// apps/sobel/options.cpp - see options.hpp.
#include "options.hpp"
#include "video/frame_names.hpp"
#include "video/start_option.hpp"

#include <limits>

namespace sobel {

Place Place::parse(const std::string& option, const std::string& text, bool is_input) {
    constexpr int most = 1'000'000;
    const auto number = [&] { return program::whole(option, text.substr(text.find(':') + 1), 1, most); };
    if (text.empty()) program::refuse(option + " is needed: a file, - or memory:N; see --help");
    if (text.starts_with("memory:")) return {Kind::memory, {}, number()};
    if (text.starts_with("copied:")) return {Kind::copied, {}, number()};
    if (is_input ? video::FrameNames::of_input(text) : video::FrameNames::of_output(text))
        return {Kind::pictures, text};
    return {Kind::stream, text};
}

void Options::declare(program::CommandLine& line) {
    line.group("Frames");
    line.text("--input", input, "FILE",
              "YUV4MPEG2; frame_%04d.png: pictures, PNG, JPEG, PGM or PPM; or raw YUV 4:2:0 with --width and "
              "--height; -: standard input; memory:N: N generated "
              "frames in memory that the device reaches, copied:N: in memory that is copied from");
    line.output_stream(
        "--output", output, "FILE",
        "As the input is, unless it ends in .y4m or .yuv (raw); -: standard output; edges_%04d.png: pictures "
        "of pictures, PNG, PGM or PPM; memory:N or copied:N: the last N frames are kept in memory");
    video::declare_start(line, start);
    line.whole("--width", width, 0, 65535, "PIXELS",
               "Of raw or generated frames; 0: as the stream says, or 1920");
    line.whole("--height", height, 0, 65535, "PIXELS",
               "Of raw or generated frames; 0: as the stream says, or 1080");
    line.whole("--frames", frames, 0, std::numeric_limits<std::int64_t>::max(), "N",
               "The end comes after so many, and generated ones repeat until then; 0: all");
    line.whole("--in-flight", in_flight, 2, 1024, "N", "Frames between input and output at any time");
}

} // namespace sobel
