// internal/domains/written_parts.hpp - the elements of a domain that each task of a job writes: no two tasks
// write the same one. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/domain.hpp>

#include <cstdint>
#include <map>
#include <optional>

namespace headrace {

/// The parts that a partition callback returned for tasks that have begun or ended.
///
/// Threads: one at a time. Cost: logarithmic in the number of tasks.
class HEADRACE_EXPORT WrittenParts {
public:
    /// Enters the part of the task with these work units. If it overlaps the part of another task, enters
    /// nothing and returns the other task's work units.
    [[nodiscard]] std::optional<IndexRange> enter(IndexRange units, IndexRange elements);
    /// Removes all tasks that begin in this range. They will run again, or elsewhere, or with fewer units.
    void remove(IndexRange units);

private:
    struct Part {
        IndexRange elements, units;
    };
    std::map<std::uint64_t, Part> parts_;             // key: their first element; none is empty
    std::map<std::uint64_t, std::uint64_t> by_units_; // first work unit -> first element
};

} // namespace headrace
