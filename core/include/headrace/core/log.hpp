// core/log.hpp - messages for operators, one line each. They go to the error stream, never to standard
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

/// Drops lines below `level`. The default is info.
HEADRACE_EXPORT void set_log_level(LogLevel level);

/// Sends lines to `sink`; an empty sink restores the error stream. Returns the previous sink.
/// Any thread may call the sink, but only one at a time. The sink must not log.
using LogSink = std::function<void(LogLevel, std::string_view)>;
HEADRACE_EXPORT LogSink set_log_sink(LogSink sink);

} // namespace headrace
