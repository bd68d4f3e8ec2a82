// domains/execution/checked_inputs.cpp - see checked_inputs.hpp.
#include "execution/checked_inputs.hpp"
#include "execution/footprint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace headrace {
namespace {

/// Kernels of this device could write what the job declares reads() of.
bool can_write_inputs(const Job& job, const DeviceInfo& device) {
    const KernelVariant* const variant = job.variant(device.technology);
    const bool has_const_views = variant && variant->bind() && device.technology != "opencl";
    return !has_const_views && !job.is_concurrent();
}

/// Calls `visit(use, part)` for each input with the elements that a task with these work units reads.
template <class Visit>
void each_input(const Job& job, IndexRange range, const DeviceInfo& device, const Visit& visit) {
    if (!can_write_inputs(job, device)) return;
    for (const Job::Use& use : job.uses()) {
        if (use.joining || use.access != Access::read) continue;
        if (const IndexRange part = elements_of(use, range); !part.empty()) visit(use, part);
    }
}

} // namespace

struct CheckedInputs::Input {
    const DomainData* data;
    IndexRange part;
    Memory* memory;    ///< what the task reads
    Bytes begin, size; ///< of the part, there
    std::byte* host;   ///< where kernels work in place; else null
    std::unique_ptr<Memory> copy;
};

Bytes CheckedInputs::bytes(const Job& job, IndexRange range, const DeviceInfo& device) {
    Bytes bytes = 0;
    each_input(job, range, device, [&](const Job::Use& use, IndexRange part) {
        bytes += part.size() * use.slice.data->element_size();
    });
    return bytes;
}

CheckedInputs::CheckedInputs(const Task& task, const Job& job, IndexRange range, Controller& controller,
                             Stream& stream)
    : task_(task), stream_(stream) {
    Device& device = controller.device();
    each_input(job, range, device.info(), [&](const Job::Use& use, IndexRange part) {
        DomainData& data = *use.slice.data;
        const Task::Binding& bound = task.bound(data);
        const Bytes begin = part.begin * data.element_size() - bound.begin;
        const Bytes size = part.size() * data.element_size();
        void* const host = data.storage().host();
        const bool is_in_place = bound.memory->address() == host;
        inputs_.push_back({&data, part, bound.memory, begin, size,
                           is_in_place ? static_cast<std::byte*>(host) : nullptr, device.allocate(size)});
    });
}

CheckedInputs::~CheckedInputs() {
    for (const Event& one : copied_) static_cast<void>(one.outcome()); // `check` reports failures
}

Event CheckedInputs::copy(std::span<const Event> after) {
    for (const Input& input : inputs_)
        copied_.push_back(
            input.host ? stream_.copy_in(*input.copy, 0, input.host + input.begin, input.size, after)
                       : stream_.copy_peer(*input.copy, 0, *input.memory, input.begin, input.size, after));
    return Event::all(copied_);
}

std::vector<std::byte> CheckedInputs::read(const Memory& memory, Bytes begin, Bytes size) {
    std::vector<std::byte> contents(size);
    stream_.copy_out(contents.data(), memory, begin, size).wait();
    return contents;
}

void CheckedInputs::check() {
    for (const Input& input : inputs_) {
        const std::vector<std::byte> before = read(*input.copy, 0, input.size);
        std::vector<std::byte> moved;
        if (!input.host) moved = read(*input.memory, input.begin, input.size);
        const std::byte* const now = input.host ? input.host + input.begin : moved.data();
        const auto changed = std::ranges::mismatch(before, std::span(now, input.size)).in1;
        if (changed == before.end()) continue;
        const auto at = static_cast<Bytes>(changed - before.begin()) / input.data->element_size();
        throw Error{ErrorKind::invalid_argument,
                    fmt::format("checked mode: the task wrote element {} of domain '{}', of which the job "
                                "declares reads()",
                                input.part.begin + at, input.data->name())}
            .in_task(task_.name());
    }
}

} // namespace headrace
