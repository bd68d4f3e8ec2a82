// tests/core/program_search.cpp - see program_search.hpp.
#include <core/environment.hpp>
#include <core/program_search.hpp>
#include <core/seeds.hpp>
#include <core/watch.hpp>

#include <thread>
#include <vector>

namespace headrace::test {

namespace {

std::string text_of(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    return text;
}

/// Failures depend on timing: a program counts as right when it has been so many times.
constexpr unsigned tries = 20;

std::string cut_down(const Program& program, std::uint64_t seed, const Search& search, Watch& watch) {
    std::vector<std::string> mistakes;
    const auto fails = [&](const Program& candidate) {
        watch.now_at(seed);
        for (unsigned i = 0; i < tries; ++i) {
            const auto machine = search.machine(seed / search.programs_per_machine);
            auto found = run_and_compare(candidate, *machine, {.seed = seed + i});
            if (found.empty()) continue;
            mistakes = std::move(found);
            return true;
        }
        return false;
    };
    const Program smallest = shrink(program, fails);
    const auto machine = search.machine(seed / search.programs_per_machine);
    const std::string how_often = mistakes.empty() ? "It went right when run again:\n" : "Cut down:\n";
    return how_often + describe(smallest, machine->topology()) + text_of(mistakes);
}

} // namespace

std::string find_a_failure(const Search& search) {
    const WarnedNames warnings;
    const std::uint64_t first = first_seed();
    const std::uint64_t end = first + from_environment("HEADRACE_TEST_PROGRAMS", search.programs);
    std::unique_ptr<ProgramMachine> machine;
    Watch watch("HEADRACE_TEST_PROGRAMS=1");
    for (std::uint64_t seed = first; seed < end; ++seed) {
        watch.now_at(seed);
        if (!machine || seed % search.programs_per_machine == 0)
            machine = search.machine(seed / search.programs_per_machine);
        std::vector<Program> programs;
        for (unsigned i = 0; i < search.threads; ++i)
            programs.push_back(random_program(search.threads * seed + i, machine->topology(), search.mix));
        std::vector<std::vector<std::string>> mistakes(search.threads);
        const auto run = [&](unsigned i) {
            mistakes[i] = run_and_compare(
                programs[i], *machine,
                {.prefix = "thread " + std::to_string(i) + ", ", .alone = search.threads == 1, .seed = seed});
        };
        {
            std::vector<std::jthread> others;
            for (unsigned i = 1; i < search.threads; ++i) others.emplace_back(run, i);
            run(0);
        }
        for (unsigned i = 0; i < search.threads; ++i)
            if (!mistakes[i].empty())
                return "HEADRACE_SEED=" + std::to_string(seed) + " HEADRACE_TEST_PROGRAMS=1\n" +
                       text_of(mistakes[i]) + cut_down(programs[i], seed, search, watch);
    }
    return {};
}

} // namespace headrace::test
