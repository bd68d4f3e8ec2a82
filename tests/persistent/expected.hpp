// tests/persistent/expected.hpp - the serial references: which units must arrive, computed by plain
// recursion.
#pragma once
#include "trees.kernels.hpp"

#include <headrace/persistent/units.hpp>

#include <vector>

namespace headrace::test {

/// A lane that runs what is spawned at once; a group of one, for group kernels.
template <class Kernel>
struct SerialLane {
    const Kernel& kernel;
    template <class Unit>
    void spawn(const Unit& unit) {
        if constexpr (!is_range<Unit>)
            kernel(*this, unit);
        else
            KindTraits<typename Kernel::Units>::each_range([&](auto, auto, auto* kind) {
                using KindOf = std::remove_pointer_t<decltype(kind)>;
                if constexpr (std::is_same_v<typename KindOf::Unit, Unit>)
                    for (std::uint64_t index = unit.begin; index < unit.end; ++index)
                        run(typename KindOf::Expand{}(index, unit.payload));
            });
    }
    template <class Payload>
    void spawn_range(std::uint64_t begin, std::uint64_t end, const Payload& payload) {
        spawn(Range<Payload>{begin, end, payload});
    }
    /// A unit that was made of an index, or none.
    template <class Made>
    void run(const Made& made) {
        if constexpr (!MadeUnit<Made>::may_be_none)
            spawn(made);
        else if (made)
            spawn(*made);
    }
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
    for (std::uint64_t index = begin; index < end; ++index) lane.run(seeds(index));
    return table;
}

} // namespace headrace::test
