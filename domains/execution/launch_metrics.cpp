// domains/execution/launch_metrics.cpp - see launch_metrics.hpp.
#include <headrace/internal/domains/launch_metrics.hpp>

#include <utility>

namespace headrace {
namespace {

EngineMetrics metrics_of(const Engine& engine) {
    const EngineCounters counters = engine.counters();
    return {.launches = engine.launches(),
            .units = counters.units,
            .spawned = counters.spawned,
            .lane_turns = counters.rounds * engine.shape().lanes,
            .choice = {.lanes = engine.shape().lanes,
                       .groups = engine.shape().groups,
                       .refill_lanes = engine.shape().enough,
                       .inbox_units = engine.shape().liq_units,
                       .bundles = engine.bundles()}};
}

EngineMetrics operator-(const EngineMetrics& now, const EngineMetrics& before) {
    return {.launches = now.launches - before.launches,
            .units = now.units - before.units,
            .spawned = now.spawned - before.spawned,
            .lane_turns = now.lane_turns - before.lane_turns,
            .choice = now.choice};
}

} // namespace

void LaunchMetrics::begin(const Engine& engine) { before_ = metrics_of(engine); }

void LaunchMetrics::add(const Traffic& before, const Traffic& after) {
    bytes_in_ += after.in - before.in;
    bytes_out_ += after.out - before.out;
}

TaskMetrics LaunchMetrics::take(const Engine* engine, const Event& ended) {
    TaskMetrics metrics{.launches = {},
                        .bytes_in = std::exchange(bytes_in_, 0),
                        .bytes_out = std::exchange(bytes_out_, 0),
                        .engine = {}};
    if (engine) {
        metrics.engine = metrics_of(*engine) - before_;
        const auto launches = engine->launch_times();
        metrics.launches.assign(launches.begin(), launches.end());
    } else if (const auto times = ended.times()) {
        metrics.launches = {*times};
    }
    return metrics;
}

} // namespace headrace
