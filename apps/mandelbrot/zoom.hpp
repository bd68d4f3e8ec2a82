// apps/mandelbrot/zoom.hpp - pictures of windows, computed by every device, each handed to the host while the
// next ones are computed.
#pragma once
#include "controller_program/machine.hpp"
#include "window.hpp"
#include <headrace/domains/streams/pipeline.hpp>
#include <headrace/headrace.hpp>

#include <deque>
#include <functional>
#include <optional>
#include <span>

namespace mandelbrot {

struct Size {
    int width, height;
};

/// Room for some pictures on the way from the devices to the host.
class Zoom {
public:
    /// What becomes of picture `number` on the host. Called by several threads at once, each with a picture
    /// of its own.
    using Finish = std::function<void(std::size_t number, headrace::In<int> steps)>;

    /// `threads` pictures can be finished while each device computes one more.
    Zoom(controller_program::Machine& machine, Size size, int threads);
    Zoom(const Zoom&) = delete; // pictures under way hold its address
    Zoom& operator=(const Zoom&) = delete;

    /// Pictures that can be under way at once.
    [[nodiscard]] std::size_t slots() const noexcept { return slots_.size(); }

    /// Computes a picture of each window and finishes it. Blocks. The next picture goes to the
    /// device that should be done with it first, so that each does as many as it can.
    ///
    /// Errors: throws the first failure of a kernel or of `finish`; later pictures are not begun
    void compute(std::span<const Window> windows, int threshold, const Finish& finish);

private:
    struct Slot {
        Slot(controller_program::Machine& machine, std::size_t number, Size size);

        headrace::Array<int> steps;
        headrace::HostLane& lane;
    };

    headrace::Event compute_picture(const headrace::StreamStep& step);

    Size size_;
    std::deque<Slot> slots_;
    std::optional<headrace::Pipeline> pipeline_;
    std::span<const Window> windows_; ///< of the present `compute`
    int threshold_ = 0;
};

} // namespace mandelbrot
