// apps/program/command_line.cpp - see command_line.hpp. The one unit that sees CLI11.
#include "program/command_line.hpp"
#include "program/output_file.hpp"
#include <headrace/core/log.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>
#include <sstream>
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

/// Of two that are written to one pipe or device the user may think as he likes.
bool is_one_file(const std::string& one, const std::string& other) {
    std::error_code ignored;
    const bool is_file =
        !std::filesystem::exists(one, ignored) || std::filesystem::is_regular_file(one, ignored);
    const auto whole = [&](const std::string& name) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(name, ignored), ignored);
    };
    return is_file && (whole(one) == whole(other) || std::filesystem::equivalent(one, other, ignored));
}

/// Standard output has one name, for those who ask whether it is taken.
std::string output_name(const std::string& text) {
    constexpr std::array standard{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    return std::ranges::find(standard, text) == standard.end() ? text : "-";
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
    option(name, value.string(), "FILE", help, [&value](const std::string& text) { value = text; });
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
    for (auto output = outputs.begin(); output != outputs.end(); ++output) {
        const std::string name = output->name();
        const auto other = std::find_if(outputs.begin(), output,
                                        [&](const Output& one) { return is_one_file(one.name(), name); });
        if (other != output)
            refuse(other->option + " and " + output->option + " are both written to " +
                   (name == "-" ? "standard output" : name) + "; name another file");
        if (output->is_checked && name != "-") check_writable(name);
    }
}

bool CommandLine::writes_to_stdout() const {
    return std::ranges::any_of(impl_->outputs, [](const Output& output) { return output.name() == "-"; });
}

} // namespace program
