// tests/fuzz/read_frame_names.cpp - any bytes as a pattern of names in the first line and a file's name in
// the second: refused with an Error, or the pattern knows its own names.
#include "video/frame_names.hpp"
#include <headrace/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const std::size_t end = text.find('\n');
    try {
        const auto names = video::FrameNames::parse(text.substr(0, end));
        if (!names) return 0;
        const auto file_name = [&](std::int64_t number) {
            return std::filesystem::path(names->name_of(number)).filename().string();
        };
        for (const std::int64_t number : {std::int64_t{0}, std::int64_t{7}, std::int64_t{123'456'789'012}})
            if (names->number_of(file_name(number)) != number) std::abort();
        if (end == text.npos) return 0;
        const std::string other = text.substr(end + 1);
        if (const auto number = names->number_of(other); number && file_name(*number) != other) std::abort();
    } catch (const headrace::Error&) { // as it should; all else is a crash
    }
    return 0;
}
