// apps/controller_program/run.cpp - see run.hpp.
#include "controller_program/run.hpp"
#include "program/exit_code.hpp"
#include "program/one_process.hpp"
#include "program/output_file.hpp"
#include "program/quiet_process.hpp"
#include "program/ranks.hpp"

#include <cstdio>
#include <optional>

namespace controller_program {

int run(program::CommandLine& line, int argc, char** argv, const std::function<void(Machine&)>& work,
        OnRanks on_ranks) {
    std::optional<program::Ranks> ranks; // until failures are printed
    return program::exit_code_of(line.program(), [&] {
        if (on_ranks == OnRanks::shared)
            ranks.emplace();
        else if (program::is_spare_rank())
            return;
        CommonOptions options;
        std::size_t mode = 0;
        line.group("Work");
        line.choice("--mode", mode, {"async", "sync"},
                    "async: requests overlap; sync: each ends before the next one is submitted");
        line.devices(
            options.devices,
            "Such as cpu,cuda:0,opencl:pocl, or @FILE.toml; default: $HEADRACE_DEVICES, else all that "
            "are at least a tenth as fast as the fastest, each processor once");
        line.group("Messages");
        line.output("--report", options.report, "Who did what in which time, as JSON");
        options.trace.add_options(line);
        line.quiet(options.quiet);
        line.parse(argc, argv);
        if (!ranks) program::expect_one_process();
        options.asynchronous = mode == 0;
        if (ranks && ranks->session().ranks() > 1) options.session = &ranks->session();

        Machine machine(line.program(), options);
        work(machine);
        machine.wait_all();
        const Report report = machine.report();
        program::write_output(options.report, report.json() + "\n");
        machine.write_trace();
        if (!options.quiet)
            std::fputs(report.table().c_str(), program::table_output(line.writes_to_stdout()));
    });
}

} // namespace controller_program
