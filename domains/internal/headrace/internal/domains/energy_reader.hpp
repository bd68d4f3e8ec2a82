// internal/domains/energy_reader.hpp - reads a device's energy meter without delay for jobs. Internal to
// domains/.
#pragma once
#include <headrace/core/energy_meter.hpp>
#include <headrace/core/export.hpp>

#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

namespace headrace {

/// A thread that reads one meter: on request, and often enough to see every wrap of its counter. A reading
/// may take longer than a short job, and some drivers answer late.
///
/// Threads   any
class HEADRACE_EXPORT EnergyReader {
public:
    using Reading = std::shared_future<Figure>;

    explicit EnergyReader(std::unique_ptr<EnergyMeter> meter);

    /// A reading that begins after this call. Callers before its begin share it.
    [[nodiscard]] Reading fresh();
    /// The latest reading if it is younger than 1/20 of `shortest()`, else a fresh one. For callers that ask
    /// often and rarely use the result.
    [[nodiscard]] Reading recent();
    /// See EnergyMeter.
    [[nodiscard]] std::chrono::nanoseconds shortest() const noexcept { return meter_->shortest(); }

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] Reading ask(); // with mutex_ held
    void work(const std::stop_token& stop);

    const std::unique_ptr<EnergyMeter> meter_;
    std::mutex mutex_;
    std::condition_variable_any asked_;
    std::optional<std::promise<Figure>> wanted_;
    Reading next_;                  ///< the requested reading
    Reading latest_;                ///< of those that were requested
    Clock::time_point latest_time_; ///< when it began
    std::jthread thread_;           // last: it uses the rest
};

} // namespace headrace
