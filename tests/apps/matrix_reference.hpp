// tests/apps/matrix_reference.hpp - products and normalised matrices in double precision, in plain loops.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace matrices::test {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

inline Floats noise(std::size_t count, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    Floats numbers(count);
    for (float& number : numbers) number = uniform(random);
    return numbers;
}

/// a [rows x inner], b [inner x columns], row-major; one number of the product.
template <class A, class B>
double product_at(const A& a, const B& b, int columns, int inner, int row, int column) {
    double sum = 0;
    for (int k = 0; k < inner; ++k)
        sum += double{a[static_cast<std::size_t>(row) * inner + k]} *
               double{b[static_cast<std::size_t>(k) * columns + column]};
    return sum;
}

template <class A, class B>
Doubles product(const A& a, const B& b, int rows, int columns, int inner) {
    Doubles c(static_cast<std::size_t>(rows) * columns);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
            c[static_cast<std::size_t>(i) * columns + j] = product_at(a, b, columns, inner, i, j);
    return c;
}

/// Single-precision sums of `inner` products, each below 1 in magnitude: roundings add up like a random walk,
/// of which twenty standard deviations never happen.
inline double tolerance(int inner) { return 20 * std::sqrt(static_cast<double>(inner)) * inner * 0x1p-24; }

/// Step by step as it is defined: subtract the least, divide by the greatest, then by the 2-norm.
struct ReferenceNormalisation {
    double least, most, norm = 0, sum = 0;
    Doubles numbers;

    template <class Numbers>
    explicit ReferenceNormalisation(const Numbers& from) : numbers(from.begin(), from.end()) {
        const auto [low, high] = std::ranges::minmax(numbers);
        least = low;
        most = high;
        for (double& number : numbers) number = (number - least) / most;
        for (const double number : numbers) norm += number * number;
        norm = std::sqrt(norm);
        for (double& number : numbers) sum += number /= norm;
    }
};

/// The 2-norm of the difference; normalised matrices have the 2-norm 1.
inline double distance(std::span<const float> a, const Doubles& b) {
    double squares = a.size() == b.size() ? 0 : 1e300;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(squares);
}

} // namespace matrices::test
