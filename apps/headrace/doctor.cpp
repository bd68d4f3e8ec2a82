// apps/headrace/doctor.cpp - headrace doctor: what is wrong with a machine, and what to do about it.
#include "commands.hpp"
#include "findings.hpp"
#include "program/command_line.hpp"
#include "program/exit_code.hpp"
#include "program/one_process.hpp"
#include "program/output_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

namespace headrace_program {
namespace {

std::string text_of(const Findings& findings) {
    std::string text;
    for (const Finding& finding : findings) {
        const char* const level = finding.level == Finding::Level::problem ? "PROBLEM"
                                  : finding.level == Finding::Level::note  ? "note"
                                                                           : "ok";
        text += fmt::format("{:<8} {:<13} {}\n", level, finding.about, finding.what);
        if (!finding.todo.empty()) text += fmt::format("{:<22} -> {}\n", "", finding.todo);
    }
    return text;
}

} // namespace

int doctor(int argc, char** argv) {
    const std::string name = "headrace doctor";
    bool has_problems = false;
    const int exit_code = program::exit_code_of(name, [&] {
        program::CommandLine line(
            name, "Finds what is wrong with a machine (drivers, permissions, OpenCL, caches, "
                  "compilers, processors) and says what to do. Exit code 0: nothing; 1: something.");
        line.example({"headrace doctor"});
        line.parse(argc, argv);
        if (program::is_spare_rank()) return;
        const Places places;
        Findings all;
        for (const Findings& found :
             {look_at_gpus(places), look_at_opencl(places), look_at_processors(places), look_at_caches(),
              look_at_compilers(places), look_at_devices(places)})
            std::ranges::copy(found, std::back_inserter(all));
        const auto problems = std::ranges::count(all, Finding::Level::problem, &Finding::level);
        has_problems = problems > 0;
        program::write_output("-", text_of(all) + (problems == 0 ? std::string("Nothing is wrong.\n")
                                                                 : fmt::format("{} problem{}.\n", problems,
                                                                               problems > 1 ? "s" : "")));
    });
    return exit_code == 0 && has_problems ? 1 : exit_code;
}

} // namespace headrace_program
