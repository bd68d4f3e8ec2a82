// apps/optical_flow/flow_on_ranks.cpp - see flow_on_ranks.hpp.
#include "flow_on_ranks.hpp"
#include "norm.hpp"
#include "program/numbers.hpp"
#include <headrace/core/error.hpp>
#include <headrace/domains/cluster/shared_items.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace optical_flow {
namespace {

using headrace::ErrorPtr;
using headrace::cluster::SharedItems;
using Bytes = SharedItems::Result;

/// Of the results of all ranks in one round.
constexpr std::size_t most_bytes = std::size_t{4} << 30;

/// The frames of one block of pairs after another. Other ranks read those between.
class BlockFrames final : public FrameSource {
public:
    explicit BlockFrames(FrameSource& source) : source_(source), last_(source.size().pixels()) {}

    /// Of the next block. Blocks have the first frame in common with the last one, or none.
    void begin_at(std::int64_t frame) {
        HEADRACE_ASSERT(frame + 1 >= next_);
        repeats_last_ = next_ > 0 && frame + 1 == next_;
        if (repeats_last_ || has_ended_) return;
        has_ended_ = !source_.skip(frame - next_);
        next_ = frame;
    }

    Size size() const override { return source_.size(); }
    bool read(std::span<float> brightness) override {
        if (has_ended_) return false;
        if (repeats_last_) {
            repeats_last_ = false;
            std::ranges::copy(last_, brightness.begin());
            return true;
        }
        if (!source_.read(brightness)) {
            has_ended_ = true;
            return false;
        }
        std::ranges::copy(brightness, last_.begin());
        ++next_;
        return true;
    }

private:
    FrameSource& source_;
    std::vector<float> last_; ///< the frame before next_
    std::int64_t next_ = 0;   ///< that the source gives
    bool repeats_last_ = false, has_ended_ = false;
};

/// The norm, and u and v if rank 0 needs them.
Bytes bytes_of(double norm, std::span<const float> u, std::span<const float> v) {
    Bytes bytes(sizeof norm + u.size_bytes() + v.size_bytes());
    std::memcpy(bytes.data(), &norm, sizeof norm);
    if (!u.empty()) std::memcpy(bytes.data() + sizeof norm, u.data(), u.size_bytes());
    if (!v.empty()) std::memcpy(bytes.data() + sizeof norm + u.size_bytes(), v.data(), v.size_bytes());
    return bytes;
}

} // namespace

void expect_files(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        std::error_code ignored;
        const auto type = std::filesystem::status(name, ignored).type();
        using enum std::filesystem::file_type;
        if (name == "-" || type == fifo || type == character || type == socket)
            program::refuse(name + ": is a pipe, and several ranks cannot read it; name files");
    }
}

FlowOnRanks::FlowOnRanks(const headrace::cluster::Session& session, FlowStream& flow, FrameSource& source,
                         std::size_t at_once, bool fields)
    : flow_(flow),
      source_(source),
      ranks_(static_cast<std::size_t>(session.ranks())),
      at_once_(at_once),
      fields_(fields) {
    const std::string size = text_of(source.size());
    const std::string of_first = session.broadcast(size);
    if (size != of_first)
        program::refuse("frames have " + size + " pixels on rank " + std::to_string(session.rank()) +
                        ", and " + of_first + " on rank 0; all ranks need the same input");
}

std::int64_t FlowOnRanks::run(const Finish& finish, const FramesEnd& frames_end, std::int64_t most) {
    const std::size_t pixels = source_.size().pixels();
    std::vector<float> u(fields_ ? pixels : 0), v(u.size()); // of the pair that is taken
    const auto take = [&](std::uint64_t pair, std::span<const std::byte> bytes) {
        double norm = 0;
        std::memcpy(&norm, bytes.data(), sizeof norm);
        if (fields_) {
            std::memcpy(u.data(), bytes.data() + sizeof norm, pixels * sizeof(float));
            std::memcpy(v.data(), bytes.data() + sizeof norm + pixels * sizeof(float),
                        pixels * sizeof(float));
        }
        finish(static_cast<std::int64_t>(pair), norm, u, v);
    };
    // Between two blocks devices run empty. So a block has several times what they have under way.
    const std::size_t of_pair = sizeof(double) + 2 * u.size() * sizeof(float);
    const std::size_t most_pairs = std::max<std::size_t>(most_bytes / ranks_ / of_pair, 1);
    SharedItems::Options options{.at_once = std::min(most_pairs, 4 * at_once_), .most = most_pairs};
    if (const auto frames = source_.frames())
        options.items = static_cast<std::uint64_t>(std::clamp<std::int64_t>(*frames - 1, 0, most));
    SharedItems items(options, take);
    BlockFrames frames(source_);
    while (const auto block = items.next()) {
        std::vector<Bytes> results;
        ErrorPtr why;
        const auto first = static_cast<std::int64_t>(block->begin);
        const std::int64_t count = std::min(static_cast<std::int64_t>(block->size()), most - first);
        try {
            if (count > 0) {
                frames_end(first + count + 1);
                frames.begin_at(first);
                flow_.run(
                    frames,
                    [&](std::int64_t, std::span<const float> flow_u, std::span<const float> flow_v) {
                        const double size = norm(flow_u, flow_v);
                        results.push_back(fields_ ? bytes_of(size, flow_u, flow_v) : bytes_of(size, {}, {}));
                    },
                    count);
            }
        } catch (...) {
            why = headrace::current_error();
        }
        items.hand_over(std::move(results), why);
    }
    const std::uint64_t pairs = items.finish();
    for (const std::uint64_t of_rank : items.items_of_ranks())
        pairs_of_ranks_.push_back(static_cast<double>(of_rank));
    return static_cast<std::int64_t>(pairs);
}

} // namespace optical_flow
