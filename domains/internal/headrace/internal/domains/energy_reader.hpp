// internal/domains/energy_reader.hpp - reads a device's energy meter so that no job waits for it. Private to
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

/// A thread that reads one meter: when somebody asks, and often enough that its counter does not wrap unseen.
/// To read may take longer than a short job, and some drivers answer only when they can.
///
/// Threads   any
class HEADRACE_EXPORT EnergyReader {
public:
    using Reading = std::shared_future<Figure>;

    explicit EnergyReader(std::unique_ptr<EnergyMeter> meter);

    /// A reading that begins after this call. Those who ask before it begins share it.
    [[nodiscard]] Reading fresh();
    /// The latest one if the counter can hardly have been renewed since then, else a fresh one: for those who
    /// ask often and will seldom need it.
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
    Reading next_;                  ///< what is wanted
    Reading latest_;                ///< of those that were wanted
    Clock::time_point latest_time_; ///< when it began
    std::jthread thread_;           // last: it uses the rest
};

} // namespace headrace
