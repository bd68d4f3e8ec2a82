// apps/coexec/problem.cpp - see problem.hpp.
#include "problem.hpp"
#include "random/philox.h"

#include <cstring>
#include <utility>

namespace coexec {

void Problem::reset() {
    for (const auto& input : inputs_) static_cast<void>(input->fill());
    // No number, -1, or a colour with more than 24 bits.
    for (const std::span<std::byte> result : results()) std::memset(result.data(), 0xFF, result.size());
}

void Problem::collect() {
    for (const auto& result : results_) static_cast<void>(result->gather());
}

std::vector<std::span<std::byte>> Problem::results() {
    std::vector<std::span<std::byte>> all;
    for (const auto& result : results_)
        all.emplace_back(static_cast<std::byte*>(result->fill()), result->storage().bytes());
    return all;
}

void fill_at_random(std::span<float> numbers, std::uint64_t seed, std::uint32_t list, float least,
                    float most) {
    const auto low = static_cast<std::uint32_t>(seed), high = static_cast<std::uint32_t>(seed >> 32);
    for (std::size_t i = 0; i < numbers.size(); i += 4) {
        const auto words = random_numbers::philox4x32(
            random_numbers::Words4{static_cast<std::uint32_t>(i),
                                   static_cast<std::uint32_t>(std::uint64_t{i} >> 32), list, 0},
            low, high);
        const std::uint32_t four[] = {words.a, words.b, words.c, words.d};
        for (std::size_t j = 0; j < 4 && i + j < numbers.size(); ++j)
            numbers[i + j] = least + (most - least) * random_numbers::uniform_of(four[j]);
    }
}

headrace::OpenClKernel opencl_kernel(const char* name, std::string_view source, std::string options) {
    headrace::OpenClKernel kernel;
    kernel.name = name;
    kernel.source = source;
    kernel.options = std::move(options);
    return kernel;
}

} // namespace coexec
