// apps/sobel/filter.cpp - see filter.hpp.
#include "filter.hpp"

#include <algorithm>

namespace sobel {

using headrace::Event;
using headrace::grid;
using headrace::host_task;

namespace {

bool has_fields(const FrameFormat& format) {
    return format.interlacing == video::Interlacing::top_first ||
           format.interlacing == video::Interlacing::bottom_first;
}

} // namespace

Filter::Filter(Lanes lanes, const FrameFormat& format, int places_in, int places_out)
    : lanes_(lanes),
      planes_(format.planes),
      sample_bytes_(format.sample_bytes()),
      most_(format.maximum),
      field_step_(has_fields(format) ? 2 : 1) {
    headrace::Device& device = lanes_.kernels.device();
    const auto size = grid(format.bytes());
    for (int i = 0; i < places_in; ++i)
        std::ranges::fill(frames_in_.emplace_back("frame", size, device).fill(), 0);
    for (int i = 0; i < places_out; ++i) out_.emplace_back(size, device);
    // Every place once: devices allocate memory and load kernels at first use.
    for (int i = 0; i < std::max(places_in, places_out); ++i)
        filter(frames_in_[i % frames_in_.size()], out_[i % out_.size()].edges);
    lanes_.kernels.wait_all();
}

Event Filter::filter(Bytes& frame, Bytes& edges) {
    const int strips = (planes_.plane[0].columns + strip - 1) / strip;
    const auto all = grid(planes_.rows(), strips);
    if (most_ == 255 && field_step_ == 1) return launch<Sobel>(lanes_.kernels, all, frame, edges, planes_);
    return launch<AnySobel>(lanes_.kernels, all, frame, edges, planes_, sample_bytes_, most_, field_step_);
}

std::int64_t Filter::run(FrameSource* source, FrameSink* sink, std::int64_t most,
                         const std::function<void(std::int64_t)>& progress) {
    frames_ = written_ = 0;
    for (std::int64_t i = 0; i < most; ++i) {
        Bytes& frame = frames_in_[i % frames_in_.size()];
        Out& out = out_[i % out_.size()];
        out.done.wait();
        if (frames_ <= i - std::ssize(out_)) break; // nothing was here: the end

        // Nobody waits for the reading: what follows it is ordered by data, and undone by the count of frames
        // if there was nothing to read. After the end, or a failure, nothing more is read.
        if (source != nullptr)
            host_task(
                lanes_.reading, "reading",
                [this, i, source, &out](headrace::Write<std::uint8_t> pixels) {
                    if (frames_ == i && source->read(out.header, {pixels.begin(), pixels.end()})) ++frames_;
                },
                frame);
        else {
            host_wrote(frame.tile());
            frames_ = i + 1;
        }
        filter(frame, out.edges);
        if (sink != nullptr)
            out.done = host_task(
                lanes_.writing, "writing",
                [this, i, sink, &out](headrace::In<std::uint8_t> pixels) {
                    if (i >= frames_ || i != written_) return; // a frame that failed leaves no gap
                    sink->write(out.header, {pixels.begin(), pixels.end()});
                    ++written_;
                },
                out.edges);
        else
            out.done = move_from(lanes_.kernels, out.edges);
        if (progress) progress(i);
    }
    for (const Out& out : out_) out.done.wait();
    if (sink != nullptr) sink->close();
    return frames_;
}

} // namespace sobel
