// tests/fuzz/read_chip.cpp - any bytes as the temperatures of a chip: as many finite numbers as there are
// cells, or refused with an Error. From a file and from a pipe alike.
#include "chip.hpp"
#include <fuzz/memory_file.hpp>
#include <headrace/core/error.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace {

std::optional<std::vector<float>> cells_of(const std::string& file, std::size_t count) {
    std::vector<float> cells(count);
    try {
        hotspot::read_cells(file, cells);
    } catch (const headrace::Error&) { // as it should; all else is a crash
        return std::nullopt;
    }
    if (!std::ranges::all_of(cells, [](float cell) { return std::isfinite(cell); })) std::abort();
    return cells;
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
