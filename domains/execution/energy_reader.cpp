// domains/execution/energy_reader.cpp - see energy_reader.hpp.
#include <headrace/internal/domains/energy_reader.hpp>

#include <utility>

namespace headrace {
namespace {

constexpr std::chrono::minutes wrap_period{1}; // at 1 kW a counter of 2^32 x 61 uJ wraps after 4 minutes

} // namespace

EnergyReader::EnergyReader(std::unique_ptr<EnergyMeter> meter) : meter_(std::move(meter)) {
    static_cast<void>(ask()); // the first reading takes longest, so it starts before there is a job
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

EnergyReader::Reading EnergyReader::ask() {
    if (!wanted_) {
        next_ = wanted_.emplace().get_future().share();
        asked_.notify_one();
    }
    return next_;
}

EnergyReader::Reading EnergyReader::fresh() {
    const std::scoped_lock lock(mutex_);
    return ask();
}

EnergyReader::Reading EnergyReader::recent() {
    const std::scoped_lock lock(mutex_);
    const bool is_recent = latest_.valid() && Clock::now() - latest_time_ < meter_->shortest() / 20;
    return is_recent ? latest_ : ask();
}

void EnergyReader::work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (true) {
        asked_.wait_for(lock, stop, wrap_period, [this] { return wanted_.has_value(); });
        if (stop.stop_requested() && !wanted_) return;
        auto promise = std::exchange(wanted_, std::nullopt);
        if (promise) {
            latest_ = next_;
            latest_time_ = Clock::now();
        }
        lock.unlock();
        Figure joules = meter_->joules();
        if (promise) promise->set_value(std::move(joules));
        lock.lock();
    }
}

} // namespace headrace
