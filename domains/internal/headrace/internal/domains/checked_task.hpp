// internal/domains/checked_task.hpp - the checked mode (HEADRACE_CHECK=1 in the environment): what a task was
// to write and did not, and what it wrote that was not its to write. Private to domains/.
#pragma once
#include <headrace/core/controller.hpp>
#include <headrace/core/export.hpp>
#include <headrace/domains/job.hpp>

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace headrace {

/// True if the environment asks for it; read once.
[[nodiscard]] HEADRACE_EXPORT bool is_checked_mode();

/// The outputs of one task, staged in memory of their own: as large as the domain, and filled with a pattern
/// all around the task's part, and within it if the task only writes. When the task has ended, whatever
/// differs outside was written there. Elements of the part that still are the pattern may have been written
/// with just that value. So the task runs once more on another pattern, with its replicas thrown away: an
/// element that is the pattern both times was not written. What a task scatters is staged as a whole.
///
/// Threads   one at a time
/// Cost      for each output the domain's size of device memory and of host memory, and two copies; a second
///           run of most tasks
class HEADRACE_EXPORT CheckedTask {
public:
    /// `task` is bound. Its outputs are bound anew, to staged memory.
    CheckedTask(Task& task, const Job& job, IndexRange range, Controller& controller, Stream& stream);
    ~CheckedTask();
    CheckedTask(const CheckedTask&) = delete; // copies go to its buffers
    CheckedTask& operator=(const CheckedTask&) = delete;

    /// Enqueues what outputs hold before the task runs.
    [[nodiscard]] Event fill(std::span<const Event> after);
    /// The task, whose range has come to be `range`, has run. `run_again` runs it once more on what it is
    /// bound to then, and blocks. Takes the outputs up. `note` is told which elements of its part the task
    /// has written, and the contents of the part, of each domain that it only writes or scatters to. Blocks.
    /// Throws invalid_argument that names the domain and the first element written outside of the part.
    using Note = std::function<void(const Job::Use&, IndexRange part, const std::vector<bool>& written,
                                    std::span<const std::byte> contents)>;
    void check(IndexRange range, const std::function<void()>& run_again, const Note& note);

private:
    struct Output;

    [[nodiscard]] std::vector<std::byte> read(const Output& output);
    void check_outside(const Output& output) const;
    [[nodiscard]] bool is_suspicious(const Output& output, IndexRange range) const;
    void prepare_second_run();
    void take_up(const Output& output, IndexRange part, const std::vector<bool>& written);

    Task& task_;
    const Job& job_;
    Controller& controller_;
    Stream& stream_;
    std::vector<Output> outputs_;
    std::vector<std::unique_ptr<Memory>> scratch_; ///< in place of replicas
    std::vector<Event> requests_;
};

} // namespace headrace
