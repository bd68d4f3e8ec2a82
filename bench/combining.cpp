// bench/combining.cpp - how many numbers a second do kernels combine into elements at random: by exact sums
// and reductions beside plain sums, which are the baseline?
//
// The contestants take turns on one device; the first turn is dropped. Times are the host's, of one launch.
// Prints a Markdown table of medians. Fails if exact sums differ from turn to turn.
#include "combining.kernels.hpp"
#include "command_line.hpp"

#include <headrace/devices/discovery.hpp>
#include <headrace/domains/detail/joining.hpp>
#include <headrace/persistent/engine.hpp>
#include <headrace/persistent/launcher.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace bench;
using headrace::ExactSum;
using headrace::Extent;

struct Options {
    std::string device = "cuda:0", commit = "unknown";
    std::vector<std::uint64_t> elements = {1'000'000, 1000, 1};
    std::uint64_t numbers = 1 << 26;
    unsigned repeats = 9;
};

struct Place {
    std::unique_ptr<headrace::Device> device;
    std::unique_ptr<headrace::Stream> stream;
};

template <class Kernel>
headrace::Launcher launcher_for(const std::string& technology) {
    using namespace headrace;
    if (const auto launcher = compiled_for<EngineKernel<Kernel, Indices>>(technology)) return launcher;
    throw std::runtime_error("no kernel for " + technology);
}

/// A program of a row: a kernel that combines into words which begin as `image`.
class Contestant {
public:
    /// `make` gives the kernel for where the words are.
    template <class Word, class Make>
    Contestant(std::string name, Place& place, std::vector<Word> image, const Make& make)
        : name_(std::move(name)), stream_(*place.stream) {
        image_.resize(image.size() * sizeof(Word));
        std::memcpy(image_.data(), image.data(), image_.size());
        memory_ = place.device->allocate(image_.size());
        const auto kernel = make(static_cast<Word*>(memory_->address()));
        const headrace::Indices seeds;
        engine_ = std::make_unique<headrace::Engine>(
            *place.device, stream_,
            launcher_for<std::remove_const_t<decltype(kernel)>>(place.device->info().technology)
                .bind(&kernel, sizeof kernel, &seeds, sizeof seeds));
    }
    void take_turn(std::uint64_t numbers, bool counts) {
        stream_.copy_in(*memory_, 0, image_.data(), image_.size(), {}).wait();
        const auto begin = std::chrono::steady_clock::now();
        engine_->start(0, numbers);
        while (engine_->collect() == headrace::Engine::State::paused) engine_->resume();
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        if (counts) rates_.push_back(static_cast<double>(numbers) / taken.count());
    }
    std::vector<std::byte> result() const {
        std::vector<std::byte> words(image_.size());
        stream_.copy_out(words.data(), *memory_, 0, words.size(), {}).wait();
        return words;
    }
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] std::vector<double> sorted_rates() const {
        std::vector<double> rates = rates_;
        std::ranges::sort(rates);
        return rates;
    }

private:
    std::string name_;
    headrace::Stream& stream_;
    std::vector<std::byte> image_;
    std::unique_ptr<headrace::Memory> memory_;
    std::unique_ptr<headrace::Engine> engine_;
    std::vector<double> rates_;
};

/// Combines into a private replica as jobs have it: with slots for lanes, where there are few elements. View:
/// the sum or the reduction.
template <class Kernel, class View, class T>
Contestant in_slots(const char* name, Place& place, std::uint64_t n, T identity) {
    const auto slots = headrace::lane_slots(place.device->info(), n * sizeof(T));
    const std::uint64_t words = slots.last == 0 ? n : std::uint64_t{slots.count()} * slots.bytes / sizeof(T);
    return {name, place, std::vector<T>(words, identity), [n, slots](T* at) {
                return Kernel{View{at, {{n, 1, 1}}, slots}};
            }};
}
template <class T>
Contestant plain(const char* name, Place& place, std::uint64_t n) {
    return in_slots<AddPlain<T>, headrace::Sum<T>>(name, place, n, T{});
}
/// Kernel: AddExact or AddDeclared, of sums of type Exact.
template <class Kernel, class Exact>
Contestant exact(const char* name, Place& place, std::uint64_t n) {
    return {name, place, std::vector<std::uint64_t>(n * Exact::Words::words), [n](std::uint64_t* at) {
                return Kernel{{at, {{n, 1, 1}}, n}};
            }};
}
template <class T>
Contestant least(const char* name, Place& place, std::uint64_t n) {
    return {name, place, std::vector<T>(n, headrace::identity_of<T, headrace::Min>()), [n](T* at) {
                return FindLeast<T>{{at, {{n, 1, 1}}}};
            }};
}

/// The sums that planes of words hold.
template <class Exact>
std::vector<Exact> sums_of(const Contestant& contestant, std::uint64_t n) {
    const std::vector<std::byte> bytes = contestant.result();
    std::vector<std::uint64_t> planes(bytes.size() / sizeof(std::uint64_t));
    std::memcpy(planes.data(), bytes.data(), bytes.size());
    std::vector<Exact> sums(n);
    headrace::add_planes(std::span(sums), planes.data(), n);
    return sums;
}

void measure(Place& place, const Options& options, std::uint64_t n) {
    std::vector<Contestant> all;
    all.push_back(plain<double>("Sum<double>", place, n));
    all.push_back(exact<AddExact<double>, ExactSum<double>>("ExactSum<double>", place, n));
    all.push_back(exact<AddDeclared<double>, ExactSum<double, CoarseRange>>(
        "ExactSum<double>, range declared", place, n));
    all.push_back(least<double>("Min, double", place, n));
    all.push_back(plain<float>("Sum<float>", place, n));
    all.push_back(exact<AddExact<float>, ExactSum<float>>("ExactSum<float>", place, n));
    all.push_back(
        exact<AddDeclared<float>, ExactSum<float, CoarseRange>>("ExactSum<float>, range declared", place, n));
    all.push_back(least<float>("Min, float", place, n));
    all.push_back(in_slots<Flip, headrace::Reduction<std::uint64_t, headrace::BitXor>>(
        "BitXor, 8 bytes", place, n, std::uint64_t{0}));
    all.push_back(in_slots<FindLowest, headrace::Reduction<Found, Lowest>>(
        "one's own operation, 8 bytes, few changes", place, n, Lowest::identity()));
    all.push_back(in_slots<Multiply, headrace::Reduction<std::uint64_t, Product>>(
        "one's own operation, 8 bytes, many changes", place, n, Product::identity()));

    std::optional<std::vector<ExactSum<double>>> first;
    for (unsigned turn = 0; turn <= options.repeats; ++turn) {
        for (Contestant& contestant : all) contestant.take_turn(options.numbers, turn > 0);
        auto sums = sums_of<ExactSum<double>>(all[1], n);
        if (!first)
            first = std::move(sums);
        else if (!std::ranges::equal(*first, sums, {}, &ExactSum<double>::value, &ExactSum<double>::value))
            throw std::runtime_error("exact sums differ from turn to turn");
    }
    std::vector<double> baseline;
    for (const Contestant& contestant : all) {
        const std::vector<double> rates = contestant.sorted_rates();
        if (contestant.name().starts_with("Sum")) baseline = rates;
        const std::size_t middle = rates.size() / 2;
        fmt::print("| {} | {} | {:.3f} ({:.3f} to {:.3f}) | {:.3f} |\n", n, contestant.name(),
                   rates[middle] / 1e9, rates.front() / 1e9, rates.back() / 1e9,
                   rates[middle] / baseline[baseline.size() / 2]);
    }
}

} // namespace

int main(int argc, char** argv) try {
    Options options;
    bench::CommandLine app("How many numbers a second kernels combine into elements at random.");
    app.add("--device", options.device);
    app.add("--elements", options.elements).with_commas().positive();
    app.add("--numbers", options.numbers, "that a turn combines").positive();
    app.add("--repeat", options.repeats, "turns after the first, which warms up").range(1, 1000);
    app.add("--commit", options.commit, "what was measured, for the heading");
    if (const auto code = app.parse(argc, argv)) return *code;

    Place place{std::move(headrace::select_devices(options.device).devices.at(0)), {}};
    place.stream = place.device->make_stream(headrace::Timing::all);
    const headrace::DeviceInfo& info = place.device->info();
    fmt::print(
        "{} ({}, {}), commit {}; {} numbers a turn, medians (least to most) of {} turns after a warm-up\n\n"
        "| elements | program | G/s | of the plain sum's |\n|---|---|---|---|\n",
        info.id, info.name, info.driver, options.commit, options.numbers, options.repeats);
    for (const std::uint64_t elements : options.elements) measure(place, options, elements);
    return 0;
} catch (const std::exception& error) {
    std::cerr << "combining: " << error.what() << '\n';
    return 1;
}
