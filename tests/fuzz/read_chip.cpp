// tests/fuzz/read_chip.cpp - any bytes as the temperatures of a chip: as many finite numbers as there are
// cells, or refused with an Error. From a file and from a pipe alike.
#include "chip.hpp"
#include <fuzz/check_numbers.hpp>
#include <fuzz/memory_file.hpp>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

auto cells_of(const std::string& file, std::size_t count) {
    return headrace::fuzz::finite_numbers([&] {
        std::vector<float> cells(count);
        hotspot::read_cells(file, cells);
        return cells;
    });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const headrace::fuzz::MemoryFile file(data, size);
    for (const std::size_t count : {1, 4, 9}) { // a chip of these sides: most files fit one of them
        const headrace::fuzz::FilledPipe pipe(data, size);
        if (cells_of(file.name(), count) != cells_of(pipe.name(), count)) std::abort();
    }
    return 0;
}
