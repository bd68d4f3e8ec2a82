// apps/video/frame_format.cpp - see frame_format.hpp.
#include "video/frame_format.hpp"
#include "program/numbers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <sstream>
#include <string_view>

namespace video {
namespace {

constexpr int largest = 65535; // pixels across: rows of all planes together stay far within 32 bits

/// How many pixels of luma one of chroma stands for, and how many planes have the size of luma.
struct Chroma {
    std::string_view name;
    int columns, rows; ///< 0: there is none
    int whole = 1;
};
constexpr std::array known{
    Chroma{"420", 2, 2}, Chroma{"420jpeg", 2, 2}, Chroma{"420mpeg2", 2, 2},    Chroma{"420paldv", 2, 2},
    Chroma{"422", 2, 1}, Chroma{"440", 1, 2},     Chroma{"411", 4, 1},         Chroma{"410", 4, 4},
    Chroma{"444", 1, 1}, Chroma{"mono", 0, 0},    Chroma{"444alpha", 1, 1, 2},
};

/// How samples are stored.
struct Stored {
    Chroma chroma;
    int bits;
};

/// "420p10" is 420 of 10 bits, "mono12" mono of 12.
std::optional<Stored> stored_as(std::string_view name) {
    const auto named = [](std::string_view what) -> std::optional<Chroma> {
        const auto* const found = std::ranges::find(known, what, &Chroma::name);
        return found == known.end() ? std::nullopt : std::optional(*found);
    };
    if (const auto chroma = named(name)) return Stored{*chroma, 8};
    for (const int bits : {9, 10, 12, 14, 16})
        for (const std::string_view deep : {"420", "422", "444", "mono"})
            if (name == std::string(deep) + (deep == "mono" ? "" : "p") + std::to_string(bits))
                return Stored{*named(deep), bits};
    return std::nullopt;
}

Interlacing interlacing_of(const std::string& name, const std::string& value) {
    switch (value.empty() ? '\0' : value.front()) {
    case 'p':
    case '?':
        return Interlacing::none;
    case 't':
        return Interlacing::top_first;
    case 'b':
        return Interlacing::bottom_first;
    case 'm':
        return Interlacing::mixed;
    default:
        program::refuse(name + ": its interlacing is I" + value + ", which is none of Ip, It, Ib, Im and I?");
    }
}

Planes planes_of(const Chroma& chroma, int width, int height) {
    Planes planes;
    Plane* next = planes.plane;
    *next++ = {height, width};
    if (chroma.columns > 0) {
        const auto reduced = [](int size, int by) { return (size + by - 1) / by; };
        for (int i = 0; i < 2; ++i) *next++ = {reduced(height, chroma.rows), reduced(width, chroma.columns)};
    }
    for (int i = 1; i < chroma.whole; ++i) *next++ = {height, width};
    return planes;
}

/// N:D; what is none is none's concern but the player's.
bool is_rate(std::string_view text) {
    const std::size_t colon = text.find(':');
    const auto is_number = [](std::string_view part) {
        return !part.empty() && part.find_first_not_of("0123456789") == part.npos;
    };
    return colon != text.npos && is_number(text.substr(0, colon)) && is_number(text.substr(colon + 1));
}

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

} // namespace

FrameFormat yuv_420(int width, int height) {
    for (const int size : {width, height})
        if (size < 1 || size > largest)
            program::refuse("frames of " + std::to_string(width) + " x " + std::to_string(height) +
                            ": each side takes 1 to " + std::to_string(largest) + " pixels");
    FrameFormat format;
    format.planes = planes_of(known.front(), width, height);
    return format;
}

FrameFormat parse_y4m(const std::string& name, const std::string& line) {
    const auto refuse = [&](const std::string& why) { program::refuse(name + ": " + why); };
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word != "YUV4MPEG2")
        refuse(
            "does not begin with YUV4MPEG2; raw YUV 4:2:0 frames, where a program takes them, need --width "
            "and --height");

    int width = 0, height = 0;
    std::string rate = FrameFormat{}.rate;
    std::string old_chroma = "420jpeg"; // of FFmpeg's old extension; what a header without either means
    std::optional<std::string> chroma;
    Interlacing interlacing = Interlacing::none;
    while (words >> word) {
        const std::string value = word.substr(1);
        if (word[0] == 'W')
            width = program::whole(name + ": width W", value, 1, largest);
        else if (word[0] == 'H')
            height = program::whole(name + ": height H", value, 1, largest);
        else if (word[0] == 'F' && is_rate(value))
            rate = value;
        else if (word[0] == 'C')
            chroma = value;
        else if (word[0] == 'I')
            interlacing = interlacing_of(name, value);
        else if (value.starts_with("YSCSS=") && word[0] == 'X')
            old_chroma = lower_case(value.substr(value.find('=') + 1));
    }
    if (width == 0 || height == 0) refuse("its header has no width (W) or no height (H)");
    const std::optional<Stored> stored = stored_as(chroma.value_or(old_chroma));
    if (!stored)
        refuse("its chroma format is C" + chroma.value_or(old_chroma) +
               ", which cannot be used; use 420, 422 or 444 (ffmpeg -pix_fmt yuv420p or yuv420p10le)");
    return {.planes = planes_of(stored->chroma, width, height),
            .maximum = (1 << stored->bits) - 1,
            .interlacing = interlacing,
            .rate = rate,
            .y4m = line};
}

std::string text_of(Interlacing interlacing) {
    switch (interlacing) {
    case Interlacing::top_first:
        return "top field first";
    case Interlacing::bottom_first:
        return "bottom field first";
    case Interlacing::mixed:
        return "from frame to frame";
    default:
        return "";
    }
}

FrameFormat as_y4m(FrameFormat format) {
    const Plane& luma = format.planes.plane[0];
    if (!format.is_y4m())
        format.y4m = "YUV4MPEG2 W" + std::to_string(luma.columns) + " H" + std::to_string(luma.rows) + " F" +
                     format.rate + " Ip A0:0 C420jpeg";
    return format;
}

FrameFormat as_raw(FrameFormat format) {
    format.y4m.clear();
    return format;
}

} // namespace video
