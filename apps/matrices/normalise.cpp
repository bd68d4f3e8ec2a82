// apps/matrices/normalise.cpp - see normalise.hpp.
#include "matrices/normalise.hpp"
#include "matrices/host_kernels.hpp"
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace matrices {
namespace {

constexpr std::size_t piece = std::size_t{1} << 16; // numbers that a thread takes at once

/// Calls body(first, count, i) for piece i of `size` numbers.
template <class Body>
void for_pieces(std::size_t size, HostThreads& threads, const Body& body) {
    threads.run(static_cast<unsigned>((size + piece - 1) / piece), [&](unsigned i) {
        const std::size_t first = i * piece;
        body(first, std::min(piece, size - first), i);
    });
}

/// Of all pieces, added up in their order.
Summary summarise(std::span<const float> numbers, HostThreads& threads) {
    std::vector<Summary> parts((numbers.size() + piece - 1) / piece);
    for_pieces(numbers.size(), threads, [&](std::size_t first, std::size_t count, unsigned i) {
        parts[i] = host_kernels().summarise(numbers.data() + first, count, numbers[0]);
    });
    Summary all{std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), 0, 0};
    for (const Summary& part : parts)
        all = {std::min(all.least, part.least), std::max(all.most, part.most), all.sum + part.sum,
               all.squares + part.squares};
    return all;
}

[[noreturn]] void refuse_infinite(std::span<const float> numbers, const std::string& name) {
    const auto wrong = std::ranges::find_if_not(numbers, [](float number) { return std::isfinite(number); });
    throw headrace::Error{headrace::ErrorKind::invalid_argument,
                          name + ": number " + std::to_string(wrong - numbers.begin() + 1) +
                              " is beyond float32; use matrices of smaller numbers"};
}

/// As a float it is 0 or has all of a float's digits.
bool fits_float(double number) {
    using Limits = std::numeric_limits<float>;
    return number == 0 || (number >= double{Limits::min()} && number <= double{Limits::max()});
}

} // namespace

Normalisation normalise(std::span<const float> from, std::span<float> to, HostThreads& threads,
                        const std::string& name) {
    if (from.empty()) return {};
    const Summary found = summarise(from, threads);
    if (!std::isfinite(found.squares) || !std::isfinite(found.sum)) refuse_infinite(from, name);
    // With d the difference to the pivot and e that of least: sum (x - least)^2 = sum (d - e)^2.
    const double e = static_cast<double>(found.least) - static_cast<double>(from[0]);
    const double count = static_cast<double>(from.size());
    const double length = std::sqrt(std::max(0.0, found.squares - 2 * e * found.sum + count * e * e));
    const double factor = length > 0 ? 1 / length : 0; // dividing by most cancels out
    const bool in_floats =
        fits_float(static_cast<double>(found.most) - static_cast<double>(found.least)) && fits_float(factor);
    for_pieces(from.size(), threads, [&](std::size_t first, std::size_t size, unsigned) {
        if (in_floats)
            host_kernels().rescale(from.data() + first, to.data() + first, size, found.least,
                                   static_cast<float>(factor));
        else
            std::ranges::transform(
                from.subspan(first, size), to.begin() + static_cast<std::ptrdiff_t>(first),
                [&](double number) { return static_cast<float>((number - double{found.least}) * factor); });
    });
    const double most = std::abs(static_cast<double>(found.most));
    return {found.least, found.most, most > 0 ? length / most : 0, (found.sum - count * e) * factor};
}

void fill_uniform(std::span<float> to, std::uint64_t seed, std::uint64_t stream, float factor,
                  HostThreads& threads) {
    for_pieces(to.size(), threads, [&](std::size_t first, std::size_t count, unsigned) {
        host_kernels().uniform(to.data() + first, first, count, seed, stream, factor);
    });
}

double checksum(std::span<const float> numbers, HostThreads& threads) {
    if (numbers.empty()) return 0;
    return summarise(numbers, threads).sum +
           static_cast<double>(numbers.size()) * static_cast<double>(numbers[0]);
}

} // namespace matrices
