// bench/matrix_pow_openmp.cpp - Matrix Pow on the processor with OpenMP; asynchronously, the normalisation of
// a step runs beside the product that follows.
#include "matrices/host_multiply.hpp"
#include "matrices/normalise.hpp"
#include "matrix_baseline.hpp"

#include <future>
#include <vector>

namespace {

bench::MatrixResult raise(const bench::MatrixProblem& problem) {
    const int n = problem.size;
    const std::size_t count = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
    std::vector<float> a(count), normalised(count),
        c[2] = {std::vector<float>(count), std::vector<float>(count)};
    matrices::HostThreads threads(problem.host_threads);
    matrices::fill_uniform(a, 1, 0, 2.0f / static_cast<float>(n), threads);

    const auto steps = [&](int number) {
        const float* from = a.data();
        std::future<void> normalising;
        for (int i = 0; i < number; ++i) {
            std::vector<float>& to = c[i % 2]; // whose normalisation has ended: the one after it has begun
            const matrices::HostProduct product{from, a.data(), to.data(), n, n, n};
            const int tiles = static_cast<int>(product.tiles());
#pragma omp parallel for schedule(dynamic)
            for (int tile = 0; tile < tiles; ++tile) product.multiply(static_cast<unsigned>(tile));
            if (normalising.valid()) normalising.get();
            normalising = std::async(problem.asynchronous ? std::launch::async : std::launch::deferred,
                                     [&] { matrices::normalise(to, normalised, threads); });
            if (!problem.asynchronous) normalising.get();
            from = to.data();
        }
        if (normalising.valid()) normalising.get();
    };
    steps(2); // threads start at first use
    const double seconds = bench::seconds_of([&] { steps(problem.steps); });
    return {seconds, matrices::checksum(normalised, threads), "OpenMP"};
}

} // namespace

int main(int argc, char** argv) {
    return bench::matrix_baseline(argc, argv, "Matrix Pow with OpenMP", raise);
}
