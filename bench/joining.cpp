// bench/joining.cpp - how long does it take until what several devices wrote into replicas of their own is
// one domain on the host, beside moving the domain from each device to the host once?
//
// Moves and joins take turns; the first turn is dropped. The job comes before the clock starts. Prints a
// Markdown table of medians. Fails if an element is wrong, or if a device took no part.
#include "command_line.hpp"
#include "joining.kernels.hpp"

#include <headrace/headrace.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace headrace;
using Values = Domain<std::uint64_t>;

struct Options {
    std::string devices = "cuda:0,cuda:1", commit = "unknown";
    std::vector<std::uint64_t> mebibytes = {1, 16, 128, 1024};
    unsigned repeats = 5;
};

double seconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A copy of the domain on each device of the runtime.
class Moves {
public:
    Moves(const std::string& devices, Bytes bytes) : bytes_(bytes) {
        for (auto& device : select_devices(devices).devices) {
            Copy copy{.device = std::move(device)};
            copy.memory = copy.device->allocate(bytes);
            copy.stream = copy.device->make_stream();
            copy.stream->fill_zero(*copy.memory, 0, bytes).wait();
            copies_.push_back(std::move(copy));
        }
    }
    /// All at once, to places of their own: to one place they would write each other's pages.
    void to_host(const std::vector<std::uint64_t*>& places) {
        for (std::size_t i = 0; i < copies_.size(); ++i)
            copies_[i].done = copies_[i].stream->copy_out(places[i], *copies_[i].memory, 0, bytes_, {});
        for (const Copy& copy : copies_) copy.done.wait();
    }
    [[nodiscard]] std::size_t count() const { return copies_.size(); }

private:
    struct Copy {
        std::unique_ptr<Device> device;
        std::unique_ptr<Memory> memory{};
        std::unique_ptr<Stream> stream{};
        Event done{};
    };
    Bytes bytes_;
    std::vector<Copy> copies_;
};

/// A declaration, and what elements become by it.
struct Way {
    std::string_view name;
    Job (*job)(const Values& x, std::uint64_t turn);
    std::uint64_t (*after)(std::uint64_t i, std::uint64_t turn); ///< turns begin with 0
};

Job job_on(const Values& x) {
    Job job("write", x.size());
    job.policy("dynamic:16"); // whatever the devices' speeds are, each takes part
    return job;
}

constexpr std::array ways{
    Way{"scatters",
        [](const Values& x, std::uint64_t turn) {
            Job job = job_on(x);
            job.scatters(x).kernel([x, turn](Task& t) { return bench::ScatterOne{t.scatter(x), turn}; });
            return job;
        },
        [](std::uint64_t i, std::uint64_t turn) { return i + turn; }},
    Way{"accumulates",
        [](const Values& x, std::uint64_t turn) {
            Job job = job_on(x);
            job.accumulates(x).kernel([x, turn](Task& t) { return bench::AddOne{t.sum(x), turn}; });
            return job;
        },
        [](std::uint64_t i, std::uint64_t turn) { return (turn + 1) * i + turn * (turn + 1) / 2; }},
};

double median(const std::vector<double>& sorted) { return sorted[sorted.size() / 2]; }

std::string text_of(const std::vector<double>& sorted) {
    return fmt::format("{:.2f} ({:.2f} to {:.2f})", median(sorted) * 1e3, sorted.front() * 1e3,
                       sorted.back() * 1e3);
}

void measure(Runtime& runtime, const Options& options, std::uint64_t mebibytes, bool is_pinned) {
    const Bytes bytes = mebibytes << 20;
    const std::uint64_t size = bytes / sizeof(std::uint64_t);
    Moves moves(options.devices, bytes);
    const auto make = [&](const std::string& name) {
        Values x = is_pinned ? Values(name, {size}, runtime.allocate_host(bytes)) : Values(name, {size});
        std::ranges::fill(x.fill(), 0);
        return x;
    };
    std::vector<Values> places;
    for (std::size_t i = 0; i < moves.count(); ++i) places.push_back(make("place"));
    std::vector<std::uint64_t*> at;
    for (Values& place : places) at.push_back(place.fill().data());

    for (const Way& way : ways) {
        const Values x = make("x");
        std::vector<double> moved, joined;
        for (unsigned turn = 0; turn <= options.repeats; ++turn) {
            const double move = seconds_of([&] { moves.to_host(at); });
            const JobHandle run = runtime.submit(way.job(x, turn));
            run.wait();
            for (const DeviceReport& device : run.report().devices)
                if (device.work_units == 0) throw std::runtime_error(device.id + " took no part");
            std::span<const std::uint64_t> result;
            const double join = seconds_of([&] { result = x.gather(); });
            for (std::uint64_t place = 0; place < size; ++place)
                if (result[place] != way.after(bench::index_at(place, size), turn))
                    throw std::runtime_error(fmt::format("{}: element {} is wrong", way.name, place));
            if (turn == 0) continue;
            moved.push_back(move);
            joined.push_back(join);
        }
        std::ranges::sort(moved);
        std::ranges::sort(joined);
        fmt::print("| {} | {} | {} | {} | {} | {:.2f} |\n", mebibytes, is_pinned ? "pinned" : "pageable",
                   way.name, text_of(moved), text_of(joined), median(joined) / median(moved));
        std::cout.flush();
    }
}

} // namespace

int main(int argc, char** argv) try {
    Options options;
    bench::CommandLine app("How long devices take to join what they wrote into replicas of their own.");
    app.add("--devices", options.devices);
    app.add("--mebibytes", options.mebibytes, "sizes of the domain, powers of two").with_commas().positive();
    app.add("--repeat", options.repeats, "turns after the first, which warms up").range(1, 1000);
    app.add("--commit", options.commit, "what was measured, for the heading");
    if (const auto code = app.parse(argc, argv)) return *code;
    if (!std::ranges::all_of(options.mebibytes, std::has_single_bit<std::uint64_t>))
        throw std::invalid_argument("--mebibytes takes powers of two");

    Runtime runtime({.devices = options.devices});
    for (const DeviceInfo* info : runtime.devices())
        fmt::print("{} ({}, {}); ", info->id, info->name, info->driver);
    fmt::print("commit {}; medians (least to most) of {} turns after a warm-up\n\n"
               "| MiB | host memory | job | move [ms] | join [ms] | of a move |\n|---|---|---|---|---|---|\n",
               options.commit, options.repeats);
    for (const std::uint64_t mebibytes : options.mebibytes)
        for (const bool is_pinned : {false, true}) measure(runtime, options, mebibytes, is_pinned);
    return 0;
} catch (const std::exception& error) {
    std::cerr << "joining: " << error.what() << '\n';
    return 1;
}
