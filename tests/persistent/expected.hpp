// tests/persistent/expected.hpp - the serial references: which units must arrive, computed by plain
// recursion.
#pragma once
#include "trees.kernels.hpp"

#include <vector>

namespace headrace::test {

/// A lane that runs what is spawned at once; a group of one, for group kernels.
template <class Kernel>
struct SerialLane {
    const Kernel& kernel;
    void spawn(const auto& unit) { kernel(*this, unit); }
    void add(std::uint32_t, std::int64_t amount, const auto& find) {
        find() += static_cast<std::uint64_t>(amount);
    }
    auto by_leader(auto&& f) { return f(); }
    static bool others_are_idle() { return false; }
};

/// The kernel that the expected arrivals are those of: itself, or the one that it names.
template <class Kernel>
const Kernel& serial(const Kernel& kernel) {
    return kernel;
}
template <class Kernel>
requires requires { typename Kernel::Serial; }
typename Kernel::Serial serial(const Kernel& kernel) { return kernel; }

/// Arrivals on the host.
class ArrivalTable {
public:
    ArrivalTable() : words_(2 * Arrivals::cells) {}
    [[nodiscard]] Arrivals view() { return {words_.data()}; }
    [[nodiscard]] std::vector<std::uint64_t>& words() { return words_; }
    [[nodiscard]] std::uint64_t total() const {
        std::uint64_t sum = 0;
        for (std::uint32_t cell = 0; cell < Arrivals::cells; ++cell) sum += words_[cell];
        return sum;
    }
    friend bool operator==(const ArrivalTable&, const ArrivalTable&) = default;

private:
    std::vector<std::uint64_t> words_;
};

/// What must have arrived when `kernel` ran on seeds [begin, end).
template <class Kernel, class Seeds>
ArrivalTable expected_arrivals(Kernel kernel, const Seeds& seeds, std::uint64_t begin, std::uint64_t end) {
    ArrivalTable table;
    kernel.arrivals = table.view();
    SerialLane<Kernel> lane{kernel};
    for (std::uint64_t index = begin; index < end; ++index) kernel(lane, seeds(index));
    return table;
}

} // namespace headrace::test
