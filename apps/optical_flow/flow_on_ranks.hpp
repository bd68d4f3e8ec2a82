// apps/optical_flow/flow_on_ranks.hpp - the ranks of a cluster divide the pairs of one stream of frames.
#pragma once
#include "flow_stream.hpp"
#include "frame_source.hpp"
#include "size.hpp"
#include <headrace/domains/cluster/session.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace optical_flow {

/// Each rank reads the frames by itself. Errors: invalid_argument for standard input and pipes, which only
/// one process can read
void expect_files(const std::vector<std::string>& names);

/// The flow of the pairs that this rank gets, and on rank 0 what becomes of all.
///
/// Lifetime  what it is given outlives it
class FlowOnRanks {
public:
    /// Of a pair, on rank 0, in the order of pairs. Without fields, u and v are empty.
    using Finish = std::function<void(std::int64_t pair, double norm, std::span<const float> u,
                                      std::span<const float> v)>;

    /// `at_once`: pairs that the devices of this rank have under way. `fields`: rank 0 needs u and v.
    /// Errors: invalid_argument if frames have another size on rank 0
    FlowOnRanks(const headrace::cluster::Session& session, FlowStream& flow, FrameSource& source,
                std::size_t at_once, bool fields);

    /// Called before a block of pairs: no frame from this one on will be read, until the next call.
    using FramesEnd = std::function<void(std::int64_t frame)>;

    /// All ranks call it. Returns the number of pairs, `most` at the most. `finish` is called by another
    /// thread. Errors: as FlowStream::run
    std::int64_t run(const Finish& finish, const FramesEnd& frames_end, std::int64_t most);
    /// After `run`, on rank 0: pairs of each rank.
    [[nodiscard]] const std::vector<double>& pairs_of_ranks() const noexcept { return pairs_of_ranks_; }

private:
    FlowStream& flow_;
    FrameSource& source_;
    std::size_t ranks_, at_once_;
    bool fields_;
    std::vector<double> pairs_of_ranks_{};
};

} // namespace optical_flow
