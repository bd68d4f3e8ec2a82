// bench/tasks/waiting.cpp - a job that many others wait behind: what they cost it, and the memory of each.
#include "waiting.hpp"
#include "tasks.kernels.hpp"

#include <headrace/headrace.hpp>

#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <malloc.h>

namespace bench {
namespace {

using namespace headrace;

/// Of about 0.3 ms each on one core, so that the scheduler looks at its jobs a thousand times a second.
constexpr std::uint64_t tasks = 2000, units_of_task = 64;
constexpr std::uint32_t turns = 3000; // of each unit

} // namespace

WaitingTurn run_before_waiting_jobs(std::size_t count) {
    Runtime runtime(RuntimeOptions{.devices = "cpu", .policy = "dynamic:" + std::to_string(tasks)});
    const Domain<std::uint64_t> words("words", {tasks * units_of_task}), sum("sum", {1});
    std::promise<void> gate;
    const auto opened = gate.get_future().share();
    const JobHandle held = runtime.submit(
        Job("held", 1).host_function("cpu", [=](Task&, const NativeStream&) { opened.wait(); }));
    const JobHandle running =
        runtime.submit(Job("running", words.size()).writes(rows(words)).after(held).kernel([=](Task& task) {
            return TurnWords{task.write(words), turns};
        }));
    std::vector<JobHandle> waiting;
    waiting.reserve(count);
    const Job behind = Job("waiting", 1).reads(words).accumulates(sum).kernel([=](Task& task) {
        return AddWords{task.read(words), task.sum(sum)};
    });
    const std::size_t before = mallinfo2().uordblks;
    for (std::size_t i = 0; i < count; ++i) waiting.push_back(runtime.submit(behind));
    WaitingTurn turn{};
    if (count > 0)
        turn.bytes_each = static_cast<double>(mallinfo2().uordblks - before) / static_cast<double>(count);
    const auto begin = std::chrono::steady_clock::now();
    gate.set_value();
    running.wait();
    turn.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    for (const JobHandle& job : waiting) job.cancel();
    for (const JobHandle& job : waiting) static_cast<void>(job.event().outcome());
    if (words.gather()[0] != TurnWords::turned(0, turns)) throw std::runtime_error("a word is wrong");
    return turn;
}

} // namespace bench
