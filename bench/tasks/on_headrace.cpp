// bench/tasks/on_headrace.cpp - tasks of Headrace's levels: jobs, launches, host tasks.
#include "programs.hpp"

#include <headrace/core/host_lane.hpp>
#include <headrace/domains/grids/launch.hpp>
#include <headrace/headrace.hpp>

#include <optional>
#include <stdexcept>
#include <utility>

namespace bench {
namespace {

using namespace headrace;

/// The lines as each level sees them, each a tile of its own. Whoever uses them has them ready when it
/// returns.
struct Data {
    explicit Data(std::span<Line> all)
        : lines(all),
          domain("lines", all),
          first("first line", all.first(1)),
          array("lines", {static_cast<std::int64_t>(all.size())}, all.data()) {
        for (std::size_t i = 0; i < lines.size(); ++i) {
            parts.push_back(rows(array, static_cast<std::int64_t>(i), static_cast<std::int64_t>(i) + 1));
            uses.push_back({parts.back().tile(), Access::update});
        }
    }

    std::span<Line> lines;
    Domain<Line> domain, first;
    Array<Line> array;
    std::vector<Part<Line>> parts;
    std::vector<TileUse> uses;

    [[nodiscard]] View<Line> view() const { return {lines.data(), {{lines.size(), 1, 1}}}; }
    [[nodiscard]] Line& line(Pattern pattern, std::size_t i) const { return lines[pattern.is_chain ? 0 : i]; }
    [[nodiscard]] std::span<const TileUse> uses_of(Pattern pattern, std::size_t i) const {
        if (!pattern.has_data) return {};
        return std::span(uses).subspan(pattern.is_chain ? 0 : i, 1);
    }
};

/// A job of so many tasks, each of a lane group's work units, which is the least that a policy's task has.
/// Its kernel is the engine's or a function of the host.
Job job_of_tasks(const Data& data, std::uint64_t units, bool has_data, bool has_kernel) {
    const std::uint64_t tasks = data.lines.size();
    Job job("marks", tasks * units);
    job.grain(units).policy("dynamic:" + std::to_string(tasks));
    if (has_data)
        job.updates(part(data.domain, [units](IndexRange range) {
            return IndexRange{range.begin / units, range.end / units};
        }));
    const auto view = [view = data.view(), domain = data.domain, has_data](const Task& task) {
        return has_data ? task.update(domain) : view;
    };
    if (has_kernel)
        job.kernel([view, units](Task& task) { return MarkLines{view(task), units}; });
    else
        job.host_function("cpu", [view, units](Task& task, const NativeStream&) {
            ++view(task)[task.range().begin / units].marks;
        });
    return job;
}

void run_job_of_tasks(Runtime& runtime, const Data& data, bool has_data, bool has_kernel) {
    const std::uint64_t units = runtime.devices().front()->lane_group;
    const JobHandle job = runtime.submit(job_of_tasks(data, units, has_data, has_kernel));
    job.wait();
    if (job.report().devices.front().tasks != data.lines.size())
        throw std::runtime_error("a job has another number of tasks than it was to have");
}

/// A job of one task for every link.
void chain_of_jobs(Runtime& runtime, const Data& data, bool has_data) {
    std::optional<JobHandle> last;
    for (std::size_t i = 0; i < data.lines.size(); ++i) {
        Job job("mark", 1);
        if (has_data)
            job.updates(data.first).in_order().kernel([first = data.first](Task& task) {
                return MarkLines{task.update(first), 1};
            });
        else
            job.kernel([view = data.view()](Task&) { return MarkLines{view, 1}; });
        if (!has_data && last) job.after(*last);
        last.emplace(runtime.submit(job));
    }
    last->wait();
}

void launches(Controller& controller, const Data& data, Pattern pattern) {
    for (std::size_t i = 0; i < data.lines.size(); ++i)
        controller.launch("mark", data.uses_of(pattern, i),
                          [&line = data.line(pattern, i)](const NativeStream&) { ++line.marks; });
    controller.wait_all();
}

void grids(Controller& controller, Data& data, bool is_chain) {
    for (std::size_t i = 0; i < data.parts.size(); ++i) {
        const std::size_t number = is_chain ? 0 : i;
        launch<MarkLine>(controller, grid(1), data.parts[number], static_cast<std::int64_t>(number));
    }
    controller.wait_all();
}

void host_tasks(HostLane& lane, const Data& data, Pattern pattern) {
    for (std::size_t i = 0; i < data.lines.size(); ++i)
        lane.run("mark", data.uses_of(pattern, i), [&line = data.line(pattern, i)] { ++line.marks; });
    lane.wait_all();
}

struct Machine {
    Runtime runtime{RuntimeOptions{.devices = "cpu"}};
    std::unique_ptr<Device> device = std::move(select_devices("cpu").devices.at(0));
    Controller controller{*device};
    HostLane lane{"marks"};
};

} // namespace

std::vector<Program> on_headrace(std::span<Line> lines) {
    const auto machine = std::make_shared<Machine>();
    const auto data = std::make_shared<Data>(lines);
    std::vector<Program> programs;
    for (const bool has_data : {false, true}) {
        const Pattern independent{false, has_data};
        programs.push_back({"Headrace, a job's tasks", independent,
                            [=] { run_job_of_tasks(machine->runtime, *data, has_data, true); }});
        programs.push_back({"Headrace, a job's host functions", independent,
                            [=] { run_job_of_tasks(machine->runtime, *data, has_data, false); }});
        programs.push_back({"Headrace, a job each", {true, has_data}, [=] {
                                chain_of_jobs(machine->runtime, *data, has_data);
                            }});
        for (const bool is_chain : {false, true}) {
            const Pattern pattern{is_chain, has_data};
            programs.push_back(
                {"Headrace, launches", pattern, [=] { launches(machine->controller, *data, pattern); }});
            if (has_data)
                programs.push_back({"Headrace, kernels over a grid", pattern,
                                    [=] { grids(machine->controller, *data, is_chain); }});
            programs.push_back(
                {"Headrace, host tasks", pattern, [=] { host_tasks(machine->lane, *data, pattern); }});
        }
    }
    return programs;
}

} // namespace bench
