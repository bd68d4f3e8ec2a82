// apps/coexec/verdict.hpp - what a comparison of results with a serial version finds.
#pragma once
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace coexec {

struct Verdict {
    std::uint64_t compared = 0, wrong = 0;
    double worst = 0;        ///< the largest error, by what is allowed for it: right up to 1
    std::string first_wrong; ///< in words

    /// `got` is right if it is `expected`, up to `allowed`. No number is wrong.
    void compare(const char* what, std::uint64_t at, double got, double expected, double allowed) {
        ++compared;
        const double error = std::abs(got - expected);
        if (error <= allowed) {
            if (allowed > 0) worst = std::max(worst, error / allowed);
            return;
        }
        worst = std::isfinite(error) && allowed > 0 ? std::max(worst, error / allowed) : INFINITY;
        if (wrong++ == 0)
            first_wrong = std::string(what) + " " + std::to_string(at) + " is " + std::to_string(got) +
                          ", serially " + std::to_string(expected);
    }

    /// Errors  kernel: how many are wrong, and the first of them
    void throw_if_wrong() const {
        if (wrong > 0)
            throw headrace::Error{headrace::ErrorKind::kernel, std::to_string(wrong) + " of " +
                                                                   std::to_string(compared) +
                                                                   " values are wrong: " + first_wrong};
    }
};

} // namespace coexec
