// bench/tasks/on_starpu.cpp - tasks of StarPU, on the processor.
#include "../starpu/session.hpp"
#include "programs.hpp"

#include <starpu.h>

#include <string>
#include <utility>

namespace bench {
namespace {

/// Lines as data of StarPU, each for itself.
class Handles {
public:
    Handles(const char* scheduler, std::span<Line> lines) : session_(scheduler, {}), handles_(lines.size()) {
        for (std::size_t i = 0; i < lines.size(); ++i)
            starpu_variable_data_register(&handles_[i], STARPU_MAIN_RAM,
                                          reinterpret_cast<std::uintptr_t>(&lines[i]), sizeof(Line));
    }
    ~Handles() {
        for (const starpu_data_handle_t handle : handles_) starpu_data_unregister(handle);
    }
    Handles(const Handles&) = delete; // unregisters once
    Handles& operator=(const Handles&) = delete;
    [[nodiscard]] starpu_data_handle_t operator[](std::size_t i) const { return handles_[i]; }

private:
    StarPuSession session_;
    std::vector<starpu_data_handle_t> handles_;
};

void mark_argument(void*[], void* line) { ++static_cast<Line*>(line)->marks; }
void mark_buffer(void* buffers[], void*) {
    ++reinterpret_cast<Line*>(STARPU_VARIABLE_GET_PTR(buffers[0]))->marks;
}

starpu_codelet codelet(starpu_cpu_func_t function, int buffers) {
    starpu_codelet codelet;
    starpu_codelet_init(&codelet);
    codelet.cpu_funcs[0] = function;
    codelet.nbuffers = buffers;
    codelet.modes[0] = STARPU_RW;
    return codelet;
}
starpu_codelet by_address = codelet(mark_argument, 0), by_handle = codelet(mark_buffer, 1);

void submit(starpu_task* task) { check_starpu(starpu_task_submit(task), "starpu_task_submit"); }

starpu_task* task_on(Line& line) {
    starpu_task* task = starpu_task_create();
    task->cl = &by_address;
    task->cl_arg = &line;
    return task;
}

void independent(std::span<Line> lines) {
    for (Line& line : lines) submit(task_on(line));
    wait_for_starpu();
}

/// By what it calls tags: a task may be gone before its successor is made.
void chain(std::span<Line> lines) {
    for (std::size_t i = 0; i < lines.size(); ++i) {
        starpu_task* task = task_on(lines.front());
        task->use_tag = 1;
        task->tag_id = i;
        if (i > 0) starpu_tag_declare_deps(i, 1, starpu_tag_t{i - 1});
        submit(task);
    }
    wait_for_starpu();
    for (std::size_t i = 0; i < lines.size(); ++i) starpu_tag_remove(i);
}

void with_data(std::size_t tasks, const Handles& handles, bool is_chain) {
    for (std::size_t i = 0; i < tasks; ++i) {
        starpu_task* task = starpu_task_create();
        task->cl = &by_handle;
        task->handles[0] = handles[is_chain ? 0 : i];
        submit(task);
    }
    wait_for_starpu();
}

void add(std::vector<Program>& programs, const char* scheduler, std::span<Line> lines) {
    const std::string name = std::string("StarPU, ") + scheduler;
    const auto session = [=] { return std::make_shared<StarPuSession>(scheduler, StarPuDevices{}); };
    programs.push_back({name, {false, false}, [=] { independent(lines); }, session});
    programs.push_back({name, {true, false}, [=] { chain(lines); }, session});
    for (const bool is_chain : {false, true}) {
        const auto handles = std::make_shared<std::weak_ptr<Handles>>(); // as long as the caller keeps them
        programs.push_back({name,
                            {is_chain, true},
                            [=] { with_data(lines.size(), *handles->lock(), is_chain); },
                            [=] {
                                auto made = std::make_shared<Handles>(scheduler, lines);
                                *handles = made;
                                return made;
                            }});
    }
}

} // namespace

std::vector<Program> on_starpu(std::span<Line> lines) {
    std::vector<Program> programs;
    for (const char* scheduler : {"eager", "lws"}) add(programs, scheduler, lines);
    return programs;
}

} // namespace bench
