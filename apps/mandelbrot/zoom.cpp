// apps/mandelbrot/zoom.cpp - see zoom.hpp.
#include "zoom.hpp"
#include "mandelbrot.kernels.hpp"
#include <headrace/headrace.hpp>

#include <string>
#include <vector>

namespace mandelbrot {

using headrace::Event;

/// Of one device: the last pixels of a frame, which take longest, leave most of it idle.
constexpr std::size_t frames_at_once = 4;

namespace {

/// A picture may be any device's, and memory that a GPU reaches is as good for processors.
headrace::Device& whose_memory(controller_program::Machine& machine, std::size_t number) {
    for (std::size_t i = 0; i < machine.device_count(); ++i) {
        headrace::Device& device = machine.device((number + i) % machine.device_count());
        if (device.info().kind == headrace::DeviceKind::gpu) return device;
    }
    return machine.device(number % machine.device_count());
}

} // namespace

Zoom::Slot::Slot(controller_program::Machine& machine, std::size_t number, Size size)
    : steps("steps " + std::to_string(number), {size.height, size.width}, whose_memory(machine, number)),
      lane(machine.lane("picture " + std::to_string(number))) {}

Zoom::Zoom(controller_program::Machine& machine, Size size, int threads) : size_(size) {
    // One frame after another needs no more than one slot a device, which then stays in the caches.
    const std::size_t more = machine.is_asynchronous() ? static_cast<std::size_t>(threads) : 0;
    for (std::size_t i = 0; i < machine.device_count() + more; ++i) slots_.emplace_back(machine, i, size);
    std::vector<headrace::Controller*> controllers;
    for (std::size_t i = 0; i < machine.device_count() * frames_at_once; ++i)
        controllers.push_back(&machine.controller(i));
    const auto compute = [this](const headrace::StreamStep& step) { return compute_picture(step); };
    pipeline_.emplace(controllers, std::vector<headrace::StreamPiece>{{"picture", compute}}, slots_.size());
    pipeline_->give_whole_items();
}

Event Zoom::compute_picture(const headrace::StreamStep& step) {
    const auto [width, height] = size_;
    const auto plane = headrace::grid(height, width);
    const Window& window = windows_[static_cast<std::size_t>(step.item)];
    headrace::Array<int>& steps = slots_[step.slot].steps;
    if (window.is_coarse(width, height))
        return launch<Mandelbrot>(step.controller, plane, steps, threshold_,
                                  window.raster<float>(width, height));
    return launch<DeepMandelbrot>(step.controller, plane, steps, threshold_,
                                  window.raster<double>(width, height));
}

void Zoom::compute(std::span<const Window> windows, int threshold, const Finish& finish) {
    windows_ = windows;
    threshold_ = threshold;
    const auto is_there = [](std::int64_t, std::size_t) { return std::optional(Event{}); };
    const auto end = [&](std::int64_t number, std::size_t slot) {
        return host_task(
            slots_[slot].lane,
            [&finish, number](headrace::In<int> steps) { finish(static_cast<std::size_t>(number), steps); },
            slots_[slot].steps);
    };
    pipeline_->run({is_there, end}, std::ssize(windows));
}

} // namespace mandelbrot
