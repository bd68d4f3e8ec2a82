// apps/sobel/options.hpp - what a user may ask of headrace-sobel.
#pragma once
#include "program/command_line.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace sobel {

/// Where frames come from or go to, as a user writes it.
struct Place {
    enum class Kind : std::uint8_t {
        stream,   ///< a file or pipe
        memory,   ///< memory:N: N frames in memory that the device reaches; nothing is copied on the host
        pictures, ///< files with numbers in their names
        copied,   ///< copied:N: N frames in ordinary memory, copied by host tasks
    };
    Kind kind = Kind::stream;
    std::string file;
    int frames = 0; ///< in memory

    /// Errors: invalid_argument
    [[nodiscard]] static Place parse(const std::string& option, const std::string& text, bool is_input);
};

struct Options {
    std::string input, output;
    int width = 0, height = 0;         ///< 0: the stream says it
    std::int64_t frames = 0;           ///< 0: all
    std::optional<std::int64_t> start; ///< of pictures' numbers; nothing: the least that is there
    int in_flight = 4;

    /// The variables are this one's, which stays where it is.
    void declare(program::CommandLine& line);
};

} // namespace sobel
