// apps/headrace/main.cpp - headrace: what there is on this machine for programs to work with. Exit codes: 0;
// 1 for a failure; 2 for a mistake of the user's.
#include "commands.hpp"
#include "program/command_line.hpp"
#include "program/exit_code.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace {

struct Command {
    std::string_view name, does;
    int (*run)(int argc, char** argv);
};

constexpr std::array commands{
    Command{"devices", "lists the devices of this machine, what they can do, and what was left out and why",
            &headrace_program::devices},
    Command{"calibrate", "measures devices, so that jobs know from the beginning how fast they are",
            &headrace_program::calibrate},
};

std::string about() {
    std::string text = "What there is on this machine. Commands, each with a --help of its own:\n";
    for (const Command& command : commands)
        text.append("\n  headrace ").append(command.name).append("  ").append(command.does);
    return text;
}

std::string names() {
    std::string text;
    for (const Command& command : commands) text.append(text.empty() ? "" : ", ").append(command.name);
    return text;
}

} // namespace

int main(int argc, char** argv) {
    const std::string_view word = argc > 1 ? argv[1] : "";
    const auto* const command = std::ranges::find(commands, word, &Command::name);
    if (command != commands.end()) return command->run(argc - 1, argv + 1);
    return program::exit_code_of("headrace", [&] {
        if (word.starts_with('-')) program::CommandLine("headrace", about()).parse(argc, argv);
        program::refuse(
            (word.empty() ? "what to do?" : "no command is called \"" + std::string(word) + "\";") +
            " there is: " + names() + "; see --help");
    });
}
