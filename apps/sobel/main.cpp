// apps/sobel/main.cpp - headrace-sobel: edges of every frame of a video, from and to files, pipes and memory.
#include "controller_program/run.hpp"
#include "filter.hpp"
#include "frame_counter.hpp"
#include "options.hpp"
#include "video/picture_stream.hpp"
#include <headrace/core/log.hpp>

#include <algorithm>
#include <csignal>
#include <limits>
#include <memory>
#include <optional>

#include <unistd.h>

namespace {

using namespace sobel;
using controller_program::Machine;
using Kind = Place::Kind;

/// What frames look like that do not say it themselves.
std::optional<FrameFormat> given_format(const Options& options, Kind input) {
    const bool is_given = options.width != 0 || options.height != 0;
    if (input == Kind::pictures) return std::nullopt;
    if (input == Kind::stream)
        return is_given ? std::optional(yuv_420(options.width, options.height)) : std::nullopt;
    return as_y4m(is_given ? yuv_420(options.width, options.height) : yuv_420(1920, 1080));
}

FrameFormat output_format(const FrameFormat& input, const std::string& file) {
    return file.ends_with(".yuv") ? as_raw(input) : file.ends_with(".y4m") ? as_y4m(input) : input;
}

/// The first GPU among them, else the first: a stream has one device.
std::size_t chosen_device(Machine& machine) {
    for (std::size_t i = 0; i < machine.device_count(); ++i)
        if (machine.device(i).info().kind == headrace::DeviceKind::gpu) return i;
    return 0;
}

/// All of memory that the machine has is too much for frames.
void check_size(const FrameFormat& format, std::int64_t frames) {
    const double needed = static_cast<double>(format.bytes()) * static_cast<double>(frames);
    const double memory =
        static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
    if (needed > memory)
        program::refuse(std::to_string(frames) + " frames of " + std::to_string(format.bytes()) +
                        " bytes in memory need " + std::to_string(static_cast<long long>(needed / 1e9)) +
                        " GB, more than the " + std::to_string(static_cast<long long>(memory / 1e9)) +
                        " GB of this machine");
}

/// Of frames in memory: every byte counts, and its place does.
std::int64_t checksum(const Filter& filter, std::int64_t places) {
    std::uint64_t sum = 0;
    for (std::int64_t place = 0; place < places; ++place)
        for (const std::uint8_t byte : filter.edges(place)) sum = (sum ^ byte) * 0x100000001b3;
    return static_cast<std::int64_t>(sum >> 1);
}

void filter_frames(const Options& options, Machine& machine) {
    const Place from = Place::parse("--input", options.input, true),
                to = Place::parse("--output", options.output, false);
    const std::optional<FrameFormat> given = given_format(options, from.kind);

    std::unique_ptr<FrameSource> source;
    FrameFormat format = given.value_or(FrameFormat{});
    std::int64_t first_number = 0; // of pictures
    std::int64_t most = options.frames != 0 ? options.frames : std::numeric_limits<std::int64_t>::max();
    if (from.kind == Kind::stream) {
        auto stream = std::make_unique<StreamSource>(from.file, given ? &*given : nullptr);
        format = stream->format();
        if (format.interlacing == video::Interlacing::mixed)
            headrace::log_warning(options.input +
                                  ": its interlacing changes from frame to frame (Im): edges are found in "
                                  "whole frames, not in fields");
        source = std::move(stream);
    } else if (from.kind == Kind::pictures) {
        auto pictures =
            std::make_unique<video::PictureSource>(*video::FrameNames::parse(from.file), options.start, most);
        format = pictures->format();
        first_number = pictures->first_number();
        source = std::move(pictures);
    } else if (options.frames == 0) {
        most = from.frames;
    }
    if (options.start && from.kind != Kind::pictures)
        program::refuse("--start " + std::to_string(*options.start) +
                        ": --input has no number, such as frame_%04d.png");
    if (from.kind == Kind::pictures && to.kind == Kind::stream)
        program::refuse("--output " + to.file + ": edges of pictures go to pictures, such as edges_%04d.png");
    const int in_flight = machine.is_asynchronous() ? options.in_flight : 1;
    const int places_in = from.kind == Kind::memory ? from.frames : in_flight;
    const int places_out = to.kind == Kind::memory ? to.frames : in_flight;
    check_size(format, std::int64_t{places_in} + places_out + (from.kind == Kind::copied ? from.frames : 0) +
                           (to.kind == Kind::copied ? to.frames : 0));
    if (from.kind == Kind::copied) source = std::make_unique<MemorySource>(format, from.frames);
    std::unique_ptr<FrameSink> sink;
    if (to.kind == Kind::stream) sink = std::make_unique<StreamSink>(to.file, output_format(format, to.file));
    if (to.kind == Kind::pictures)
        sink = std::make_unique<video::PictureSink>(*video::FrameNames::parse(to.file), first_number, format);
    if (to.kind == Kind::copied) sink = std::make_unique<MemorySink>(format, to.frames);

    headrace::Controller& controller = machine.controller(chosen_device(machine));
    Filter filter({controller, machine.lane("reading"), machine.lane("writing")}, format, places_in,
                  places_out);
    if (from.kind == Kind::memory)
        for (int i = 0; i < places_in; ++i) generate(i, filter.frame(i));

    FrameCounter counter(!machine.is_quiet());
    std::int64_t frames = 0;
    machine.timed([&] {
        frames = filter.run(source.get(), sink.get(), most, [&](std::int64_t i) { counter.show(i); });
    });
    counter.finish();
    machine.report("frames", frames);
    machine.report("width", std::int64_t{format.planes.plane[0].columns});
    machine.report("height", std::int64_t{format.planes.plane[0].rows});
    machine.report("frames_per_second", static_cast<double>(frames) / machine.report().seconds);
    if (to.kind == Kind::memory)
        machine.report("checksum", checksum(filter, std::min<std::int64_t>(frames, places_out)));
}

} // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN); // a reader that leaves is an error of writing, with words
    Options options;
    program::CommandLine line("headrace-sobel", "Edges of every frame of a video, each plane on its own.");
    line.example({"headrace-sobel --input memory:20 --width 640 --height 360 --output edges.y4m"});
    options.declare(line);
    return controller_program::run(line, argc, argv,
                                   [&](Machine& machine) { filter_frames(options, machine); });
}
