// core/log.hpp - what an operator can act on, one line each, on the error stream and never on standard
// output.
#pragma once
#include <headrace/core/export.hpp>

#include <cstdint>
#include <functional>
#include <string_view>

namespace headrace {

enum class LogLevel : std::uint8_t { info, warning, error, off };

/// Threads: any.
HEADRACE_EXPORT void log_info(std::string_view message);
HEADRACE_EXPORT void log_warning(std::string_view message);
HEADRACE_EXPORT void log_error(std::string_view message);

/// Lines below `level` are dropped; at first: info is the lowest that is shown.
HEADRACE_EXPORT void set_log_level(LogLevel level);

/// Where lines go instead; empty: back to the error stream. Returns what was there before.
/// The sink is called by any thread, one at a time, and must not log.
using LogSink = std::function<void(LogLevel, std::string_view)>;
HEADRACE_EXPORT LogSink set_log_sink(LogSink sink);

} // namespace headrace
