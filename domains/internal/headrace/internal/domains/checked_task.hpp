// internal/domains/checked_task.hpp - the checked mode (HEADRACE_CHECK=1 in the environment): finds elements
// that a task should have written, and writes outside its part. Internal to domains/.
#pragma once
#include <headrace/core/controller.hpp>
#include <headrace/core/export.hpp>
#include <headrace/domains/job.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace headrace {

class CheckedInputs;

/// True if the environment selects it; read once.
[[nodiscard]] HEADRACE_EXPORT bool is_checked_mode();
/// True if checked mode checks outputs of this job. Its units then stay on the device of their task: only
/// there are they checked.
[[nodiscard]] HEADRACE_EXPORT bool is_checked(const Job& job);

/// Stages the outputs of one task in separate memory, each as large as the domain. Of a task in windows it
/// has the part, and as much before and behind it. A pattern fills the memory around
/// the task's part, and inside it too if the task only writes. After the task, a change outside the part is
/// an error. An element of the part that still holds the pattern may have been written with that value. So
/// the task runs again on another pattern, with temporary replicas: an element with the pattern both times
/// was not written. For scatters, the part is the whole domain.
///
/// Threads   one at a time
/// Cost      for each output the domain's size of device memory and of host memory, and two copies; in
/// windows
///           three times the part; a second run of most tasks
class HEADRACE_EXPORT CheckedTask {
public:
    /// Device memory that a task with these work units needs beside its footprint.
    [[nodiscard]] static Bytes bytes(const Job& job, IndexRange range, const DeviceInfo& device,
                                     bool in_windows);

    /// `task` is bound. Allocates all device memory that the check needs, and rebinds the task's outputs to
    /// it.
    CheckedTask(Task& task, const Job& job, IndexRange range, Controller& controller, Stream& stream,
                bool in_windows);
    ~CheckedTask();
    CheckedTask(const CheckedTask&) = delete; // copies go to its buffers
    CheckedTask& operator=(const CheckedTask&) = delete;

    /// Enqueues the contents of the outputs, and copies of inputs, before the task runs.
    [[nodiscard]] Event fill(std::span<const Event> after);
    /// Called after the task has run, with its final range. `run_again` runs it again on its current
    /// bindings, and blocks. Then copies the outputs to the domains. For each domain that the task only
    /// writes or scatters to, `note` gets the written elements of the part and its contents. Blocks. Throws
    /// invalid_argument with the domain and the first element written outside the part, or of an input.
    using Note = std::function<void(const Job::Use&, IndexRange part, const std::vector<bool>& written,
                                    std::span<const std::byte> contents)>;
    void check(IndexRange range, const std::function<void()>& run_again, const Note& note);

private:
    struct Output;

    /// With the pattern; its part with what was there before, if the task may read that.
    Event fill(const Output& output, std::byte pattern, std::span<const Event> after);
    [[nodiscard]] std::vector<std::byte> read(const Output& output);
    void check_outside(const Output& output) const;
    [[nodiscard]] bool is_suspicious(const Output& output, IndexRange range) const;
    void prepare_second_run();
    void take_up(const Output& output, IndexRange part, const std::vector<bool>& written);

    Task& task_;
    const Job& job_;
    Stream& stream_;
    std::unique_ptr<CheckedInputs> inputs_;
    std::vector<Output> outputs_;
    std::vector<std::unique_ptr<Memory>> scratch_; ///< in place of private replicas, in a second run
    std::vector<Event> requests_;
};

} // namespace headrace
