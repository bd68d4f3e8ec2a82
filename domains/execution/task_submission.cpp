// domains/execution/task_submission.cpp - see task_submission.hpp.
#include "execution/footprint.hpp"
#include "execution/task_metrics.hpp"
#include <headrace/core/log.hpp>
#include <headrace/internal/domains/task_submission.hpp>

#include <optional>
#include <utility>

namespace headrace {
namespace {

/// A task of transferred units may have any of the job's seeds behind them.
IndexRange seeds_of(const JobExecution& job, const WorkRange& work_range) {
    return work_range.units ? job.job().units() : work_range.range;
}

} // namespace

void TaskSubmission::expect(const Job& job) {
    in_windows_ = !fits_whole(job, info());
    lacks_room_to_check_ = false;
}

HeldTask TaskSubmission::make(const WorkRange& work_range) const {
    return {.work_range = work_range,
            .task = std::make_unique<Task>(task_name(job(), work_range), seeds_of(job(), work_range),
                                           slots_.device())};
}

TaskSubmission::Inputs TaskSubmission::bind(HeldTask& held) {
    Inputs inputs;
    Task& task = *held.task;
    Controller& controller = slots_.controller();
    std::erase_if(filled_, [](const Event& one) { return one.done(); });
    task.unbind(); // when there was not enough memory before
    const IndexRange range = seeds_of(job(), held.work_range);
    for (const Job::Use& use : job().job().uses()) {
        DomainData& data = *use.slice.data;
        slots_.note(use.slice.data);
        if (use.joining) {
            const auto replica = data.replica(*use.joining, controller, stream_);
            inputs.replicas.push_back(replica.ready);
            filled_.push_back(replica.ready);
            task.bind({&data, use.access, use.joining, replica.memory, 0});
            continue;
        }
        const IndexRange part = elements_of(use, range);
        if (part.empty()) { // the kernel touches nothing of it
            task.bind({&data, use.access, nullptr, &controller.memory(data.storage()), 0, part});
            continue;
        }
        const Bytes begin = part.begin * data.element_size(), end = part.end * data.element_size();
        const Tile tile = data.storage().tile(begin, end);
        inputs.uses.push_back({tile, job().access_of(use)});
        if (!in_windows_) {
            task.bind({&data, use.access, nullptr, &controller.memory(data.storage()), 0, part});
            continue;
        }
        const Controller::Window window = controller.window(tile);
        task.bind({&data, use.access, nullptr, &window.memory, window.begin, part});
    }
    return inputs;
}

Event TaskSubmission::submit(HeldTask& held, const Inputs& inputs, CheckedTask* check, const Start& start,
                             LaunchMetrics& metrics) {
    std::optional<Event> started;
    Controller& controller = slots_.controller();
    const Traffic before = controller.traffic();
    const Event submitted =
        controller.submit(held.task->name(), inputs.uses,
                          [&](std::span<const Event> after) {
                              std::vector<Event> ready(after.begin(), after.end());
                              ready.insert(ready.end(), inputs.replicas.begin(), inputs.replicas.end());
                              if (check) ready = {check->fill(ready)};
                              started = start(ready);
                              filled_.clear(); // it ends after these
                              return held.done.event();
                          },
                          {.unit = "tasks", .part_of = job().span()});
    metrics.add(before, controller.traffic()); // near enough: jobs that overlap may share the difference
    return started.value_or(submitted);
}

void TaskSubmission::wait_for_replicas() {
    for (const Event& one : std::exchange(filled_, {})) static_cast<void>(one.outcome());
}

void TaskSubmission::report_launch(const HeldTask& held, std::vector<Event> inputs) const {
    const WorkRange& work_range = held.work_range;
    const std::size_t number = slots_.number();
    std::erase_if(inputs, [](const Event& event) { return event.done(); });
    job().launched(number, work_range, work_range.range.size(), inputs.size());
    if (!inputs.empty())
        Event::all(inputs).then([job = engine_.job(), number, work_range](const ErrorPtr&) {
            job->inputs_came(number, work_range);
        });
}

void TaskSubmission::fit(HeldTask& held) const {
    if (!in_windows_) return;
    const auto bytes = [&] {
        const IndexRange range = held.work_range.range;
        const Bytes to_check =
            checks(held.work_range) ? CheckedTask::bytes(job().job(), range, info(), true) : 0;
        return footprint(job().job(), info(), range, true) + to_check;
    };
    while (bytes() > most_in_windows(info()) && halve(held)) {
    }
}

bool TaskSubmission::makes_do_with_less(HeldTask& held) {
    if (in_windows_) return halve(held);
    return in_windows_ = can_use_windows(job().job(), info());
}

bool TaskSubmission::goes_unchecked() {
    if (!is_checked_mode() || lacks_room_to_check_) return false;
    log_warning("checked mode: tasks of job '" + job().job().name() + "' are not checked on " + info().id +
                ", which has no room for copies of their outputs");
    return lacks_room_to_check_ = true;
}

/// The task goes back in part, if its job may be cut. False if that is not possible.
bool TaskSubmission::halve(HeldTask& held) const {
    const IndexRange range = held.work_range.range;
    if (held.work_range.units) return false;
    const std::uint64_t cut =
        job().transfers().make_way(slots_.number(), range, range.begin + range.size() / 2);
    if (cut == range.end) return false;
    held = make(IndexRange{range.begin, cut});
    slots_.jobs().wake_all(); // others may have the rest
    return true;
}

} // namespace headrace
