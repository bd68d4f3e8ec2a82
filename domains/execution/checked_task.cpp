// domains/execution/checked_task.cpp - see checked_task.hpp.
#include "execution/checked_inputs.hpp"
#include "execution/footprint.hpp"
#include <headrace/internal/domains/checked_task.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace headrace {
namespace {

constexpr std::byte first_pattern{0xA5}, second_pattern{0x5B};
/// What is aligned in the domain is aligned in staged memory, too.
constexpr Bytes alignment = 64;
/// Bytes before and behind the domain, if kernels take addresses.
constexpr Bytes guard_bytes = 4096;

bool is_pattern(std::span<const std::byte> bytes, std::byte pattern) {
    return std::ranges::all_of(bytes, [=](std::byte byte) { return byte == pattern; });
}

/// The task may write elements, of a part or anywhere.
bool is_output(const Job::Use& use) {
    return use.joining ? use.joining == &joins_scattered() : writes(use.access);
}

/// The elements of an output that belong to a task with these work units. Any task may scatter any element.
IndexRange part_of(const Job::Use& use, IndexRange units) {
    return use.joining ? IndexRange{0, use.slice.data->extent().size()} : elements_of(use, units);
}

/// The staged bytes, as offsets in the domain. Both may lie outside of it; an offset before it wraps around.
struct StagedRange {
    Bytes begin, size;
};

/// Of an output of which a task has this part: the whole domain. In windows there is room for less: the part,
/// and as many bytes before and behind it.
StagedRange staged_range(const Job::Use& use, IndexRange part, const DeviceInfo& device, bool in_windows) {
    const DomainData& data = *use.slice.data;
    if (use.joining || !in_windows) {
        const Bytes guard = device.has_addresses ? guard_bytes : 0;
        return {Bytes{0} - guard, data.bytes() + 2 * guard};
    }
    const Bytes first = part.begin * data.element_size() / alignment * alignment;
    const Bytes size = part.end * data.element_size() - first;
    const Bytes guard = std::max(alignment, (size + alignment - 1) / alignment * alignment);
    return {first - guard, size + 2 * guard};
}

/// The task must not read it: the part holds the pattern.
bool is_poisoned(const Job::Use& use) { return is_output(use) && (use.joining || !reads(use.access)); }

/// Its private replica has a substitute in a second run, so that nothing is added twice.
bool needs_scratch(const Job& job, const Job::Use& use) {
    return use.joining && !is_output(use) && std::ranges::any_of(job.uses(), is_poisoned);
}

} // namespace

bool is_checked_mode() {
    static const bool is_asked = [] {
        const char* const value = std::getenv("HEADRACE_CHECK");
        return value != nullptr && !std::string_view(value).empty() && std::string_view(value) != "0";
    }();
    return is_asked;
}

bool is_checked(const Job& job) { return is_checked_mode() && std::ranges::any_of(job.uses(), is_output); }

struct CheckedTask::Output {
    const Job::Use* use;
    IndexRange part;     ///< elements, when the task began
    Memory* replica;     ///< the memory that the part belongs to
    Bytes replica_begin; ///< its first byte, in the domain
    Bytes staged_begin;  ///< the first byte of `staged`, in the domain; may wrap around
    std::unique_ptr<Memory> staged;
    std::vector<std::byte> first = {}; ///< contents after the first run

    [[nodiscard]] DomainData& data() const { return *use->slice.data; }
    /// Any task may write any element of the domain.
    [[nodiscard]] bool is_scattered() const { return use->joining != nullptr; }
    [[nodiscard]] bool is_poisoned() const { return headrace::is_poisoned(*use); }
    [[nodiscard]] IndexRange part_of(IndexRange units) const { return headrace::part_of(*use, units); }
    /// The host's address of `replica`, if kernels work on it in place; else null.
    [[nodiscard]] std::byte* in_place() const {
        void* const host = data().storage().host();
        return replica->address() == host ? static_cast<std::byte*>(host) : nullptr;
    }
    [[nodiscard]] Bytes offset_in_replica(std::uint64_t element) const {
        return element * data().element_size() - replica_begin;
    }
    [[nodiscard]] Bytes offset(std::uint64_t element) const {
        return element * data().element_size() - staged_begin;
    }
    [[nodiscard]] Bytes size_of(IndexRange elements) const { return elements.size() * data().element_size(); }
    [[nodiscard]] std::span<const std::byte> element(std::span<const std::byte> all, std::uint64_t i) const {
        return all.subspan(offset(i), data().element_size());
    }
};

Bytes CheckedTask::bytes(const Job& job, IndexRange range, const DeviceInfo& device, bool in_windows) {
    Bytes bytes = CheckedInputs::bytes(job, range, device);
    for (const Job::Use& use : job.uses()) {
        if (is_output(use)) bytes += staged_range(use, part_of(use, range), device, in_windows).size;
        if (needs_scratch(job, use)) bytes += use.joining->replica_bytes(*use.slice.data, device);
    }
    return bytes;
}

CheckedTask::CheckedTask(Task& task, const Job& job, IndexRange range, Controller& controller, Stream& stream,
                         bool in_windows)
    : task_(task),
      job_(job),
      stream_(stream),
      inputs_(std::make_unique<CheckedInputs>(task, job, range, controller, stream)) {
    Device& device = controller.device();
    for (const Job::Use& use : job.uses()) {
        if (needs_scratch(job, use))
            scratch_.push_back(device.allocate(use.joining->replica_bytes(*use.slice.data, device.info())));
        if (!is_output(use)) continue;
        const Task::Binding& bound = task.bound(*use.slice.data);
        const IndexRange part = part_of(use, range);
        const StagedRange staged = staged_range(use, part, device.info(), in_windows);
        outputs_.push_back({.use = &use,
                            .part = part,
                            .replica = bound.memory,
                            .replica_begin = bound.begin,
                            .staged_begin = staged.begin,
                            .staged = device.allocate(staged.size)});
        task.rebind(*use.slice.data, *outputs_.back().staged, staged.begin);
    }
}

CheckedTask::~CheckedTask() {
    for (const Event& request : requests_) static_cast<void>(request.outcome()); // `check` reports failures
}

Event CheckedTask::fill(std::span<const Event> after) {
    std::vector<Event> filled(after.begin(), after.end());
    for (const Output& output : outputs_) filled.push_back(fill(output, first_pattern, after));
    filled.push_back(inputs_->copy(after));
    return Event::all(filled);
}

Event CheckedTask::fill(const Output& output, std::byte pattern, std::span<const Event> after) {
    requests_.push_back(stream_.fill(*output.staged, 0, output.staged->size(), Pattern(pattern), after));
    if (!output.is_poisoned() && !output.part.empty()) {
        const Bytes to = output.offset(output.part.begin), size = output.size_of(output.part);
        const Bytes from = output.offset_in_replica(output.part.begin);
        const Event before = requests_.back();
        requests_.push_back(
            output.in_place()
                ? stream_.copy_in(*output.staged, to, output.in_place() + from, size, {&before, 1})
                : stream_.copy_peer(*output.staged, to, *output.replica, from, size, {&before, 1}));
    }
    return requests_.back();
}

std::vector<std::byte> CheckedTask::read(const Output& output) {
    std::vector<std::byte> contents(output.staged->size());
    const Event came = stream_.copy_out(contents.data(), *output.staged, 0, contents.size());
    came.wait();
    return contents;
}

void CheckedTask::check_outside(const Output& output) const {
    const std::span<const std::byte> contents = output.first;
    const Bytes begin = output.offset(output.part.begin), end = output.offset(output.part.end);
    const auto is_written = [](std::byte byte) { return byte != first_pattern; };
    const auto fail = [&](Bytes at) {
        const Bytes size = output.data().element_size();
        const std::string domain = "of domain '" + output.data().name() + "'";
        const Bytes in_domain = output.staged_begin + at; // wraps around before the begin
        std::string where = "bytes beyond the end " + domain;
        if (in_domain < output.data().bytes())
            where = "element " + std::to_string(in_domain / size) + " " + domain;
        else if (at < begin)
            where = "bytes before the begin " + domain;
        throw Error{ErrorKind::invalid_argument, "checked mode: the task wrote " + where +
                                                     ", whose part is [" + std::to_string(output.part.begin) +
                                                     ", " + std::to_string(output.part.end) + ")"}
            .in_task(task_.name());
    };
    const auto before = std::ranges::find_if(contents.first(begin), is_written);
    if (const auto at = static_cast<Bytes>(before - contents.begin()); at < begin) fail(at);
    const auto behind =
        std::find_if(contents.begin() + static_cast<std::ptrdiff_t>(end), contents.end(), is_written);
    if (behind != contents.end()) fail(static_cast<Bytes>(behind - contents.begin()));
}

/// True if some of its elements may not have been written.
bool CheckedTask::is_suspicious(const Output& output, IndexRange range) const {
    if (!output.is_poisoned()) return false;
    const IndexRange part = output.part_of(range);
    for (std::uint64_t i = part.begin; i < part.end; ++i)
        if (is_pattern(output.element(output.first, i), first_pattern)) return true;
    return false;
}

void CheckedTask::prepare_second_run() {
    auto scratch = scratch_.begin();
    for (const Job::Use& use : job_.uses()) {
        if (!needs_scratch(job_, use)) continue;
        use.joining->begin(*use.slice.data, **scratch, stream_).wait();
        task_.rebind(*use.slice.data, **scratch++, 0);
    }
    // What the task updates is as it was, too: otherwise it might write other values, or elsewhere.
    for (const Output& output : outputs_) fill(output, second_pattern, {}).wait();
}

/// Copies the results of the first run into `replica`. If other tasks may write elements of the part as well,
/// copies only the written elements.
void CheckedTask::take_up(const Output& output, IndexRange part, const std::vector<bool>& written) {
    const Bytes begin = output.offset_in_replica(part.begin), size = output.data().element_size();
    const auto from = std::span(output.first).subspan(output.offset(part.begin), output.size_of(part));
    std::vector<std::byte> copy(output.in_place() ? 0 : from.size());
    std::byte* const replica = output.in_place() ? output.in_place() + begin : copy.data();
    const bool takes_all = written.empty() || !(output.is_scattered() || output.use->is_of_one_replica());
    if (!output.in_place() && !takes_all)
        stream_.copy_out(replica, *output.replica, begin, from.size()).wait();
    for (std::uint64_t i = 0; i < part.size(); ++i)
        if (takes_all || written[i]) std::memcpy(replica + i * size, from.data() + i * size, size);
    if (!output.in_place()) stream_.copy_in(*output.replica, begin, replica, from.size()).wait();
}

void CheckedTask::check(IndexRange range, const std::function<void()>& run_again, const Note& note) {
    inputs_->check();
    for (Output& output : outputs_) {
        output.first = read(output);
        check_outside(output);
    }
    const bool runs_again =
        std::ranges::any_of(outputs_, [&](const Output& output) { return is_suspicious(output, range); });
    if (runs_again) {
        prepare_second_run();
        run_again();
    }
    for (const Output& output : outputs_) {
        const IndexRange part = output.part_of(range);
        if (part.empty()) continue;
        std::vector<bool> written; // of a domain that the task only writes or scatters to
        if (output.is_poisoned()) {
            const std::vector<std::byte> second = runs_again ? read(output) : std::vector<std::byte>{};
            for (std::uint64_t i = part.begin; i < part.end; ++i)
                written.push_back(!is_pattern(output.element(output.first, i), first_pattern) ||
                                  !is_pattern(output.element(second, i), second_pattern));
            note(*output.use, part, written,
                 std::span(output.first).subspan(output.offset(part.begin), output.size_of(part)));
        }
        take_up(output, part, written);
    }
}

} // namespace headrace
