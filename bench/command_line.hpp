// bench/command_line.hpp - the options of a benchmark. command_line.cpp alone includes CLI11, which takes g++
// ten seconds.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace bench {

/// What an option takes.
class Option {
public:
    explicit Option(CLI::Option& option) : option_(&option) {}

    /// A number in [least, most].
    template <std::integral Number>
    Option& range(Number least, std::type_identity_t<Number> most) {
        return whole_range(least, most);
    }
    template <std::floating_point Number>
    Option& range(Number least, std::type_identity_t<Number> most) {
        return real_range(least, most);
    }
    Option& positive();
    Option& one_of(std::vector<std::string> words);
    Option& existing_file();
    /// Several values, with commas between them.
    Option& with_commas();
    /// So many values.
    Option& count(int values);
    Option& required();

private:
    Option& whole_range(std::int64_t least, std::int64_t most);
    Option& real_range(double least, double most);

    CLI::Option* option_;
};

/// Options are declared with the variable that gets the value; what the variable holds then is the default.
class CommandLine {
public:
    explicit CommandLine(std::string about, std::string program = {});
    ~CommandLine();
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    /// command_line.cpp lists the types.
    template <typename Value>
    Option add(const std::string& name, Value& value, const std::string& help = {});
    /// "--name" sets `value`, "!--no-name" clears it.
    void flag(const std::string& name, bool& value, const std::string& help);

    /// Fills in the variables. Returns the exit code if the program must end: after --help, or a mistake.
    [[nodiscard]] std::optional<int> parse(int argc, char** argv);

private:
    std::unique_ptr<CLI::App> app_;
};

} // namespace bench
