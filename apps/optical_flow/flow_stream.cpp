// apps/optical_flow/flow_stream.cpp - see flow_stream.hpp.
#include "flow_stream.hpp"
#include "flow.kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace optical_flow {

using headrace::Event;
using headrace::internal;
using headrace::Sizes;
using headrace::StreamPiece;
using headrace::StreamStep;

namespace {

/// Frames that are read before their pair is begun.
constexpr std::size_t read_ahead = 2;

/// Columns of what Relax works on.
int pitch_of(Size size) { return (size.width + 3) / 4 * 4; }

Sizes sizes_of(Size size) { return {size.height, size.width}; }
Sizes padded(Size size) { return {size.height, pitch_of(size)}; }

float ratio(int of, int to) { return static_cast<float>(of) / static_cast<float>(to); }

/// What was read ahead is of no use when a stream has been left, and neither is what went wrong with it; but
/// the source is somebody else's.
struct ReadAhead {
    headrace::HostLane& reading;
    ~ReadAhead() {
        try {
            reading.wait_all();
        } catch (const headrace::Error&) { // see above
        }
    }
};

} // namespace

std::size_t pairs_that_fill(const headrace::DeviceInfo& device, Size size, std::size_t devices) {
    if (device.kind != headrace::DeviceKind::gpu) return 1;
    // On an H200 more made it slower, or no faster: 640 x 480, 1920 x 1080, 3840 x 2160 took 0.43, 0.56 and
    // 0.79 of the time that one at once takes, 7680 x 4320 0.91.
    constexpr std::size_t pixels = 1 << 23; // of all of them
    const std::size_t fill = std::clamp<std::size_t>(pixels / size.pixels(), 2, 8);
    // Each has a controller, which comes to have replicas of all slots, of 6 planes, and of their frames; an
    // equation, of 4; two pyramids, of a plane together. With coarser levels, a third more.
    const auto bytes = [&](std::size_t pairs) {
        const std::size_t slots = 2 * devices * pairs;
        return pairs * (6 * slots + (slots + 1 + read_ahead) + 5) * size.pixels() * sizeof(float) * 4 / 3;
    };
    constexpr std::size_t controllers =
        headrace::ReplicaSet::capacity - 2; // of all devices; the host has one
    std::size_t pairs = fill;
    while (pairs > 1 && (bytes(pairs) > device.memory / 2 || devices * pairs > controllers)) --pairs;
    return pairs;
}

FlowStream::FlowStream(Lanes lanes, Size size, const Settings& settings, headrace::Filter filter,
                       std::size_t pairs)
    : lanes_(std::move(lanes)),
      settings_(settings),
      filter_(filter),
      sizes_(level_sizes(size, settings.levels)),
      blocks_(blocks_of(settings)) {
    for (std::size_t i = 0; i < pairs + 1 + read_ahead; ++i)
        frames_.emplace_back(sizes_.back(), pinned_for(sizes_.back()), filter_);
    for (std::size_t i = 0; i < pairs; ++i) add_pair();
    for (std::size_t i = 0; i < lanes_.devices.size(); ++i) add_device();
    pipeline_.emplace(lanes_.devices, make_pieces(), pairs);
    pipeline_->submit_apart(); // a pair has some thousand launches
}

FlowStream::Picture::Picture(const char* name, Size size, headrace::Device* pinned, headrace::Filter filter)
    : pixels(pinned != nullptr ? Array(name, sizes_of(size), *pinned)
                               : Array(name, sizes_of(size), internal)),
      picture(pixels, headrace::Addressing::mirror, filter) {}

FlowStream::Frame::Frame(Size size, headrace::Device* pinned, headrace::Filter filter)
    : picture("frame", size, pinned, filter) {}

FlowStream::Increment::Increment(Size size)
    : du("du", padded(size), internal), dv("dv", padded(size), internal) {}

FlowStream::PairLevel::PairLevel(Size size, headrace::Device* pinned, headrace::Filter filter)
    : u("u", size, pinned, filter),
      v("v", size, pinned, filter),
      increments{Increment(size), Increment(size)} {}

FlowStream::Equation::Equation(Size size)
    : warped("warped", sizes_of(size), internal),
      a("a", padded(size), internal),
      b("b", padded(size), internal),
      c("c", padded(size), internal) {}

headrace::Device* FlowStream::pinned_for(Size size) const {
    return size == sizes_.back() ? &lanes_.devices.front()->device() : nullptr;
}

void FlowStream::add_pair() {
    Pair& made = pairs_.emplace_back();
    for (const Size size : sizes_) made.levels.emplace_back(size, pinned_for(size), filter_);
}

void FlowStream::add_device() {
    Own& made = own_.emplace_back();
    for (auto& pyramid : made.pyramids)
        for (std::size_t level = 0; level + 1 < sizes_.size(); ++level)
            pyramid.emplace_back("level of a frame", sizes_[level], nullptr, filter_);
    for (const Size size : sizes_) made.equations.emplace_back(size);
}

/// Names say what measurements of the pieces depend on.
std::vector<StreamPiece> FlowStream::make_pieces() {
    const Size whole = sizes_.back();
    const std::string of =
        fmt::format("optical flow {}x{}{}", whole.width, whole.height, is_exact() != 0 ? ", exact" : "");
    std::vector<StreamPiece> pieces;
    for (const Block& block : blocks_)
        pieces.push_back({fmt::format("{}, level {} of {}, warp {}, iterations {} to {}", of, block.level,
                                      settings_.levels, block.warp, block.begin, block.end),
                          [this, &block](const StreamStep& step) { return work(block, step); },
                          bytes_at(block)});
    return pieces;
}

/// What comes along with a pair: its flow, within a warp also what the solver has found so far, and the new
/// frame.
headrace::Bytes FlowStream::bytes_at(const Block& block) const {
    const auto plane = [&](int level) { return sizeof(float) * size(level).pixels(); };
    const bool is_on_level = block.warp > 0 || block.begin > 0;
    headrace::Bytes bytes = 2 * plane(is_on_level ? block.level : std::max(block.level - 1, 0));
    if (block.begin > 0) bytes += 2 * plane(block.level);
    return bytes + plane(settings_.levels - 1);
}

std::optional<std::size_t> FlowStream::piece_that_ends(int level, int warp,
                                                       std::optional<int> iterations) const {
    const int end = iterations.value_or(settings_.iterations);
    const auto found = std::ranges::find_if(blocks_, [&](const Block& block) {
        return block.level == level && block.warp == warp && block.end == end;
    });
    if (found == blocks_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - blocks_.begin());
}

std::string FlowStream::blocks_text(int level) const {
    std::string ends;
    for (const Block& block : blocks_)
        if (block.level == level && block.warp == 0)
            ends += (ends.empty() ? "" : ", ") + std::to_string(block.end);
    return ends.empty()
               ? fmt::format("levels are 0, the coarsest, to {}", settings_.levels - 1)
               : fmt::format("warps are 0 to {}, and those of level {} can be cut after {} iterations",
                             settings_.warps - 1, level, ends);
}

std::int64_t FlowStream::run(FrameSource& source, const Finish& finish, std::int64_t most) {
    if (const auto frames = source.frames()) most = std::min(most, *frames - 1); // the mapping depends on it
    std::int64_t submitted = 0;                                                  // frames that are to be read
    const auto begin = [&](std::int64_t pair, std::size_t) -> std::optional<Event> {
        const std::int64_t last = std::min(pair + 1 + static_cast<std::int64_t>(read_ahead), most);
        while (submitted <= last) read(source, submitted++);
        if (pair == 0) frame(0).read.wait(); // throws what is wrong with it
        const Frame& second = frame(pair + 1);
        second.read.wait();
        if (!*second.is_there) return std::nullopt;
        return second.read;
    };
    std::int64_t finished = 0; // the writing lane's
    const auto end = [&](std::int64_t pair, std::size_t slot) {
        PairLevel& found = pairs_[slot].levels.back();
        return host_task(
            lanes_.writing, "finish",
            [&finish, &finished, pair](headrace::In<float> u, headrace::In<float> v) {
                if (pair != finished) return; // a pair that failed leaves no gap
                finish(pair, {u.begin(), u.end()}, {v.begin(), v.end()});
                ++finished;
            },
            found.u.pixels, found.v.pixels);
    };
    const ReadAhead ends_with_this{lanes_.reading};
    return pipeline_->run({.begin = begin, .end = end}, most);
}

/// After the end nothing more is read.
void FlowStream::read(FrameSource& source, std::int64_t number) {
    Frame& here = frame(number);
    const std::shared_ptr<bool> before = number > 0 ? frame(number - 1).is_there : nullptr;
    const auto is_there = here.is_there = std::make_shared<bool>(false);
    here.read = host_task(
        lanes_.reading, "read",
        [&source, before, is_there](headrace::Write<float> pixels) {
            *is_there = (!before || *before) && source.read({pixels.begin(), pixels.end()});
        },
        here.picture.pixels);
}

// ---- pieces ------------------------------------------------------------------------------------

FlowStream::Picture& FlowStream::level_of(const StreamStep& step, int which, int level) {
    if (level == settings_.levels - 1) return frame(step.item + which).picture;
    return own_[step.device].pyramids[which][level];
}

void FlowStream::shrink(const StreamStep& step, int coarsest) {
    for (const int which : {0, 1})
        for (int level = settings_.levels - 2; level >= coarsest; --level)
            launch<Shrink>(step.controller, grid(level), level_of(step, which, level + 1).picture,
                           level_of(step, which, level).pixels,
                           ratio(size(level + 1).width, size(level).width),
                           ratio(size(level + 1).height, size(level).height), is_exact());
}

Event FlowStream::work(const Block& block, const StreamStep& step) {
    Pair& pair = pairs_[step.slot];
    PairLevel& here = pair.levels[block.level];
    const bool begins = block.begin == 0;
    if (step.arrives) shrink(step, block.level);
    if (begins && block.warp == 0) begin_level(step, block.level);
    if (begins || step.arrives) linearise(step, block.level);
    if (begins) {
        pair.current = 0;
        auto& first = here.increments[0];
        launch<Clear>(step.controller, headrace::grid(first.du.size()), first.du, first.dv);
    }
    Event last = relax(step, block.level, block.end - block.begin);
    if (block.end == settings_.iterations) {
        auto& found = here.increments[pair.current];
        last = launch<Update>(step.controller, grid(block.level), here.u.pixels, here.v.pixels, found.du,
                              found.dv, size(block.level).width, pitch_of(size(block.level)));
    }
    return last;
}

void FlowStream::begin_level(const StreamStep& step, int level) {
    auto& levels = pairs_[step.slot].levels;
    PairLevel& here = levels[level];
    if (level == 0) {
        launch<Clear>(step.controller, headrace::grid(here.u.pixels.size()), here.u.pixels, here.v.pixels);
        return;
    }
    const Size fine = size(level), coarse = size(level - 1);
    const float ratio_x = ratio(coarse.width, fine.width), ratio_y = ratio(coarse.height, fine.height);
    launch<Prolong>(step.controller, grid(level), levels[level - 1].u.picture, here.u.pixels, ratio_x,
                    ratio_y, 1.0f / ratio_x, is_exact());
    launch<Prolong>(step.controller, grid(level), levels[level - 1].v.picture, here.v.pixels, ratio_x,
                    ratio_y, 1.0f / ratio_y, is_exact());
}

void FlowStream::linearise(const StreamStep& step, int level) {
    PairLevel& here = pairs_[step.slot].levels[level];
    Equation& equation = own_[step.device].equations[level];
    const Picture &first = level_of(step, 0, level), &second = level_of(step, 1, level);
    launch<Warp>(step.controller, grid(level), second.picture, here.u.pixels, here.v.pixels, equation.warped,
                 is_exact());
    launch<Linearise>(step.controller, grid(level), first.pixels, equation.warped, equation.a, equation.b,
                      equation.c, size(level).height, size(level).width, pitch_of(size(level)),
                      static_cast<float>(settings_.alpha));
}

/// Returns the event of the last launch; without iterations, of nothing.
Event FlowStream::relax(const StreamStep& step, int level, int iterations) {
    Pair& pair = pairs_[step.slot];
    PairLevel& here = pair.levels[level];
    const Equation& equation = own_[step.device].equations[level];
    Event last;
    for (int at_once = most_iterations(step.controller.device().info()); iterations > 0;
         iterations -= at_once) {
        while (at_once > iterations) at_once /= 2;
        const Increment& before = here.increments[pair.current];
        pair.current = 1 - pair.current;
        Increment& after = here.increments[pair.current];
        last = launch<Relax>(step.controller, grid(level), before.du, before.dv, equation.a, equation.b,
                             equation.c, after.du, after.dv, size(level).height, size(level).width,
                             pitch_of(size(level)), at_once);
    }
    return last;
}

} // namespace optical_flow
