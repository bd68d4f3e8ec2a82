// bench/request_cost.cpp - what does one request cost the thread that submits it, and how long does an event
// take from one technology to another?
//
// A cost is CPU time of the submitting thread: what devices and other programs do meanwhile is not in it. The
// wall time stands beside it. Devices work the requests off while more are submitted; every so many of them
// are waited for, beside the clock, since a stream that has a hundred before it lets its caller wait.
#include <headrace/core/controller.hpp>
#include <headrace/devices/discovery.hpp>

#include "command_line.hpp"
#include "null_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace headrace;

struct Settings {
    std::string devices, commit = "unknown";
    unsigned requests = 2000, hops = 500, repeats = 9;
};

double nanoseconds_of(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct Cost {
    double cpu, wall; ///< ns each
};

Cost time_each(unsigned times, const std::function<void(unsigned)>& request) {
    const double cpu = nanoseconds_of(CLOCK_THREAD_CPUTIME_ID), wall = nanoseconds_of(CLOCK_MONOTONIC);
    for (unsigned i = 0; i < times; ++i) request(i);
    return {(nanoseconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu) / times,
            (nanoseconds_of(CLOCK_MONOTONIC) - wall) / times};
}

constexpr unsigned at_once = 40; // requests, of which some are two or three for a stream

/// "310 (290-450)": median, least and most.
std::string summary(const std::vector<Cost>& costs, double Cost::*which) {
    std::vector<double> values;
    for (const Cost& cost : costs) values.push_back(cost.*which);
    std::ranges::sort(values);
    return fmt::format("{:.0f} ({:.0f}-{:.0f})", values[values.size() / 2], values.front(), values.back());
}

/// Once more than asked; the first is a warm-up.
template <class Round>
std::vector<Cost> rounds(unsigned repeats, const Round& round) {
    std::vector<Cost> costs;
    for (unsigned i = 0; i <= repeats; ++i) {
        const Cost cost = round();
        if (i > 0) costs.push_back(cost);
    }
    return costs;
}

void nothing(const NativeStream&) {}

/// A datum in tiles of a cache line, in memory that the device copies from and to at full speed, or in any.
struct Tiled {
    static constexpr Bytes tile_bytes = 64;
    explicit Tiled(unsigned tiles) : storage("tiles", tiles * tile_bytes) { begin(tiles); }
    Tiled(unsigned tiles, Device& device)
        : storage("tiles", tiles * tile_bytes, device.allocate_host(tiles * tile_bytes)) {
        begin(tiles);
    }
    Storage storage;
    std::vector<Tile> all;

private:
    void begin(unsigned tiles) {
        std::fill_n(static_cast<std::byte*>(storage.host()), storage.bytes(), std::byte{});
        for (unsigned i = 0; i < tiles; ++i)
            all.push_back(storage.tile(i * tile_bytes, (i + 1) * tile_bytes));
        for (const Tile& tile : all) host_wrote(tile);
    }
};

/// The requests of one device: `beside` is another controller of it, `other` one of another device.
class RequestTable {
public:
    RequestTable(Device& device, Device* other, const Settings& settings)
        : settings_(settings),
          on_(device, {.private_copies = true}),
          in_place_(device),
          beside_(device, {.private_copies = true}),
          few_(3, device),
          many_(settings.requests, device),
          unpinned_(settings.requests) {
        if (other != nullptr) other_ = std::make_unique<Controller>(*other, ControllerOptions{true});
    }

    void print() {
        const TileUse updates{few_.all[0], Access::update}, reads{few_.all[0], Access::read};
        const TileUse three[] = {
            {few_.all[0], Access::update}, {few_.all[1], Access::read}, {few_.all[2], Access::read}};
        const auto kernel = [](Controller& on, std::span<const TileUse> uses) {
            on.launch("kernel", uses, nothing);
        };
        line("kernel, one tile", {}, [&](unsigned) { kernel(on_, {&updates, 1}); });
        line("kernel, three tiles", {}, [&](unsigned) { kernel(on_, three); });
        if (in_place_.is_zero_copy())
            line("kernel in place, one tile", {}, [&](unsigned) { kernel(in_place_, {&updates, 1}); });
        copies("", many_);
        copies(", ordinary host memory", unpinned_);
        line("host task, one tile", {}, [&](unsigned) { on_.host_task("host task", {&reads, 1}, [] {}); });
        line("kernel after one of this device's other controller, and its copy", {}, [&](unsigned i) {
            kernel(i % 2 == 0 ? on_ : beside_, {&updates, 1});
        });
        if (other_)
            line("kernel after one on " + other_->device().info().id + ", and its copies", {},
                 [&](unsigned i) {
                     kernel(i % 2 == 0 ? on_ : *other_, {&updates, 1});
                 });
        Event ended;
        line(
            "event wait, ended",
            [&] {
                ended = on_.launch("kernel", {&reads, 1}, nothing);
            },
            [&](unsigned) { ended.wait(); });
        line("kernel, and wait for it", {}, [&](unsigned) {
            on_.launch("kernel", {&reads, 1}, nothing).wait();
        });
    }

private:
    void copies(const std::string& where, Tiled& tiled) {
        const auto written = [&](const auto& by) {
            return [&tiled, by] {
                for (const Tile& tile : tiled.all) {
                    const TileUse use{tile, Access::write};
                    by(use);
                }
            };
        };
        line("copy to the device" + where, written([&](const TileUse& use) {
                 on_.host_task("host task", {&use, 1}, [] {});
             }),
             [&](unsigned i) { static_cast<void>(on_.prefetch(tiled.all[i])); });
        line("copy to the host" + where, written([&](const TileUse& use) {
                 on_.launch("kernel", {&use, 1}, nothing);
             }),
             [&](unsigned i) { static_cast<void>(gather(tiled.all[i])); });
    }

    void finish() {
        on_.wait_all();
        in_place_.wait_all();
        beside_.wait_all();
        if (other_) other_->wait_all();
        for (Tiled* tiled : {&few_, &many_, &unpinned_})
            for (const Tile& tile : tiled->all) headrace::wait(tile);
    }

    void line(const std::string& name, const std::function<void()>& prepare,
              const std::function<void(unsigned)>& request) {
        const auto costs = rounds(settings_.repeats, [&] {
            if (prepare) prepare();
            finish();
            Cost all{};
            for (unsigned done = 0; done < settings_.requests; done += at_once) {
                const unsigned count = std::min(at_once, settings_.requests - done);
                const Cost each = time_each(count, [&](unsigned i) { request(done + i); });
                all.cpu += each.cpu * count / settings_.requests;
                all.wall += each.wall * count / settings_.requests;
                on_.wait_all();
                beside_.wait_all();
            }
            finish();
            return all;
        });
        fmt::print("| {} | {} | {} | {} |\n", on_.device().info().id, name, summary(costs, &Cost::cpu),
                   summary(costs, &Cost::wall));
    }

    const Settings& settings_;
    Controller on_, in_place_, beside_;
    std::unique_ptr<Controller> other_;
    Tiled few_, many_, unpinned_;
};

/// Empty kernels in turn on two streams, each after the one before it on the other: ns from one to the next.
std::vector<Cost> hop(Device& from, Device& to, const Settings& settings) {
    const auto one = from.make_stream(), two = to.make_stream();
    return rounds(settings.repeats, [&] {
        Event last;
        return time_each(1, [&](unsigned) {
            for (unsigned i = 0; i < settings.hops; ++i)
                last = (i % 2 == 0 ? one : two)->launch(nothing, {&last, 1});
            last.wait();
        });
    });
}

/// From the host, which settles an event, to a kernel that waits for it, and back to the host.
std::vector<Cost> round_trip(Device& device, const Settings& settings) {
    const auto stream = device.make_stream();
    return rounds(settings.repeats, [&] {
        return time_each(settings.hops, [&](unsigned) {
            Promise gate;
            const Event before = gate.event();
            const Event after = stream->launch(nothing, {&before, 1});
            gate.complete();
            after.wait();
        });
    });
}

void print_bridges(const std::vector<std::unique_ptr<Device>>& devices, const Settings& settings) {
    fmt::print("\n| from | to | ns |\n|---|---|---|\n");
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const std::string& id = devices[i]->info().id;
        fmt::print("| host | {} and back | {} |\n", id,
                   summary(round_trip(*devices[i], settings), &Cost::wall));
        for (std::size_t j = i; j < devices.size(); ++j) {
            auto costs = hop(*devices[i], *devices[j], settings);
            for (Cost& cost : costs) cost.wall /= settings.hops;
            fmt::print("| {} | {} | {} |\n", id, i == j ? "another of its streams" : devices[j]->info().id,
                       summary(costs, &Cost::wall));
        }
    }
}

void run(const Settings& settings) {
    const auto devices = select_devices(settings.devices).devices;
    fmt::print("Commit {}, {} requests and {} hops a round, median of {} rounds (least-most).\n\n",
               settings.commit, settings.requests, settings.hops, settings.repeats);
    for (const auto& device : devices)
        fmt::print("- {}: {}, {}\n", device->info().id, device->info().name, device->info().driver);
    NullDevice none;
    fmt::print("- {}: {}\n", none.info().id, none.info().name);
    fmt::print("\n| device | request | CPU ns of the submitting thread | wall ns |\n|---|---|---|---|\n");
    RequestTable(none, nullptr, settings).print();
    for (std::size_t i = 0; i < devices.size(); ++i) {
        Device* const other = devices.size() > 1 ? devices[(i + 1) % devices.size()].get() : nullptr;
        RequestTable(*devices[i], other, settings).print();
    }
    print_bridges(devices, settings);
}

} // namespace

int main(int argc, char** argv) {
    Settings settings;
    bench::CommandLine app{
        "Cost of a request on the submitting thread, and latency of events between devices, as "
        "Markdown"};
    app.add("--devices", settings.devices, "device list; default: all there are");
    app.add("--requests", settings.requests, "in a round").range(1, 1'000'000);
    app.add("--hops", settings.hops, "in a round").range(2, 1'000'000);
    app.add("--repeats", settings.repeats, "rounds, after one of warm-up").range(5, 1000);
    app.add("--commit", settings.commit, "to print");
    if (const auto code = app.parse(argc, argv)) return *code;
    try {
        run(settings);
    } catch (const Error& error) {
        std::cerr << "request_cost: " << error.what() << '\n';
        return error.is_users_mistake() ? 2 : 1;
    }
    return 0;
}
