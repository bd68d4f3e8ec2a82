#include "command_line.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>

namespace bench {

Option& Option::whole_range(std::int64_t least, std::int64_t most) {
    option_->check(CLI::Range(least, most));
    return *this;
}

Option& Option::real_range(double least, double most) {
    option_->check(CLI::Range(least, most));
    return *this;
}

Option& Option::positive() {
    option_->check(CLI::PositiveNumber);
    return *this;
}

Option& Option::one_of(std::vector<std::string> words) {
    option_->check(CLI::IsMember(std::move(words)));
    return *this;
}

Option& Option::existing_file() {
    option_->check(CLI::ExistingFile);
    return *this;
}

Option& Option::with_commas() {
    option_->delimiter(',');
    return *this;
}

Option& Option::count(int values) {
    option_->expected(values);
    return *this;
}

Option& Option::required() {
    option_->required();
    return *this;
}

CommandLine::CommandLine(std::string about, std::string program)
    : app_(std::make_unique<CLI::App>(std::move(about), std::move(program))) {}

CommandLine::~CommandLine() = default;

template <typename Value>
Option CommandLine::add(const std::string& name, Value& value, const std::string& help) {
    return Option(*app_->add_option(name, value, help)->capture_default_str());
}

template Option CommandLine::add(const std::string&, bool&, const std::string&);
template Option CommandLine::add(const std::string&, int&, const std::string&);
template Option CommandLine::add(const std::string&, unsigned&, const std::string&);
template Option CommandLine::add(const std::string&, long&, const std::string&);
template Option CommandLine::add(const std::string&, unsigned long&, const std::string&);
template Option CommandLine::add(const std::string&, float&, const std::string&);
template Option CommandLine::add(const std::string&, double&, const std::string&);
template Option CommandLine::add(const std::string&, std::string&, const std::string&);
template Option CommandLine::add(const std::string&, std::filesystem::path&, const std::string&);
template Option CommandLine::add(const std::string&, std::vector<int>&, const std::string&);
template Option CommandLine::add(const std::string&, std::vector<unsigned>&, const std::string&);
template Option CommandLine::add(const std::string&, std::vector<long>&, const std::string&);
template Option CommandLine::add(const std::string&, std::vector<unsigned long>&, const std::string&);
template Option CommandLine::add(const std::string&, std::vector<float>&, const std::string&);
template Option CommandLine::add(const std::string&, std::vector<double>&, const std::string&);
template Option CommandLine::add(const std::string&, std::vector<std::string>&, const std::string&);

void CommandLine::flag(const std::string& name, bool& value, const std::string& help) {
    app_->add_flag(name, value, help);
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
    try {
        app_->parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app_->exit(error);
    }
    return std::nullopt;
}

} // namespace bench
