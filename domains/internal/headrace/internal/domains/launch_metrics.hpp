// internal/domains/launch_metrics.hpp - what the tasks of a launch took, as their job's report gets it.
// Internal to domains/.
#pragma once
#include <headrace/core/controller.hpp>
#include <headrace/core/export.hpp>
#include <headrace/internal/domains/job_account.hpp>
#include <headrace/persistent/engine.hpp>

namespace headrace {

/// An engine counts over all its tasks: a task has the difference between its begin and its end.
///
/// Threads   one at a time: the device's
class HEADRACE_EXPORT LaunchMetrics {
public:
    /// The next launches of this engine are those of the tasks.
    void begin(const Engine& engine);
    /// Inputs and outputs that the controller moved meanwhile.
    void add(const Traffic& before, const Traffic& after);
    /// The last launch has ended. `engine` is null for a host function. Begins anew.
    [[nodiscard]] TaskMetrics take(const Engine* engine, const Event& ended);
    void forget() { bytes_in_ = bytes_out_ = 0; }

private:
    Bytes bytes_in_ = 0, bytes_out_ = 0;
    EngineMetrics before_;
};

} // namespace headrace
