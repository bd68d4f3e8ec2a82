// apps/python/optical_flow.cpp - headrace-optical-flow's flow between two frames for Python.
#include "arrays.hpp"
#include "bindings.hpp"
#include "optical_flow/flow_stream.hpp"
#include "optical_flow/frame_source.hpp"
#include "session.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace py = pybind11;

namespace headrace::python {
namespace {

/// Frames that Python has: two of them.
class FramesInMemory : public optical_flow::FrameSource {
public:
    FramesInMemory(optical_flow::Size size, std::span<const float> first, std::span<const float> second)
        : size_(size), frames_{first, second} {}

    [[nodiscard]] optical_flow::Size size() const override { return size_; }
    [[nodiscard]] std::optional<std::int64_t> frames() const override { return 2; }
    [[nodiscard]] bool read(std::span<float> brightness) override {
        if (next_ == 2) return false;
        std::ranges::copy(frames_[next_++], brightness.begin());
        return true;
    }

private:
    optical_flow::Size size_;
    std::span<const float> frames_[2];
    std::size_t next_ = 0;
};

py::array_t<float> flow_between(Session& session, const Input<float>& first, const Input<float>& second,
                                int levels, int warps, int iterations, double alpha, bool is_exact) {
    if (first.ndim() != 2 || second.ndim() != 2 || first.shape(0) != second.shape(0) ||
        first.shape(1) != second.shape(1))
        throw Error{ErrorKind::invalid_argument,
                    "frames: must be two arrays of the same shape [height, width]"};
    const auto height = static_cast<std::size_t>(first.shape(0)),
               width = static_cast<std::size_t>(first.shape(1)), pixels = height * width;
    if (pixels == 0 || height > optical_flow::longest_side || width > optical_flow::longest_side)
        throw Error{ErrorKind::invalid_argument, "frames: sides must be from 1 to " +
                                                     std::to_string(optical_flow::longest_side) + " pixels"};
    const optical_flow::Settings settings{levels, warps, iterations, alpha};
    const Filter filter = is_exact ? Filter::exact : Filter::hardware;
    std::vector<float> flow(2 * pixels);
    {
        const py::gil_scoped_release no_gil;
        FramesInMemory frames({static_cast<int>(width), static_cast<int>(height)}, {first.data(), pixels},
                              {second.data(), pixels});
        session.with_machine([&](controller_program::Machine& machine) {
            // A pair is one device's: the first one's.
            optical_flow::FlowStream stream(
                {{&machine.controller(0)}, machine.lane("reading"), machine.lane("finishing")}, frames.size(),
                settings, filter, 1);
            stream.pipeline().give_whole_items();
            stream.run(
                frames,
                [&](std::int64_t, std::span<const float> u, std::span<const float> v) {
                    for (std::size_t i = 0; i < pixels; ++i) {
                        flow[2 * i] = u[i];
                        flow[2 * i + 1] = v[i];
                    }
                },
                1);
            machine.wait_all();
        });
    }
    return array_of(std::move(flow), {height, width, 2});
}

} // namespace

void bind_optical_flow(py::module_& module) {
    module.def("optical_flow", &flow_between, py::arg("session"), py::arg("first"), py::arg("second"),
               py::kw_only(), py::arg("levels"), py::arg("warps"), py::arg("iterations"), py::arg("alpha"),
               py::arg("is_exact"));
}

} // namespace headrace::python
