// bench/contest.cpp - see contest.hpp.
#include "contest.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>

namespace bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string output_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"),
                                                     [](FILE* file) { return ::pclose(file); });
    if (pipe == nullptr) throw std::runtime_error("cannot be run: " + command);
    std::string text;
    std::array<char, 4096> part{};
    while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe.get()))
        text.append(part.data(), size);
    return text;
}

/// "kernels of cuda:0, 99.2 %": what a report of ours says of its units.
std::string busiest_of(const json& report) {
    std::string text;
    double most = 0;
    for (const json& unit : report.at("units")) {
        const double busy = unit.at("busy_seconds");
        if (busy <= most) continue;
        most = busy;
        text = fmt::format("{} of {}, {:.1f} %", std::string(unit.at("name")), std::string(unit.at("device")),
                           100 * busy / static_cast<double>(report.at("seconds")));
    }
    return text;
}

std::string beside_us(const std::string& program) {
    return (fs::canonical("/proc/self/exe").parent_path() / program).string();
}

} // namespace

void Contestant::take_turn(bool counts) {
    const json result = json::parse(output_of(command), nullptr, false);
    if (result.is_discarded()) throw std::runtime_error("failed: " + command);
    checksum = result.at("checksum");
    if (result.contains("device")) device = result.at("device");
    if (result.contains("units")) busiest = busiest_of(result);
    if (counts) seconds.push_back(result.at("seconds"));
}

double Contestant::median() const {
    std::vector<double> sorted = seconds;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
}

std::string Contestant::text() const {
    const auto [least, most] = std::ranges::minmax(seconds);
    return fmt::format("{:.4f} ({:.4f} to {:.4f})", median(), least, most);
}

Contestant headrace_program(const std::string& program, const std::string& options) {
    return {program, fmt::format("'{}' {} --quiet --report -", beside_us(program), options)};
}

Contestant baseline(const std::string& program, const std::string& options) {
    return {program, fmt::format("'{}' {}", beside_us(program), options)};
}

Table::Table(const std::string& title, const std::string& first, const std::vector<std::string>& columns,
             unsigned repeats)
    : repeats_(repeats) {
    fmt::print("\n{}\n\n| {} |", title, first);
    for (std::size_t i = 0; i < columns.size(); ++i)
        fmt::print(" {} |{}", columns[i], i % 2 ? " ratio |" : "");
    fmt::print(" busiest in the last |\n|---|---|");
    for (std::size_t i = 0; i < columns.size(); ++i) fmt::print("---|{}", i % 2 ? "---|" : "");
    fmt::print("\n");
    std::fflush(stdout);
}

void Table::pairs(const std::string& label, std::vector<Contestant> row, double tolerance) const {
    for (unsigned turn = 0; turn <= repeats_; ++turn)
        for (Contestant& contestant : row) contestant.take_turn(turn > 0);
    fmt::print("| {} |", label);
    for (std::size_t i = 0; i + 1 < row.size(); i += 2)
        fmt::print(" {} | {} | {:.3f} |", row[i].text(), row[i + 1].text(),
                   row[i + 1].median() / row[i].median());
    fmt::print(" {} |\n", row.back().busiest);
    std::fflush(stdout);
    for (const Contestant& each : row)
        if (!(std::abs(each.checksum - row[0].checksum) <= tolerance * std::abs(row[0].checksum)))
            throw std::runtime_error(fmt::format("{} says {}, {} says {}", row[0].name, row[0].checksum,
                                                 each.name, each.checksum));
}

} // namespace bench
