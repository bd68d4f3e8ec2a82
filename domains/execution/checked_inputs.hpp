// domains/execution/checked_inputs.hpp - checked mode: a task writes nothing of what its job only reads.
// Internal to domains/.
#pragma once
#include <headrace/core/controller.hpp>
#include <headrace/domains/job.hpp>

#include <memory>
#include <span>
#include <vector>

namespace headrace {

/// Copies of one task's inputs, of kernels that could write them: host functions and kernels in OpenCL C. The
/// views of other kernels are const. Inputs of a concurrent job are left out, because other jobs may write
/// them meanwhile.
///
/// Threads   one at a time
class CheckedInputs {
public:
    /// Device memory for the copies.
    [[nodiscard]] static Bytes bytes(const Job& job, IndexRange range, const DeviceInfo& device);

    /// `task` is bound. Allocates the copies.
    CheckedInputs(const Task& task, const Job& job, IndexRange range, Controller& controller, Stream& stream);
    ~CheckedInputs();
    CheckedInputs(const CheckedInputs&) = delete; // copies go to its memory
    CheckedInputs& operator=(const CheckedInputs&) = delete;

    /// Enqueues the copies, before the task runs.
    [[nodiscard]] Event copy(std::span<const Event> after);
    /// Called after the task has run. Blocks. Throws invalid_argument with the domain and the first element
    /// that has changed.
    void check();

private:
    struct Input;

    [[nodiscard]] std::vector<std::byte> read(const Memory& memory, Bytes begin, Bytes size);

    const Task& task_;
    Stream& stream_;
    std::vector<Input> inputs_;
    std::vector<Event> copied_;
};

} // namespace headrace
