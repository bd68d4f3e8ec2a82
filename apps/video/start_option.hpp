// apps/video/start_option.hpp - --start of the programs that take frames in files of their own.
#pragma once
#include "program/command_line.hpp"
#include "program/numbers.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace video {

/// `start` becomes what the user says; nothing unless it is said.
inline void declare_start(program::CommandLine& line, std::optional<std::int64_t>& start) {
    line.option("--start", "", "N", "First number of frame_%04d.png; default: the least that is there",
                [&start](const std::string& number) {
                    constexpr std::int64_t most = 1'000'000'000'000'000;
                    if (!number.empty()) start = program::whole<std::int64_t>("--start", number, 0, most);
                });
}

} // namespace video
