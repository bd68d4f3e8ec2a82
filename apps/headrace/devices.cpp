// apps/headrace/devices.cpp - headrace devices: what was found, what it can do, what was left out and why.
#include "commands.hpp"
#include "inventory.hpp"
#include "program/command_line.hpp"
#include "program/exit_code.hpp"
#include "program/output_file.hpp"

#include <string>

namespace headrace_program {

int devices(int argc, char** argv) {
    const std::string name = "headrace devices";
    return program::exit_code_of(name, [&] {
        std::string list = "all";
        bool json = false;
        program::CommandLine line(name, "Lists the devices of this machine, and what was left out and why.");
        line.example({"headrace devices"});
        line.devices(list,
                     "Such as cpu,cuda:0,opencl:pocl, or @FILE.toml: as programs would open them; all: each "
                     "processor and GPU once");
        line.flag("--json", json, "JSON instead of a table");
        line.parse(argc, argv);

        const Inventory inventory = take_inventory(headrace::select_devices(list));
        program::write_output("-", json ? inventory.json() : inventory.table());
    });
}

} // namespace headrace_program
