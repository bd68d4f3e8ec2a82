// tests/fuzz/read_matrix.cpp - any bytes as a .npy file of a matrix: read, or refused with an Error. What is
// read is finite, and the same from a file and from a pipe.
#include "matrices/npy.hpp"
#include <fuzz/memory_file.hpp>
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace {

std::optional<std::vector<float>> numbers_of(const std::string& name) {
    std::vector<float> numbers;
    try {
        const matrices::NpyFile file(name);
        const matrices::NpySize size = file.size();
        numbers.resize(static_cast<std::size_t>(size.rows) * static_cast<std::size_t>(size.columns));
        file.read(size, numbers);
    } catch (const headrace::Error&) { // as it should; all else is a crash
        return std::nullopt;
    }
    if (!std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); })) std::abort();
    return numbers;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 10'000) return 0; // a pipe would have to take more than it holds, or a side more than it may
    const headrace::fuzz::MemoryFile file(data, size);
    const headrace::fuzz::FilledPipe pipe(data, size);
    if (numbers_of(file.name()) != numbers_of(pipe.name())) std::abort();
    return 0;
}
