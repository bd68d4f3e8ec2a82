// bench/feeding_baseline.hpp - the marks of bench/feeding as one plain launch: a thread for each unit.
#pragma once
#include <cstdint>

namespace bench {

struct PlainMarks {
    double seconds; ///< from the call of the launch to the host's knowing that it has ended
    std::uint64_t checksum;
};

/// On the first CUDA device.
[[nodiscard]] PlainMarks plain_marks(std::uint64_t units, std::uint32_t turns);

} // namespace bench
