// tests/fuzz/read_matrix.cpp - any bytes as a .npy file of a matrix: read, or refused with an Error. What is
// read is finite, and the same from a file and from a pipe.
#include "matrices/npy.hpp"
#include <fuzz/check_numbers.hpp>
#include <fuzz/memory_file.hpp>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

auto numbers_of(const std::string& name) {
    return headrace::fuzz::finite_numbers([&] {
        const matrices::NpyFile file(name);
        const matrices::NpySize size = file.size();
        std::vector<float> numbers(static_cast<std::size_t>(size.rows) *
                                   static_cast<std::size_t>(size.columns));
        file.read(size, numbers);
        return numbers;
    });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 10'000) return 0; // a pipe would have to take more than it holds, or a side more than it may
    const headrace::fuzz::MemoryFile file(data, size);
    const headrace::fuzz::FilledPipe pipe(data, size);
    if (numbers_of(file.name()) != numbers_of(pipe.name())) std::abort();
    return 0;
}
