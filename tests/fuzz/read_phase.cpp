// tests/fuzz/read_phase.cpp - any bytes as a table of a phase function: read, or refused with an Error. What
// is read covers all directions.
#include "phase.hpp"
#include <headrace/core/error.hpp>

#include <cmath>
#include <cstddef>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const auto rows =
            fluorescence::parse_phase_csv({reinterpret_cast<const char*>(data), size}, "fuzz.csv");
        if (rows.front().cosine != -1 || rows.back().cosine != 1) std::abort();
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (!(rows[i].density >= 0) || !std::isfinite(rows[i].density) ||
                (i > 0 && !(rows[i - 1].cosine < rows[i].cosine)))
                std::abort();
    } catch (const headrace::Error&) { // as it should; all else is a crash
    }
    return 0;
}
