// bench/cluster_simulation.cpp - how well do up to 10^4 ranks share one job, and how busy is rank 0?
//
// Runs the state machines of ranks (JobShare) and their schedules in virtual time, over a network with given
// delays. A device works on a unit for a given time. What is real is measured here first: the time that a
// rank with 32 ranks below takes to receive a message, and to look for what to send.
#include "command_line.hpp"

#include <domains/cluster/made_up_cluster.hpp>
#include <headrace/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace headrace;
using namespace std::chrono_literals;
using test::MadeUpCluster, test::MadeUpOptions;
using Time = MadeUpOptions::Time;
using Rank = MadeUpCluster::Rank;

constexpr Time look_interval = 200us; ///< of domains/cluster/node.cpp

struct Settings {
    std::vector<int> ranks{100, 1000, 10'000};
    std::vector<double> seconds{0.1, 1, 10, 100}; ///< of a job, if no rank ever waited
    std::vector<double> round_trips{2, 50, 500};  ///< us
    double stragglers = 0.01;
    double message_cost = 0, look_cost = 0; ///< us; 0: as measured
    std::uint64_t units_per_rank = 100'000, seed = 1;
    unsigned seeds = 5;           ///< of epochs: so many, from `seed` on
    std::vector<double> epochs;   ///< lengths in seconds; empty: the job is done at once
    double losses_per_minute = 1; ///< of ranks, in a job of epochs
    std::string commit = "unknown", drawing;
};

double seconds(Time time) { return std::chrono::duration<double>(time).count(); }
Time microseconds(double value) { return Time(static_cast<Time::rep>(value * 1e3)); }

struct Cost {
    Time message{}, look{};
};

/// Of ranks with ranks below, in a job of 1057 ranks: each of 33 ranks has 32 below.
Cost measured_cost(const Settings& settings) {
    constexpr int ranks = 1057;
    MadeUpCluster cluster({.ranks = ranks,
                           .work_units = ranks * settings.units_per_rank,
                           .units_per_second = static_cast<double>(settings.units_per_rank),
                           .stragglers = settings.stragglers,
                           .seed = settings.seed,
                           .least_delay = 20us,
                           .most_delay = 30us,
                           .look_interval = look_interval});
    std::chrono::steady_clock::time_point begin;
    std::vector<double> messages, looks; // ns each
    cluster.on_handling = [&](const Rank& rank, MadeUpCluster::Stage stage, std::size_t received) {
        if (rank.neighbours.below.empty()) return;
        const auto now = std::chrono::steady_clock::now();
        const double took = std::chrono::duration<double, std::nano>(now - begin).count();
        if (stage == MadeUpCluster::Stage::looks && received > 0)
            messages.push_back(took / static_cast<double>(received));
        else if (stage == MadeUpCluster::Stage::ends)
            looks.push_back(took);
        begin = std::chrono::steady_clock::now();
    };
    cluster.run();
    // A few calls were interrupted by other programs.
    const auto mean_of_most = [](std::vector<double> all) {
        std::ranges::sort(all);
        all.resize(std::max<std::size_t>(1, all.size() * 999 / 1000));
        double sum = 0;
        for (const double one : all) sum += one;
        return sum / static_cast<double>(all.size());
    };
    const auto time = [&](std::vector<double> all) {
        return Time(static_cast<Time::rep>(mean_of_most(std::move(all))));
    };
    return {time(std::move(messages)), time(std::move(looks))};
}

/// Of a job that takes so long if no rank ever waits, and has no stragglers.
MadeUpOptions options_of(const Settings& settings, const Cost& cost, int ranks, double job_seconds,
                         double round_trip) {
    return {.ranks = ranks,
            .work_units = static_cast<std::uint64_t>(ranks) * settings.units_per_rank,
            .units_per_second = static_cast<double>(settings.units_per_rank) / job_seconds,
            .stragglers = settings.stragglers,
            .seed = settings.seed,
            .least_delay = microseconds(round_trip / 2),
            .most_delay = microseconds(round_trip / 2 * 1.2),
            .message_cost = cost.message,
            .look_cost = cost.look,
            .look_interval = look_interval};
}

/// Prints a line. Returns the efficiency.
double run(const Settings& settings, const Cost& cost, int ranks, double job_seconds, double round_trip) {
    const auto units = static_cast<std::uint64_t>(ranks) * settings.units_per_rank;
    MadeUpCluster cluster(options_of(settings, cost, ranks, job_seconds, round_trip));
    cluster.run();
    const double ideal = static_cast<double>(units) / cluster.units_per_second();
    const Rank& first = cluster.ranks().front();
    Time over{};
    double start = 0, end = 0, idle = 0; // of the devices, weighted by their speed
    const Rank* last = &first;
    for (const Rank& one : cluster.ranks()) over = std::max(over, one.over_at);
    for (const Rank& one : cluster.ranks()) {
        const double weight = one.units_per_second / cluster.units_per_second() / seconds(over);
        const Time began = one.tasks > 0 ? one.first_task : over;
        start += weight * seconds(began);
        end += weight * seconds(one.tasks > 0 ? over - one.last_end : Time{});
        idle += weight * seconds(over - one.working);
        if (one.last_end > last->last_end) last = &one;
    }
    // Rank 0 looks every 200 us even if nothing happens; the simulation leaves most of these looks out.
    const double looks = std::max(static_cast<double>(first.looks), seconds(over) / seconds(look_interval));
    const double busy =
        looks * seconds(cost.look) + static_cast<double>(first.handled) * seconds(cost.message);
    const bool is_slow =
        last->units_per_second < 0.5 * static_cast<double>(settings.units_per_rank) / job_seconds;
    fmt::print(
        "| {} | {} | {} | {:.3f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.0f} | {:.0f} | {:.1f} | {} task of "
        "{:.2f} ms, then {:.2f} ms of messages |\n",
        ranks, job_seconds, round_trip, seconds(over), 100 * ideal / seconds(over), 100 * start,
        100 * (idle - start - end), 100 * end, static_cast<double>(cluster.traffic().messages) / ranks,
        static_cast<double>(first.handled + first.sent) / seconds(over), 100 * busy / seconds(over),
        is_slow ? "a straggler's" : "a", 1e3 * seconds(last->last_task),
        1e3 * seconds(over - last->last_end));
    std::cout << std::flush;
    return ideal / seconds(over);
}

/// How long an epoch takes: each seed, and if no rank ever waited.
struct EpochTimes {
    std::vector<double> took = {};
    double ideal = 0;
};

EpochTimes epoch_times(const Settings& settings, const Cost& cost, int ranks, double epoch,
                       double round_trip) {
    EpochTimes times;
    for (unsigned number = 0; number < settings.seeds; ++number) {
        Settings one = settings;
        one.seed += number;
        MadeUpCluster cluster(options_of(one, cost, ranks, epoch, round_trip));
        cluster.run();
        Time over{};
        for (const Rank& rank : cluster.ranks()) over = std::max(over, rank.over_at);
        times.took.push_back(seconds(over));
        times.ideal = static_cast<double>(ranks) * static_cast<double>(settings.units_per_rank) /
                      cluster.units_per_second();
    }
    return times;
}

/// A job of ten hours in epochs that take one of the simulated times. Ranks are lost at random times. A loss
/// is known after a second, and all others do the open epoch again. Prints a line.
void run_with_losses(const Settings& settings, const Cost& cost, int ranks, double epoch, double round_trip) {
    constexpr double lost_after = 1, job_seconds = 36000;
    const EpochTimes times = epoch_times(settings, cost, ranks, epoch, round_trip);
    std::mt19937_64 random(settings.seed);
    std::exponential_distribution<double> until_loss(settings.losses_per_minute / 60);
    double now = 0, repeated = 0, next_loss = until_loss(random);
    double available = 0, done = 0; // seconds of all ranks of the start
    int losses = 0;
    while (done < job_seconds && losses < ranks / 2) {
        const double left = static_cast<double>(ranks - losses) / ranks;
        const double takes = times.took[random() % times.took.size()] / left;
        const bool is_lost = next_loss < now + takes;
        const double passes = is_lost ? next_loss - now + lost_after : takes;
        now += passes;
        available += passes * left;
        if (!is_lost) {
            done += times.ideal;
            continue;
        }
        repeated += passes - lost_after;
        next_loss = now + until_loss(random);
        ++losses;
    }
    const auto [least, most] = std::ranges::minmax(times.took);
    fmt::print("| {} | {} | {} | {:.1f} to {:.1f} | {} | {:.1f} | {:.1f} | {:.1f} |\n", ranks, epoch,
               round_trip, 100 * times.ideal / most, 100 * times.ideal / least, losses, 100 * repeated / now,
               100 * losses * lost_after / now, 100 * done / available);
    std::cout << std::flush;
}

/// One line of the drawing: efficiencies by length of the job.
struct Curve {
    int ranks = 0;
    double round_trip = 0;
    std::vector<double> efficiencies = {};
};

/// Efficiency from 0.5 to 1 against the length of the job, as SVG. Lengths are equally far apart.
void draw(const Settings& settings, const std::vector<Curve>& curves) {
    constexpr double left = 50, top = 20, width = 420, height = 240, least = 0.5;
    const auto x = [&](std::size_t i) {
        const auto last = static_cast<double>(std::max<std::size_t>(settings.seconds.size(), 2) - 1);
        return left + width * static_cast<double>(i) / last;
    };
    const auto y = [&](double efficiency) {
        return top + height * (1 - (std::max(efficiency, least) - least) / (1 - least));
    };
    std::ofstream out(settings.drawing);
    out << "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 680 310' font-family='sans-serif' "
           "font-size='11'>\n<rect width='680' height='310' fill='white'/>\n";
    for (const double line : {0.5, 0.6, 0.7, 0.8, 0.9, 1.0})
        out << fmt::format("<path d='M{} {:.1f}h{}' stroke='#ddd'/><text x='{}' y='{:.1f}' "
                           "text-anchor='end'>{:.0f} %</text>\n",
                           left, y(line), width, left - 6, y(line) + 4, 100 * line);
    for (std::size_t i = 0; i < settings.seconds.size(); ++i)
        out << fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{} s</text>\n", x(i),
                           top + height + 18, settings.seconds[i]);
    out << fmt::format("<text x='{}' y='{}' text-anchor='middle'>length of the job without any wait</text>\n",
                       left + width / 2, top + height + 38);
    constexpr std::array colors{"#4477aa", "#cc6677", "#228833", "#aa3377"};
    constexpr std::array dashes{"", "6 3", "2 2", "8 2 2 2"};
    double legend = top + 10;
    for (const Curve& curve : curves) {
        const auto place = [](const auto& all, const auto& one) {
            return static_cast<std::size_t>(std::ranges::find(all, one) - all.begin());
        };
        std::string path;
        for (std::size_t i = 0; i < curve.efficiencies.size(); ++i)
            path += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", x(i), y(curve.efficiencies[i]));
        const std::string style =
            fmt::format("fill='none' stroke='{}' stroke-width='1.5' stroke-dasharray='{}'",
                        colors[place(settings.ranks, curve.ranks) % colors.size()],
                        dashes[place(settings.round_trips, curve.round_trip) % dashes.size()]);
        out << fmt::format("<path d='{}' {}/>\n<path d='M485 {}h30' {}/><text x='520' y='{}'>{} ranks, {} "
                           "us</text>\n",
                           path, style, legend, style, legend + 4, curve.ranks, curve.round_trip);
        legend += 20;
    }
    out << "</svg>\n";
    if (!out.flush()) throw Error{ErrorKind::io, "cannot write " + settings.drawing};
}

} // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::CommandLine app{"Ranks of a simulated cluster that share a job, as Markdown"};
    app.add("--ranks", settings.ranks, "numbers of ranks").range(1, 1'000'000);
    app.add("--seconds", settings.seconds, "lengths of the job without any wait").range(1e-3, 1e4);
    app.add("--round-trips", settings.round_trips, "of a message and its answer, us").range(0.0, 1e6);
    app.add("--stragglers", settings.stragglers, "share of ranks that are ten times slower").range(0.0, 1.0);
    app.add("--message-cost", settings.message_cost, "of a message on its recipient, us; 0: measured")
        .range(0.0, 1e4);
    app.add("--look-cost", settings.look_cost, "of a look of a rank with ranks below, us; 0: measured")
        .range(0.0, 1e4);
    app.add("--units", settings.units_per_rank, "work units per rank");
    app.add("--seed", settings.seed, "of delays and of the places of stragglers");
    app.add("--epochs", settings.epochs, "lengths of epochs, s: a long job in epochs instead, with losses")
        .range(1e-3, 1e4);
    app.add("--seeds", settings.seeds, "epochs that are simulated for each length").range(1, 1000);
    app.add("--losses", settings.losses_per_minute, "ranks that are lost in a minute, with --epochs")
        .range(1e-6, 1e3);
    app.add("--drawing", settings.drawing, "SVG file to write: efficiency by length of the job");
    app.add("--commit", settings.commit, "to print");
    if (const auto code = app.parse(argc, argv)) return *code;
    try {
        Cost cost = measured_cost(settings);
        fmt::print("Commit {}. Measured: {:.2f} us a message, {:.2f} us a look.", settings.commit,
                   1e6 * seconds(cost.message), 1e6 * seconds(cost.look));
        if (settings.message_cost > 0) cost.message = microseconds(settings.message_cost);
        if (settings.look_cost > 0) cost.look = microseconds(settings.look_cost);
        fmt::print(" Used: {:.2f} and {:.2f} us. Of the ranks, {:.1f} % are ten times slower.\n\n",
                   1e6 * seconds(cost.message), 1e6 * seconds(cost.look), 100 * settings.stragglers);
        if (!settings.epochs.empty()) {
            fmt::print("| ranks | epoch, s | round trip, us | efficiency of an epoch, % | losses | work done "
                       "again, % | until losses are known, % | efficiency, % |\n"
                       "|---|---|---|---|---|---|---|---|\n");
            for (const int ranks : settings.ranks)
                for (const double round_trip : settings.round_trips)
                    for (const double epoch : settings.epochs)
                        run_with_losses(settings, cost, ranks, epoch, round_trip);
            return 0;
        }
        fmt::print(
            "| ranks | job, s | round trip, us | took, s | efficiency, % | lost at the start, % | between "
            "tasks, % | at the end, % | messages a rank | messages/s at rank 0 | rank 0 busy, % | the "
            "last rank waits for |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n");
        std::vector<Curve> curves;
        for (const int ranks : settings.ranks) {
            for (const double round_trip : settings.round_trips) {
                Curve& curve = curves.emplace_back(Curve{ranks, round_trip});
                for (const double job : settings.seconds)
                    curve.efficiencies.push_back(run(settings, cost, ranks, job, round_trip));
            }
        }
        if (!settings.drawing.empty()) draw(settings, curves);
    } catch (const Error& error) {
        std::cerr << "cluster_simulation: " << error.what() << '\n';
        return error.is_users_mistake() ? 2 : 1;
    }
    return 0;
}
