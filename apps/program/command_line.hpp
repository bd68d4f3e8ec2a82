// apps/program/command_line.hpp - the options of a program: what they are called, where their values go, what
// they take.
#pragma once
#include "program/numbers.hpp"

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace program {

/// Nothing to run: --help or --version has been answered on stdout.
struct Answered {};

/// Answered alone, and not in --help: the script of bash that completes the options.
inline constexpr const char* bash_completion_option = "--bash-completion";

/// Options are declared with the variable that gets the value; what the variable holds then is the default.
///
/// `form` and `help` are for --help: "PIXELS", "Width of the image". Every option is added to the group that
/// was named last. Variables outlive `parse`.
class CommandLine {
public:
    CommandLine(std::string program, std::string about);
    ~CommandLine();
    CommandLine(const CommandLine&) = delete; // one for each program
    CommandLine& operator=(const CommandLine&) = delete;

    [[nodiscard]] const std::string& program() const noexcept;

    /// Lines for a shell that work as they stand, in an empty folder. --help begins with them.
    void example(std::initializer_list<const char*> lines);
    /// The heading in --help of the options that follow.
    void group(std::string heading);

    /// A whole number in [least, most].
    template <std::integral Number>
    void whole(const std::string& name, Number& value, std::type_identity_t<Number> least,
               std::type_identity_t<Number> most, const char* form, const char* help) {
        option(name, std::to_string(value), form, help, [=, &value](const std::string& text) {
            value = program::whole<Number>(name, text, least, most);
        });
    }
    /// A finite number in [least, most].
    void real(const std::string& name, double& value, double least, double most, const char* form,
              const char* help);
    void text(const std::string& name, std::string& value, const char* form, const char* help);
    /// As many as are written behind the option, which may be there several times.
    void texts(const std::string& name, std::vector<std::string>& values, const char* form, const char* help);
    /// One of `words`; `value` becomes its place among them.
    void choice(const std::string& name, std::size_t& value, const std::vector<std::string>& words,
                const char* help);
    void flag(const std::string& name, bool& value, const char* help);
    /// --quiet: the library's log has nothing but errors from then on, too.
    void quiet(bool& value);
    /// --devices, which may name a file.
    void devices(std::string& value, const char* help);
    /// A file to be read. Errors of `parse`: if it is an output too; see used_files.hpp
    void input(const std::string& name, std::filesystem::path& value, const char* help);
    /// A file to be written: whether it can be is found out when all options have been read (see
    /// check_writable). Empty: none is wanted; "-", for those who write there: standard output.
    void output(const std::string& name, std::filesystem::path& value, const char* help);
    /// Where a stream goes: a file, a pipe, "-" for standard output. Not looked at: what reads a pipe would
    /// see it opened and closed.
    void output_stream(const std::string& name, std::string& value, const char* form, const char* help);

    /// Any other: `take` gets what was written, or `shown`, and refuses it by throwing.
    void option(const std::string& name, std::string shown, const char* form, const char* help,
                std::function<void(const std::string&)> take);

    /// Fills in the variables. Errors: invalid_argument, which option, what is wrong with it, what it takes.
    /// Throws Answered.
    void parse(int argc, char** argv);
    /// Whether the option was written, if only with what it is by default. After `parse`.
    [[nodiscard]] bool has(const std::string& name) const;
    /// True if an output is "-": messages then belong elsewhere.
    [[nodiscard]] bool writes_to_stdout() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace program
