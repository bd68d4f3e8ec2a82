// tests/core/log_lines.hpp - what is logged while a test looks.
#pragma once
#include <headrace/core/log.hpp>

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::test {

/// Lines of one level, instead of where they would go, while it lives.
class LogLines {
public:
    explicit LogLines(LogLevel wanted)
        : sink_(set_log_sink([this, wanted](LogLevel level, std::string_view line) {
              const std::scoped_lock lock(mutex_);
              if (level == wanted) lines_.emplace_back(line);
          })) {}
    ~LogLines() { set_log_sink(sink_); }
    LogLines(const LogLines&) = delete; // the sink holds its address
    LogLines& operator=(const LogLines&) = delete;

    /// So far.
    [[nodiscard]] std::vector<std::string> lines() const {
        const std::scoped_lock lock(mutex_);
        return lines_;
    }
    /// Since it was asked the last time.
    [[nodiscard]] std::vector<std::string> take() {
        const std::scoped_lock lock(mutex_);
        return std::exchange(lines_, {});
    }

private:
    mutable std::mutex mutex_; // guards what follows
    std::vector<std::string> lines_;
    LogSink sink_; // what was there before; last: lines may come at once
};

} // namespace headrace::test
