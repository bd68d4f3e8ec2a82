// apps/optical_flow/flow_stream.hpp - frames that arrive one after another, and the flow from each to the
// next.
#pragma once
#include "flow_files.hpp"
#include "frame_source.hpp"
#include "level.hpp"
#include <headrace/domains/streams/pipeline.hpp>
#include <headrace/headrace.hpp>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace optical_flow {

/// Where requests go.
struct Lanes {
    std::vector<headrace::Controller*> devices;
    headrace::HostLane& reading;
    headrace::HostLane& writing;
};

/// Whole pairs that fill a device, one of so many that have pairs of this size, as far as half of its memory
/// goes: the coarse levels of one leave most of a GPU idle.
[[nodiscard]] std::size_t pairs_that_fill(const headrace::DeviceInfo& device, Size size, std::size_t devices);

/// Calls `visit(turn, device)` for each of the pairs that devices have at once, all devices' first ones
/// first.
template <class AtOnce, class Visit>
void for_pairs_in_turns(std::size_t devices, const AtOnce& at_once, const Visit& visit) {
    bool more = true;
    for (std::size_t turn = 0; std::exchange(more, false); ++turn)
        for (std::size_t device = 0; device < devices; ++device)
            if (turn < at_once(device)) {
                visit(turn, device);
                more = true;
            }
}

/// Hierarchical Horn-Schunck: on each level of a pyramid, from the coarsest to the frame itself, the second
/// frame is warped by the flow so far, and what remains is found by so many iterations. A pair of frames is
/// an item of a pipeline; its pieces are blocks of iterations.
///
/// Lifetime  what it is given outlives it
/// Source    B. Horn, B. Schunck, 1981; E. Meinhardt-Llopis et al., "Horn-Schunck optical flow with a
///           multi-scale strategy", IPOL 2013; M. Smirnov, NVIDIA 2013, whose levels, warps and iterations
///           these are
class FlowStream {
public:
    /// `pairs`: under way at once. Errors: as headrace::Array's
    FlowStream(Lanes lanes, Size size, const Settings& settings, headrace::Filter filter, std::size_t pairs);
    FlowStream(const FlowStream&) = delete; // pieces hold its address
    FlowStream& operator=(const FlowStream&) = delete;

    /// Which device has which pieces is told to it.
    [[nodiscard]] headrace::Pipeline& pipeline() noexcept { return *pipeline_; }
    /// The piece that ends with that many iterations of a warp; nothing if none does.
    [[nodiscard]] std::optional<std::size_t> piece_that_ends(int level, int warp,
                                                             std::optional<int> iterations) const;

    /// For messages: where the blocks of a level's warps end.
    [[nodiscard]] std::string blocks_text(int level) const;

    /// What becomes of a pair on the host, in the order of pairs: the flow, in pixels, [height x width].
    using Finish = std::function<void(std::int64_t pair, std::span<const float> u, std::span<const float> v)>;

    /// The flow of every two frames that follow each other; `most` pairs at the most. Returns how many.
    /// Errors: of the source and of `finish`, when all pairs before have been finished
    std::int64_t run(FrameSource& source, const Finish& finish, std::int64_t most);

private:
    using Array = headrace::Array<float>;
    using Texture = headrace::Texture;

    /// A level of a frame, or of one component of the flow.
    struct Picture {
        /// `pinned` for that device, for the host's tasks; null: the host sees nothing of it.
        Picture(const char* name, Size size, headrace::Device* pinned, headrace::Filter filter);
        Array pixels;
        Texture picture;
    };
    struct Frame {
        Frame(Size size, headrace::Device* pinned, headrace::Filter filter);
        Picture picture;
        headrace::Event read{};
        std::shared_ptr<bool> is_there{}; ///< known when it has been read
    };
    /// Two of them: the solver reads one and writes the other, in turns.
    struct Increment {
        explicit Increment(Size size);
        Array du, dv;
    };
    /// What a pair has on one level.
    struct PairLevel {
        PairLevel(Size size, headrace::Device* pinned, headrace::Filter filter);
        Picture u, v;
        Increment increments[2];
    };
    struct Pair {
        std::deque<PairLevel> levels{};
        int current = 0; ///< of the increments
    };
    /// The equation on one level.
    struct Equation {
        explicit Equation(Size size);
        Array warped, a, b, c;
    };
    /// What a device makes for itself: pyramids of both frames, but for the frames themselves, are made where
    /// a pair arrives, in less time than they would take to come along.
    struct Own {
        std::deque<Picture> pyramids[2]{};
        std::deque<Equation> equations{};
    };

    [[nodiscard]] Size size(int level) const { return sizes_[static_cast<std::size_t>(level)]; }
    [[nodiscard]] headrace::Grid<2> grid(int level) const {
        return headrace::grid(size(level).height, size(level).width);
    }
    [[nodiscard]] Frame& frame(std::int64_t number) {
        return frames_[static_cast<std::size_t>(number) % frames_.size()];
    }
    /// For what the host sees.
    [[nodiscard]] headrace::Device* pinned_for(Size size) const;
    [[nodiscard]] int is_exact() const { return filter_ == headrace::Filter::exact ? 1 : 0; }
    void add_pair();
    void add_device();
    [[nodiscard]] std::vector<headrace::StreamPiece> make_pieces();
    [[nodiscard]] headrace::Bytes bytes_at(const Block& block) const;

    /// A level of the pair's first frame (0) or second one (1).
    [[nodiscard]] Picture& level_of(const headrace::StreamStep& step, int which, int level);
    /// To this level.
    void shrink(const headrace::StreamStep& step, int coarsest);
    headrace::Event work(const Block& block, const headrace::StreamStep& step);
    void begin_level(const headrace::StreamStep& step, int level);
    void linearise(const headrace::StreamStep& step, int level);
    headrace::Event relax(const headrace::StreamStep& step, int level, int iterations);
    void read(FrameSource& source, std::int64_t number);

    Lanes lanes_;
    const Settings settings_;
    const headrace::Filter filter_;
    const std::vector<Size> sizes_;
    const std::vector<Block> blocks_;
    std::deque<Frame> frames_;
    std::deque<Pair> pairs_;
    std::deque<Own> own_; ///< of each device
    std::optional<headrace::Pipeline> pipeline_;
};

} // namespace optical_flow
