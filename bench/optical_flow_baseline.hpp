// bench/optical_flow_baseline.hpp - hierarchical Horn-Schunck optical flow in plain CUDA, an iteration of the
// solver a launch: no part of the library on the way. What the steps are: apps/optical_flow/flow.kernels.hpp.
#pragma once
#include "optical_flow/size.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace bench {

/// Levels have (n + 1) / 2 rows and columns of the finer one; on each there are `warps` times `iterations`
/// steps of the solver.
struct FlowProblem {
    optical_flow::Size size;
    int levels = 5, warps = 3, iterations = 500;
    float alpha = 0.1f; ///< how smooth the flow is, for brightness from 0 to 1
};

/// A program that finds the flow from each of its frames to the next one.
///
/// Threads: one at a time. Errors: what `take` throws, and std::runtime_error; it is of no use then
class FlowProgram {
public:
    /// Gets the flow of one pair of frames, in pixels; the arrays are others' after that.
    using Take = std::function<void(std::size_t pair, std::span<const float> u, std::span<const float> v)>;

    virtual ~FlowProgram() = default;
    FlowProgram(const FlowProgram&) = delete;
    FlowProgram& operator=(const FlowProgram&) = delete;

    /// Memory for a frame's brightness, 0 to 1, row-major; pinned, for GPUs.
    [[nodiscard]] virtual std::span<float> frame(std::size_t number) = 0;
    /// All pairs once. Takes them in order, on one thread, while devices go on with later ones.
    virtual void run(const Take& take) = 0;
    /// What it runs on, with the driver's version.
    [[nodiscard]] virtual std::string device() const = 0;

protected:
    FlowProgram() = default;
};

/// On the first CUDA device, with everything allocated.
[[nodiscard]] std::unique_ptr<FlowProgram> optical_flow_cuda(const FlowProblem& problem, std::size_t frames);

} // namespace bench
