// core/base/log.cpp - see log.hpp. Only this file includes spdlog, which takes seconds to compile.
#include <headrace/core/log.hpp>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <mutex>
#include <utility>

namespace headrace {

namespace {

struct Log {
    Log() : lines("headrace", std::make_shared<spdlog::sinks::stderr_color_sink_mt>()) {
        lines.set_pattern("headrace: %^%l%$: %v");
        lines.flush_on(spdlog::level::info);
    }
    spdlog::logger lines; // not in spdlog's registry, which belongs to the program
    std::atomic<LogLevel> lowest = LogLevel::info;
    std::mutex mutex;
    LogSink sink;
};

Log& the_log() {
    static Log& log = *new Log; // never destroyed, because threads may log while the program ends
    return log;
}

void write(LogLevel level, std::string_view message) {
    Log& log = the_log();
    // relaxed: only a switch; it publishes no other data.
    if (level < log.lowest.load(std::memory_order_relaxed)) return;
    {
        const std::scoped_lock lock(log.mutex);
        if (log.sink) return log.sink(level, message);
    }
    constexpr spdlog::level::level_enum levels[] = {spdlog::level::info, spdlog::level::warn,
                                                    spdlog::level::err};
    log.lines.log(levels[static_cast<unsigned>(level)],
                  spdlog::string_view_t(message.data(), message.size()));
}

} // namespace

void log_info(std::string_view message) { write(LogLevel::info, message); }
void log_warning(std::string_view message) { write(LogLevel::warning, message); }
void log_error(std::string_view message) { write(LogLevel::error, message); }

void set_log_level(LogLevel level) { the_log().lowest.store(level, std::memory_order_relaxed); }

LogSink set_log_sink(LogSink sink) {
    Log& log = the_log();
    const std::scoped_lock lock(log.mutex);
    return std::exchange(log.sink, std::move(sink));
}

} // namespace headrace
