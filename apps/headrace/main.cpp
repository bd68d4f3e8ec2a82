// apps/headrace/main.cpp - headrace: what there is on this machine for programs to work with. Exit codes: 0;
// 1 for a failure; 2 for a mistake of the user's.
#include "commands.hpp"
#include "program/command_line.hpp"
#include "program/exit_code.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
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
    Command{"doctor", "finds what is wrong with this machine, and says what to do",
            &headrace_program::doctor},
    Command{"report", "shows a program's report as a page for a browser, or as CSV",
            &headrace_program::report},
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

/// The functions of all commands, and one that calls them.
void print_completion() {
    std::string cases;
    for (const Command& command : commands) {
        std::string name(command.name), option = program::bash_completion_option;
        std::array<char*, 2> words{name.data(), option.data()};
        static_cast<void>(command.run(static_cast<int>(words.size()), words.data()));
        cases.append("    ").append(name).append(") _headrace_").append(name).append(" ;;\n");
    }
    std::string all = names();
    std::erase(all, ',');
    std::printf("_headrace() {\n"
                "  if [ \"$COMP_CWORD\" = 1 ]; then COMPREPLY=($(compgen -W \"%s --help --version\" -- "
                "\"${COMP_WORDS[1]}\")); return; fi\n"
                "  case \"${COMP_WORDS[1]}\" in\n%s  esac\n}\ncomplete -o default -F _headrace headrace\n",
                all.c_str(), cases.c_str());
}

} // namespace

int main(int argc, char** argv) {
    const std::string_view word = argc > 1 ? argv[1] : "";
    const auto* const command = std::ranges::find(commands, word, &Command::name);
    if (command != commands.end()) return command->run(argc - 1, argv + 1);
    return program::exit_code_of("headrace", [&] {
        if (word == program::bash_completion_option) return print_completion();
        if (word.starts_with('-')) {
            program::CommandLine line("headrace", about());
            line.example({"headrace devices"});
            line.parse(argc, argv);
        }
        program::refuse(
            (word.empty() ? "what to do?" : "no command is called \"" + std::string(word) + "\";") +
            " there is: " + names() + "; see --help");
    });
}
