// apps/program/command_line.cpp - see command_line.hpp. The one unit that sees CLI11.
#include "program/command_line.hpp"
#include "program/output_file.hpp"
#include <headrace/core/log.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <deque>
#include <sstream>
#include <utility>

namespace program {

struct CommandLine::Impl {
    CLI::App app;
    std::string heading = "Options";
    std::deque<std::string> written; // CLI11 keeps their addresses
    std::vector<std::function<void()>> takes;
    std::vector<const std::filesystem::path*> outputs;
    std::vector<const std::string*> streams;
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
    input(name, value, help);
    impl_->outputs.push_back(&value);
}

void CommandLine::output_stream(const std::string& name, std::string& value, const char* form,
                                const char* help) {
    text(name, value, form, help);
    impl_->streams.push_back(&value);
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
    for (const std::filesystem::path* file : impl_->outputs)
        if (!file->empty() && *file != "-") check_writable(*file);
}

bool CommandLine::writes_to_stdout() const {
    const auto is_stdout = [](const auto* name) { return *name == "-"; };
    return std::ranges::any_of(impl_->outputs, is_stdout) || std::ranges::any_of(impl_->streams, is_stdout);
}

} // namespace program
