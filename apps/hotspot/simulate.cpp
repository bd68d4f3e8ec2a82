// apps/hotspot/simulate.cpp - see simulate.hpp.
#include "simulate.hpp"
#include "chip.hpp"
#include "hotspot_opencl.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace hotspot {

using controller_program::Machine;
using headrace::Array;

/// Launches submitted and not saved: more than devices and lanes work on, and few enough to forget.
constexpr std::size_t launches_ahead = 16;

void simulate(Machine& machine, const Array<float>& power, Array<float>& heat, Array<float>& spare,
              int iterations, const std::function<void(headrace::In<float>)>& save) {
    const int size = heat.shape().rows;
    const Factors factors = factors_of(size);
    const std::vector<int> ends = machine.ends_of_bands(size);
    Array<float>*now = &heat, *next = &spare;
    std::array<headrace::Event, launches_ahead> saved;
    for (int done = 0; done < iterations; done += fused) {
        headrace::Event& earlier = saved[static_cast<std::size_t>(done / fused) % launches_ahead];
        earlier.wait();
        for (std::size_t i = 0; i < machine.device_count(); ++i) {
            const int first = ends[i], last = ends[i + 1];
            if (first == last) continue;
            const int above = std::max(0, first - fused), below = std::min(size, last + fused);
            launch(machine.controller(i), all_implementations(),
                   rows(headrace::grid(size, size), first, last), rows(power, above, below),
                   rows(*now, above, below), rows(*next, first, last), size,
                   std::min(fused, iterations - done), factors);
        }
        earlier = host_task(
            machine.lane("save"), [save](headrace::In<float> made) { save(made); }, *next);
        std::swap(now, next);
    }
}

} // namespace hotspot
