// apps/program/command_line.cpp - see command_line.hpp. The one unit that sees CLI11.
#include "program/command_line.hpp"
#include "program/output_file.hpp"
#include "program/thread_stacks.hpp"
#include "program/used_files.hpp"
#include <headrace/core/log.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace program {

namespace {

/// What an option names to be written.
struct Output {
    std::string option;
    std::function<std::string()> name;
    bool is_checked; ///< beforehand, that it can be
};

/// Standard output has one name, for those who ask whether it is taken.
std::string output_name(const std::string& text) {
    constexpr std::array standard{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    return std::ranges::find(standard, text) == standard.end() ? text : "-";
}

/// What a shell offers behind an option: its words, or names of files.
std::string words_behind(const CLI::Option& option) {
    std::string words = option.get_type_name();
    const bool are_words =
        words.find('|') != std::string::npos &&
        words.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-|") == std::string::npos;
    if (!are_words) return {};
    std::ranges::replace(words, '|', ' ');
    return words;
}

/// For bash: what can stand behind the program's name, and behind each option. Of a command such as "headrace
/// devices" the function alone, which that of the program calls.
std::string bash_completion(const CLI::App& app) {
    std::string function = "_" + app.get_name(), options, cases;
    std::ranges::replace_if(
        function, [](char c) { return c == '-' || c == ' '; }, '_');
    for (const CLI::Option* const option : app.get_options()) {
        const std::string name = option->get_name(false, true); // "-h,--help"
        const std::string long_name = name.substr(name.rfind(',') + 1);
        options += (options.empty() ? "" : " ") + long_name;
        if (const std::string words = words_behind(*option); !words.empty())
            cases.append("    ")
                .append(long_name)
                .append(") COMPREPLY=($(compgen -W \"")
                .append(words)
                .append("\" -- \"$word\")); return ;;\n");
    }
    std::string script = function +
                         "() {\n"
                         "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
                         "  case \"$before\" in\n" +
                         cases +
                         "  esac\n"
                         "  [[ \"$word\" != -* ]] || COMPREPLY=($(compgen -W \"" +
                         options + "\" -- \"$word\"))\n}\n";
    if (app.get_name().find(' ') == std::string::npos)
        script += "complete -o default -F " + function + " " + app.get_name() + "\n";
    return script;
}

} // namespace

struct CommandLine::Impl {
    CLI::App app;
    std::string heading = "Options";
    std::deque<std::string> written; // CLI11 keeps their addresses
    std::vector<std::function<void()>> takes;
    std::vector<Output> outputs;
};

CommandLine::CommandLine(std::string program, std::string about) : impl_(std::make_unique<Impl>()) {
    impl_->app.description(std::move(about));
    impl_->app.name(std::move(program));
    impl_->app.set_version_flag("--version", HEADRACE_VERSION);
    impl_->app.set_help_flag("--help,-h", "Print this and leave");
}

CommandLine::~CommandLine() = default;

const std::string& CommandLine::program() const noexcept { return impl_->app.get_name(); }

void CommandLine::example(std::initializer_list<const char*> lines) {
    std::string text = "Example:\n";
    for (const char* const line : lines) text.append("  ").append(line).append("\n");
    impl_->app.description(text + "\n" + impl_->app.get_description());
}

void CommandLine::group(std::string heading) { impl_->heading = std::move(heading); }

void CommandLine::option(const std::string& name, std::string shown, const char* form, const char* help,
                         std::function<void(const std::string&)> take) {
    std::string& written = impl_->written.emplace_back(std::move(shown));
    impl_->app.add_option(name, written, help)->type_name(form)->capture_default_str()->group(impl_->heading);
    impl_->takes.push_back([&written, take = std::move(take)] { take(written); });
}

void CommandLine::real(const std::string& name, double& value, double least, double most, const char* form,
                       const char* help) {
    std::ostringstream shown;
    shown << value;
    option(name, shown.str(), form, help,
           [=, &value](const std::string& text) { value = program::real(name, text, least, most); });
}

void CommandLine::text(const std::string& name, std::string& value, const char* form, const char* help) {
    option(name, value, form, help, [&value](const std::string& text) { value = text; });
}

void CommandLine::texts(const std::string& name, std::vector<std::string>& values, const char* form,
                        const char* help) {
    impl_->app.add_option(name, values, help)->type_name(form)->group(impl_->heading);
}

void CommandLine::choice(const std::string& name, std::size_t& value, const std::vector<std::string>& words,
                         const char* help) {
    std::string form, sentence;
    for (const std::string& word : words) {
        form += (form.empty() ? "" : "|") + word;
        sentence += (sentence.empty() ? "" : " or ") + word;
    }
    option(name, words.at(value), form.c_str(), help, [=, &value](const std::string& text) {
        const auto word = std::ranges::find(words, text);
        if (word == words.end()) refuse(name + " " + (text.empty() ? "\"\"" : text) + ": takes " + sentence);
        value = static_cast<std::size_t>(word - words.begin());
    });
}

void CommandLine::flag(const std::string& name, bool& value, const char* help) {
    impl_->app.add_flag(name, value, help)->group(impl_->heading);
}

void CommandLine::quiet(bool& value) {
    flag("--quiet", value, "Nothing but errors");
    impl_->takes.emplace_back([&value] {
        if (value) headrace::set_log_level(headrace::LogLevel::error);
    });
}

void CommandLine::input(const std::string& name, std::filesystem::path& value, const char* help) {
    option(name, value.string(), "FILE", help, [&value](const std::string& text) {
        value = text;
        note_input(value);
    });
}

void CommandLine::devices(std::string& value, const char* help) {
    option("--devices", value, "LIST", help, [&value](const std::string& text) {
        value = text;
        const char* const otherwise = std::getenv("HEADRACE_DEVICES");
        const std::string list = !text.empty() ? text : otherwise != nullptr ? otherwise : "";
        if (list.starts_with('@')) note_input(list.substr(1)); // see devices/README.md
    });
}

void CommandLine::output(const std::string& name, std::filesystem::path& value, const char* help) {
    option(name, value.string(), "FILE", help,
           [&value](const std::string& text) { value = output_name(text); });
    impl_->outputs.push_back({name, [&value] { return value.string(); }, true});
}

void CommandLine::output_stream(const std::string& name, std::string& value, const char* form,
                                const char* help) {
    option(name, value, form, help, [&value](const std::string& text) { value = output_name(text); });
    impl_->outputs.push_back({name, [&value] { return value; }, false});
}

void CommandLine::parse(int argc, char** argv) {
    if (argc == 2 && std::string_view(argv[1]) == bash_completion_option) {
        std::cout << bash_completion(impl_->app);
        throw Answered{};
    }
    ensure_thread_stacks(); // of threads that begin after this
    try {
        impl_->app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        std::cout << impl_->app.help();
        throw Answered{};
    } catch (const CLI::CallForVersion&) {
        std::cout << impl_->app.version() << '\n';
        throw Answered{};
    } catch (const CLI::ParseError& error) {
        std::string what = error.what();
        if (const auto end = what.find('\n'); end != std::string::npos) what.resize(end);
        refuse(what + "; see --help");
    }
    for (const auto& take : impl_->takes) take();
    std::vector<Output>& outputs = impl_->outputs;
    std::erase_if(outputs, [](const Output& output) { return output.name().empty(); });
    note_standard_streams();
    for (const Output& output : outputs) {
        note_output(output.option, output.name());
        if (output.is_checked && output.name() != "-") check_writable(output.name());
    }
}

bool CommandLine::has(const std::string& name) const { return impl_->app.count(name) > 0; }

bool CommandLine::writes_to_stdout() const {
    return std::ranges::any_of(impl_->outputs, [](const Output& output) { return output.name() == "-"; });
}

} // namespace program
