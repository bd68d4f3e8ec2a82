// apps/matrix_pow/power.cpp - see power.hpp.
#include "power.hpp"
#include "matrices/multiply.hpp"

#include <array>
#include <string>
#include <utility>

namespace matrix_pow {
namespace {

using controller_program::Machine;
using headrace::Array;
using headrace::In;
using headrace::Write;

/// Submitted and not ended: more than devices and lanes work on, and few enough to forget.
constexpr std::size_t steps_ahead = 16;

} // namespace

void raise(Machine& machine, const Array<float>& a, const Matrices& all,
           std::vector<matrices::Normalisation>& found, matrices::HostThreads& threads) {
    const int rows = a.shape().rows;
    // Whole tiles of the kernels, unless there are few.
    const std::vector<int> ends = machine.ends_of_bands(rows, rows >= 1024 ? 128 : 1);
    const Array<float>* from = &a;
    Array<float>*to = &all.power, *spare = &all.next;
    std::array<headrace::Event, steps_ahead> ended;
    for (std::size_t step = 0; step < found.size(); ++step) {
        headrace::Event& last = ended[step % steps_ahead];
        last.wait();
        for (std::size_t i = 0; i < machine.device_count(); ++i)
            if (ends[i] < ends[i + 1])
                matrices::multiply(machine.controller(i), *from, a, *to, ends[i], ends[i + 1]);
        last = host_task(
            machine.lane("normalise"),
            [&mine = found[step], &threads, power = step + 2](In<float> c, Write<float> normalised) {
                mine = normalise(c, normalised, threads, "power " + std::to_string(power));
            },
            *to, all.normalised);
        from = to;
        std::swap(to, spare);
    }
}

} // namespace matrix_pow
