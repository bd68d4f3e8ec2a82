// bench/together/main.cpp - what do devices gain by working together, over the best of them alone?
//
// Every device that appears is measured alone, and every set of devices, under each policy, in one process. A
// device may be made slower than it is ("cuda:1*3"): mixes of unequal devices on one machine. All rows of a
// problem take turns. Prints a Markdown table of medians.
#include "../device_set.hpp"
#include "command_line.hpp"
#include "workload.hpp"

#include <headrace/core/trace.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <deque>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench;

struct Options {
    std::vector<std::string> workloads{"fluorescence", "path-tracing", "barnes-hut"};
    std::vector<std::string> sets{"cpu", "opencl:pocl"};
    std::vector<std::string> policies{"adaptive"};
    std::vector<std::string> memories{"natural"};
    std::string model = "calibrated", commit = "unknown";
    unsigned repeats = 5, warm_up = 2;
    std::string traces;     ///< a folder; empty: none
    double row_seconds = 5; ///< without the first turn; once over, a row ends as soon as one turn counts
};

const std::map<std::string, headrace::MemoryModel> memory_models{{"natural", headrace::MemoryModel::natural},
                                                                 {"unified", headrace::MemoryModel::unified},
                                                                 {"buffers", headrace::MemoryModel::buffers}};

std::string name_of(headrace::MemoryModel memory) {
    const auto has_it = [memory](const auto& one) { return one.second == memory; };
    return std::ranges::find_if(memory_models, has_it)->first;
}

/// Who computes, and how.
struct Setting {
    std::string set, policy;
    headrace::MemoryModel memory;
};

std::unique_ptr<headrace::Runtime> open(const Setting& setting, const std::string& model) {
    const std::string& set = setting.set;
    headrace::RuntimeOptions options;
    options.policy = setting.policy;
    options.memory = setting.memory;
    options.model = model;
    if (set.find('*') == std::string::npos) {
        options.devices = set;
        return std::make_unique<headrace::Runtime>(std::move(options));
    }
    return std::make_unique<headrace::Runtime>(open_set(set), std::move(options));
}

struct Measured {
    std::vector<double> seconds;  ///< sorted
    headrace::JobReport report;   ///< of the median turn
    double balance = 0;           ///< median
    std::optional<double> joules; ///< mean: meters are slow
    [[nodiscard]] double median() const { return seconds[seconds.size() / 2]; }
};

/// A row of the table, with devices and data of its own.
class Row {
public:
    Row(const Options& options, const Workload& workload, Setting setting)
        : options_(options),
          setting_(std::move(setting)),
          runtime_(open(setting_, options.model)),
          take_turn_(workload.prepare(*runtime_)) {}

    [[nodiscard]] const Setting& setting() const { return setting_; }
    /// One that does not count, at first. False: it has had all.
    bool take_turn() {
        const bool has_time = spent_ < options_.row_seconds;
        const bool warms_up = warm_ups_ < options_.warm_up && has_time;
        if (!warms_up && !turns_.empty() && (turns_.size() >= options_.repeats || !has_time)) return false;
        Turn turn = take_turn_();
        if (warm_ups_ + turns_.size() > 0) spent_ += turn.seconds; // in the first one libraries load
        if (warms_up)
            ++warm_ups_;
        else
            turns_.push_back(std::move(turn));
        return true;
    }
    void take_another_turn() { take_turn_(); }
    [[nodiscard]] Measured measured() const {
        std::vector<Turn> turns = turns_;
        std::ranges::sort(turns, {}, &Turn::seconds);
        Measured measured;
        std::vector<double> balances;
        measured.joules = 0;
        for (const Turn& turn : turns) {
            const std::optional<double> joules = turn.report.energy_joules.value;
            measured.joules =
                measured.joules && joules ? std::optional(*measured.joules + *joules) : std::nullopt;
            measured.seconds.push_back(turn.seconds);
            balances.push_back(turn.report.balance.value.value_or(0));
        }
        if (measured.joules) *measured.joules /= static_cast<double>(turns.size());
        std::ranges::sort(balances);
        measured.balance = balances[balances.size() / 2];
        measured.report = turns[turns.size() / 2].report;
        return measured;
    }

private:
    const Options& options_;
    const Setting setting_;
    std::unique_ptr<headrace::Runtime> runtime_;
    TakeTurn take_turn_;
    std::vector<Turn> turns_;
    unsigned warm_ups_ = 0;
    double spent_ = 0;
};

std::string shares(const headrace::JobReport& report) {
    std::string text;
    for (const headrace::DeviceReport& device : report.devices)
        text += fmt::format("{}{:.1f} % in {}", text.empty() ? "" : ", ", 100 * device.share, device.tasks);
    return text;
}

std::string energy(const Measured& measured) {
    if (!measured.joules) return "- | -";
    return fmt::format("{:.3g} | {:.3g}", *measured.joules, *measured.joules * measured.median());
}

void print(const Workload& workload, const Setting& setting, const Measured& measured,
           const std::map<std::string, double>& alone) {
    double best = 0, rates = 0;
    for (const std::string& member : members(setting.set)) {
        best = std::max(best, 1 / alone.at(member));
        rates += 1 / alone.at(member);
    }
    fmt::print("| {} | {} | {} | {} | {:.2f} ({:.2f} to {:.2f}, {}) | {:.3f} | {:.3f} | {:.3f} | {} | {} |\n",
               workload.name, setting.set, setting.policy, name_of(setting.memory), 1e3 * measured.median(),
               1e3 * measured.seconds.front(), 1e3 * measured.seconds.back(), measured.seconds.size(),
               1 / best / measured.median(), 1 / measured.median() / rates, measured.balance,
               energy(measured), shares(measured.report));
    std::cout.flush();
}

/// Each device alone first, then the sets.
std::vector<Setting> settings_of(const Options& options, headrace::MemoryModel memory) {
    std::vector<Setting> settings;
    for (const std::string& set : options.sets)
        for (const std::string& member : members(set))
            if (std::ranges::find(settings, member, &Setting::set) == settings.end())
                settings.push_back({member, "adaptive", memory});
    for (const std::string& set : options.sets)
        for (const std::string& policy : options.policies)
            if (members(set).size() > 1 || policy != "adaptive") settings.push_back({set, policy, memory});
    return settings;
}

/// All rows of a problem take turns: what a machine does now and then it does to all of them.
void measure(const Options& options, const Workload& workload, headrace::MemoryModel memory) {
    std::deque<Row> rows;
    for (const Setting& setting : settings_of(options, memory)) rows.emplace_back(options, workload, setting);
    for (bool more = true; std::exchange(more, false);)
        for (Row& row : rows) more = row.take_turn() || more;
    std::map<std::string, double> alone;
    for (const Row& row : rows) {
        const Measured measured = row.measured();
        alone.try_emplace(row.setting().set, measured.median());
        print(workload, row.setting(), measured, alone);
    }
    if (options.traces.empty()) return;
    headrace::Trace trace;
    rows.back().take_another_turn();
    std::filesystem::create_directories(options.traces);
    std::string name = workload.name + " " + name_of(memory);
    std::ranges::replace_if(
        name, [](unsigned char c) { return std::isalnum(c) == 0; }, '-');
    std::ofstream file(std::filesystem::path(options.traces) / (name + ".json"));
    file << trace.json() << std::flush;
    if (!file) throw std::runtime_error("traces cannot be written to " + options.traces);
}

} // namespace

int main(int argc, char** argv) try {
    Options options;
    bench::CommandLine app("Devices alone and together: time, speed-up, heterogeneous efficiency, balance.");
    app.add("--workload", options.workloads, "such as matmul:7168:double or fluorescence:consumer:1000000");
    app.add("--devices", options.sets, "sets, such as cuda:0,cuda:1*3 (three times slower) and cpu,cuda:0");
    app.add("--policy", options.policies);
    app.add("--memory", options.memories, "where devices compute: natural, unified, buffers")
        .one_of({"natural", "unified", "buffers"});
    app.add("--model", options.model);
    app.add("--repeat", options.repeats).range(1, 1000);
    app.add("--warm-up", options.warm_up, "turns that do not count").range(0, 1000);
    app.add("--row-seconds", options.row_seconds, "after which slow devices take no more turns");
    app.add("--traces", options.traces,
            "a folder: what ran when in one more turn of each workload's last set, as JSON");
    app.add("--commit", options.commit, "what was measured, for the heading");
    if (const auto code = app.parse(argc, argv)) return *code;
    ::setenv("HEADRACE_CALIBRATIONS", "", 1); // each set learns by itself, in its warm-up

    fmt::print(
        "commit {}, model {}; medians (least to most, turns) of {} turns after {}, fewer where they take "
        "long; times from submission until the "
        "results are on the host; speed over the best device of the set alone; efficiency (1 / T) / sum of "
        "1 / T_i; joules of all hardware that took part, as a mean, and joule seconds\n\n",
        options.commit, options.model, options.repeats, options.warm_up);
    fmt::print("| workload | devices | policy | memory | time [ms] | speed | efficiency | balance | J | J s "
               "| shares, tasks |\n"
               "|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const std::string& text : options.workloads)
        for (const std::string& memory : options.memories)
            measure(options, make_workload(text), memory_models.at(memory));
    return 0;
} catch (const std::exception& error) {
    std::cerr << "together: " << error.what() << '\n';
    return 1;
}
