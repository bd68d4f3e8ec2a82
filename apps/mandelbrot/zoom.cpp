// apps/mandelbrot/zoom.cpp - see zoom.hpp.
#include "zoom.hpp"
#include "mandelbrot.kernels.hpp"

#include <oneapi/tbb/concurrent_queue.h>

#include <memory>
#include <string>

namespace mandelbrot {

using headrace::Event;

/// Of one device: the last pixels of a frame, which take longest, leave most of it idle.
constexpr std::size_t frames_at_once = 4;

Zoom::Place::Place(controller_program::Machine& machine, std::size_t number, Size size)
    : steps("steps " + std::to_string(number), {size.height, size.width},
            machine.device(number % machine.device_count())),
      controller(machine.controller(number % (machine.device_count() * frames_at_once))),
      lane(machine.lane("picture " + std::to_string(number))) {}

Zoom::Zoom(controller_program::Machine& machine, Size size, int threads) : size_(size) {
    // One frame after another needs no more than one place a device, which then stays in the caches.
    const std::size_t more = machine.is_asynchronous() ? static_cast<std::size_t>(threads) : 0;
    for (std::size_t i = 0; i < machine.device_count() + more; ++i) places_.emplace_back(machine, i, size);
}

Event Zoom::launch(Place& place, const Window& window, int threshold) const {
    const auto [width, height] = size_;
    const auto plane = headrace::grid(height, width);
    if (window.is_coarse(width, height))
        return headrace::launch<Mandelbrot>(place.controller, plane, place.steps, threshold,
                                            window.raster<float>(width, height));
    return headrace::launch<DeepMandelbrot>(place.controller, plane, place.steps, threshold,
                                            window.raster<double>(width, height));
}

/// Returns when no place is in use any more, however it is left: what finishes pictures is the caller's.
struct Zoom::EndOfAll {
    const std::deque<Place>& places;
    ~EndOfAll() {
        for (const Place& place : places) static_cast<void>(place.finished.outcome());
    }
};

void Zoom::compute(std::span<const Window> windows, int threshold, const Finish& finish) {
    // Shared with those who may still be leaving it when the last picture is finished.
    const auto free = std::make_shared<tbb::concurrent_bounded_queue<Place*>>();
    for (Place& place : places_) free->push(&place);
    const EndOfAll end{places_};
    for (std::size_t i = 0; i < windows.size(); ++i) {
        Place* place = nullptr;
        free->pop(place);
        place->finished.wait(); // it has ended: throws if it failed
        launch(*place, windows[i], threshold);
        place->finished = host_task(
            place->lane, [&finish, i](headrace::In<int> steps) { finish(i, steps); }, place->steps);
        place->finished.then([free, place](const headrace::ErrorPtr&) { free->push(place); });
    }
    for (Place& place : places_) place.finished.wait();
}

} // namespace mandelbrot
