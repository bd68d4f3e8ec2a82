// apps/optical_flow/main.cpp - headrace-optical-flow: how the picture moves from each frame of a video to the
// next.
#include "controller_program/run.hpp"
#include "controller_program/stream_report.hpp"
#include "flow_on_ranks.hpp"
#include "flow_stream.hpp"
#include "norm.hpp"
#include "options.hpp"
#include "program/numbers.hpp"
#include "program/quiet_process.hpp"
#include "program/used_files.hpp"
#include "truth.hpp"
#include "video/frame_names.hpp"
#include <headrace/core/log.hpp>
#include <headrace/domains/calibrations.hpp>

#include <fmt/format.h>
#include <tbb/info.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <system_error>
#include <vector>

namespace {

using namespace optical_flow;
using controller_program::Machine;

/// For what the processor does beside each other, as far as memory goes; none where one request is made after
/// another.
std::vector<headrace::HostLane*> lanes(Machine& machine, const std::string& name, headrace::Bytes of_one) {
    if (!machine.is_asynchronous()) return {};
    constexpr headrace::Bytes most = headrace::Bytes{4} << 30; // 8 pairs of 8K
    const auto cores = static_cast<std::size_t>(tbb::info::default_concurrency());
    std::vector<headrace::HostLane*> made;
    for (std::size_t i = 0; i < std::clamp<std::size_t>(most / of_one, 1, cores); ++i)
        made.push_back(&machine.lane(name + " " + std::to_string(i)));
    return made;
}

std::vector<std::unique_ptr<FlowSink>> open_sinks(const Options& options, Machine& machine, Size size,
                                                  const std::string& rate) {
    const auto longest = static_cast<float>(options.longest);
    std::vector<std::unique_ptr<FlowSink>> sinks;
    if (!options.folder.empty())
        sinks.push_back(std::make_unique<FlowFolder>(
            options.folder, size, longest, lanes(machine, "writing", FlowFolder::bytes_of_lane(size))));
    if (const auto pictures = video::FrameNames::of_output(options.video))
        sinks.push_back(std::make_unique<FlowPictures>(*pictures, size, longest));
    else if (!options.video.empty())
        sinks.push_back(std::make_unique<FlowVideo>(options.video, size, longest, rate));
    return sinks;
}

/// Cut points as a user writes them name the last block of each part.
std::vector<headrace::StreamCut> cuts_of(FlowStream& flow, const Options& options, std::size_t devices) {
    std::vector<headrace::StreamCut> cuts;
    std::size_t begin = 0;
    for (const CutPoint& point : options.cuts) {
        const std::string device = "--cut: device " + std::to_string(point.device);
        if (point.device >= devices)
            program::refuse(device + " is not there; --devices has 0 to " + std::to_string(devices - 1));
        if (std::ranges::find(cuts, point.device, &headrace::StreamCut::device) != cuts.end())
            program::refuse(device + " has two parts; one is the most");
        const auto last = flow.piece_that_ends(point.level, point.warp, point.iterations);
        if (!last) program::refuse("--cut: no block ends there; " + flow.blocks_text(point.level));
        if (*last < begin)
            program::refuse(device + " has nothing to do; its cut point does not come after the one before");
        cuts.push_back({point.device, begin, *last + 1});
        begin = *last + 1;
    }
    if (begin != flow.pipeline().pieces())
        program::refuse("--cut: the end of the work is nobody's; the last cut point is DEVICE:" +
                        std::to_string(options.settings.levels - 1) + "," +
                        std::to_string(options.settings.warps - 1));
    return cuts;
}

/// What a run does with its devices.
struct Plan {
    std::size_t devices; ///< that take part
    std::vector<headrace::Controller*> controllers;
    std::size_t in_flight;
};

/// Of whole pairs several at once fill a GPU; parts are one device's, one after another.
Plan plan_of(const Options& options, Machine& machine, Size size) {
    const auto map = static_cast<Options::Map>(options.map);
    const bool first_alone = options.cuts.empty() && map == Options::Map::first;
    const std::size_t devices = first_alone ? 1 : machine.device_count();
    const bool whole = options.cuts.empty() && (devices == 1 || map != Options::Map::parts);
    const auto at_once = [&](std::size_t device) {
        if (!whole || !machine.is_asynchronous()) return std::size_t{1};
        return options.at_once > 0
                   ? static_cast<std::size_t>(options.at_once)
                   : pairs_that_fill(machine.controller(device).device().info(), size, devices);
    };
    Plan plan{.devices = devices, .controllers = {}, .in_flight = 1};
    for_pairs_in_turns(devices, at_once, [&](std::size_t turn, std::size_t device) {
        plan.controllers.push_back(&machine.controller(turn * machine.device_count() + device));
    });
    if (!machine.is_asynchronous()) return plan; // one pair after another
    const std::size_t count = plan.controllers.size();
    // Of whole pairs one is fetched or finished while another is computed.
    plan.in_flight = options.in_flight > 0 ? static_cast<std::size_t>(options.in_flight)
                     : whole               ? 2 * count
                                           : count + 1;
    return plan;
}

void choose_mapping(const Options& options, const Plan& plan, FlowStream& flow,
                    headrace::PerformanceModel& model) {
    const auto map = static_cast<Options::Map>(options.map);
    flow.pipeline().time_parts();
    flow.pipeline().compare_with(model); // where it is not found: if an earlier run has measured
    if (!options.cuts.empty())
        flow.pipeline().map(cuts_of(flow, options, plan.controllers.size()));
    else if (plan.devices == 1 || map == Options::Map::whole)
        flow.pipeline().give_whole_items();
    else if (map == Options::Map::parts)
        flow.pipeline().find_mapping(model);
    else
        flow.pipeline().find_division(model);
}

void report_pairs(Machine& machine, std::int64_t pairs) {
    machine.report("pairs", pairs);
    if (pairs > 0) machine.report("seconds_per_pair", machine.report().seconds / static_cast<double>(pairs));
}

void report_ranks(Machine& machine, const std::vector<double>& of_ranks) {
    std::string text;
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank)
        text += fmt::format("{}rank {}: {:.0f} pairs", rank > 0 ? "; " : "", rank, of_ranks[rank]);
    machine.report("rank_shares", text);
    machine.report("rank_pairs", of_ranks);
}

/// How far from the truth, of all pairs that had one and of each.
void report(Machine& machine, const std::vector<EndPointErrors>& pairs) {
    EndPointErrors all;
    std::vector<double> means, shares;
    for (const EndPointErrors& pair : pairs) {
        all.sum += pair.sum;
        all.large += pair.large;
        all.known += pair.known;
        means.push_back(pair.mean());
        shares.push_back(pair.share_of_large());
    }
    machine.report("end_point_error", all.mean());
    machine.report("share_above_3_px", all.share_of_large());
    machine.report("end_point_errors", means);
    machine.report("shares_above_3_px", shares);
}

void find_flow(const Options& options, Machine& machine) {
    if (options.input.empty()) program::refuse("--input is needed: files, - or memory:N; see --help");
    if (options.frames == 1) program::refuse("--frames: one frame has no flow; two are the least");
    constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
    const std::int64_t frames = options.frames > 0 ? options.frames : all;
    const std::vector<std::string> inputs = input_names(options.input, options.start, frames);
    if (machine.session() != nullptr) expect_files(inputs);
    const std::unique_ptr<FrameSource> source = open_frames(inputs, options.generated);
    const Size size = source->size();
    const bool is_first = !program::is_quiet();
    if (const std::string note = source->note(); !note.empty() && is_first)
        headrace::log_warning(inputs.front() + ": " + note);
    // Frames up to this one will be read by this process.
    const auto decode_up_to = [&](std::int64_t frame) {
        if (const headrace::Bytes bytes = source->bytes_ahead(); bytes > 0)
            source->decode_ahead(lanes(machine, "decoding", bytes), frame);
    };
    std::optional<Truth> truth;
    if (!options.truth.empty() && is_first) truth.emplace(input_names(options.truth), size);
    const Plan plan = plan_of(options, machine, size);
    headrace::Calibrations calibrations; // first: what measures outlives who asks
    FlowStream flow({plan.controllers, machine.lane("reading"), machine.lane("finishing")}, size,
                    options.settings, static_cast<headrace::Filter>(options.filter), plan.in_flight);
    choose_mapping(options, plan, flow, calibrations);
    if (!options.folder.empty())
        program::note_outputs("--output-dir", options.folder, [](const std::string& name) {
            static const std::regex ours(R"(flow_\d{5,}\.(png|flo))");
            return std::regex_match(name, ours);
        });
    if (const auto pictures = video::FrameNames::of_output(options.video))
        program::note_outputs("--output", pictures->folder(), [pictures](const std::string& name) {
            return pictures->number_of(name).has_value();
        });
    std::vector<std::unique_ptr<FlowSink>> sinks;
    if (is_first) // last: nothing is overwritten for a mistake in an option
        sinks = open_sinks(options, machine, size, source->rate());

    std::vector<double> norms;
    const auto finish = [&](std::int64_t pair, double norm, std::span<const float> u,
                            std::span<const float> v) {
        norms.push_back(norm);
        if (truth) truth->compare(u, v);
        for (const auto& sink : sinks) sink->write(pair, u, v);
    };
    const auto wait = [&] {
        for (const auto& sink : sinks) sink->wait();
    };
    std::optional<FlowOnRanks> on_ranks;
    if (machine.session() != nullptr)
        on_ranks.emplace(*machine.session(), flow, *source, plan.in_flight,
                         !options.folder.empty() || !options.video.empty() || !options.truth.empty());
    std::int64_t pairs = 0;
    machine.timed([&] {
        try {
            if (on_ranks) {
                pairs = on_ranks->run(finish, decode_up_to, frames - 1);
            } else {
                decode_up_to(frames);
                pairs = flow.run(
                    *source,
                    [&](std::int64_t pair, std::span<const float> u, std::span<const float> v) {
                        finish(pair, norm(u, v), u, v);
                    },
                    frames - 1);
            }
        } catch (...) {
            wait(); // what is wrong with a pair before goes first
            throw;
        }
        wait();
    });
    for (const auto& sink : sinks) sink->close();
    if (pairs == 0) program::refuse("--input: there are fewer than two frames; flow needs two");

    if (truth) truth->expect_all_used();

    machine.report("width", std::int64_t{size.width});
    machine.report("height", std::int64_t{size.height});
    report_pairs(machine, pairs);
    if (on_ranks)
        report_ranks(machine, on_ranks->pairs_of_ranks());
    else
        controller_program::report_stream(machine, flow.pipeline().report());
    machine.report("norms", norms);
    if (truth) report(machine, truth->errors());
}

} // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN); // a reader that leaves is an error of writing, with words
    Options options;
    program::CommandLine line("headrace-optical-flow", "How the picture moves from each frame to the next.");
    line.example({"headrace-optical-flow --input memory:3 --width 320 --height 180 --output-dir flow"});
    options.declare(line);
    return controller_program::run(
        line, argc, argv, [&](Machine& machine) { find_flow(options, machine); },
        controller_program::OnRanks::shared);
}
