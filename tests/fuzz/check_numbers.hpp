// tests/fuzz/check_numbers.hpp - what a reader of numbers may do with any bytes.
#pragma once
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

namespace headrace::fuzz {

/// What read() returns, all of it finite; nothing where it refuses with an Error. All else is a crash.
template <class Read>
std::optional<std::vector<float>> finite_numbers(const Read& read) {
    std::vector<float> numbers;
    try {
        numbers = read();
    } catch (const Error&) { // as it should
        return std::nullopt;
    }
    if (!std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); })) std::abort();
    return numbers;
}

} // namespace headrace::fuzz
