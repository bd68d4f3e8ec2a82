// bench/hotspot_openmp.cpp - Hotspot on the processor with OpenMP: a step is a loop over rows, whose cells
// are vectors, and what every fourth has made is saved.
#include "hotspot/chip.hpp"
#include "hotspot/saved.hpp"
#include "matrix_baseline.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace {

#if defined(__x86_64__)
[[gnu::target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")]]
#endif
void step_row(const hotspot::Factors& factors, int columns, const float* north, const float* here, const float* south,
              const float* power, float* __restrict out) {
    const hotspot::Factors f = factors;
    const auto cell = [&](int j, int left, int right) {
        out[j] = stepped(f, here[j], north[j], south[j], here[left], here[right], power[j]);
    };
    const int last = columns - 1;
    cell(0, 0, std::min(1, last));
    for (int j = 1; j < last; ++j) cell(j, j - 1, j + 1);
    if (last > 0) cell(last, last - 1, last);
}

bench::MatrixResult simulate(const bench::MatrixProblem& problem) {
    const int size = problem.size;
    const std::size_t width = static_cast<std::size_t>(size), count = width * width;
    const hotspot::Factors factors = hotspot::factors_of(size);
    std::vector<float> power(count), start(count), a(count), b(count);
    hotspot::make_power(size, power);
    hotspot::make_temperatures(start);
    hotspot::Saved saved(count, static_cast<int>(problem.host_threads));

    const auto iterations = [&](int number) {
        a = start;
        std::vector<float>*now = &a, *next = &b;
        for (int i = 1; i <= number; ++i) {
#pragma omp parallel for schedule(static)
            for (int y = 0; y < size; ++y) {
                const auto row = [&](int of) { return now->data() + width * std::clamp(of, 0, size - 1); };
                step_row(factors, size, row(y - 1), row(y), row(y + 1), &power[width * y],
                         &(*next)[width * y]);
            }
            std::swap(now, next);
            if (i % 4 == 0 || i == number) saved.take(now->data());
        }
    };
    iterations(4); // threads start at first use
    const double seconds = bench::seconds_of([&] { iterations(problem.steps); });
    const double sum = std::reduce(saved.cells().begin(), saved.cells().end(), 0.0);
    return {seconds, sum / static_cast<double>(count), "OpenMP"};
}

} // namespace

int main(int argc, char** argv) {
    return bench::matrix_baseline(argc, argv, "Hotspot with OpenMP", simulate);
}
