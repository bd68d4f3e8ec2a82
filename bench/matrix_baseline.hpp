// bench/matrix_baseline.hpp - the frame of the baselines on matrices: the options of headrace-matrix-pow and
// headrace-chain-matmul, and one line of JSON as the result. No part of the library is on the way.
#pragma once
#include <chrono>
#include <functional>
#include <string>

namespace bench {

struct MatrixProblem {
    int size = 1024;
    int steps = 40; ///< or iterations
    unsigned host_threads = 8;
    bool asynchronous = true; ///< of programs that can do both
    unsigned device = 0;
};

struct MatrixResult {
    double seconds = 0; ///< of the steps alone: nothing is allocated, loaded or generated in them
    double checksum = 0;
    std::string device; ///< what computed, with the driver's version
};

/// Reads the options, calls `work` and prints its result. Returns the exit code.
[[nodiscard]] int matrix_baseline(int argc, char** argv, const char* about,
                                  const std::function<MatrixResult(const MatrixProblem&)>& work);

/// Calls `work`, which returns when all is done, and says how long it took.
template <class Work>
[[nodiscard]] double seconds_of(const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace bench
