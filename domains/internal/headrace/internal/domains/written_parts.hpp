// internal/domains/written_parts.hpp - which elements of a domain the tasks of a job write: no two write the
// same. Private to domains/.
#pragma once
#include <headrace/core/export.hpp>
#include <headrace/domains/domain.hpp>

#include <cstdint>
#include <map>
#include <optional>

namespace headrace {

/// The parts that a partition callback gave for tasks that have begun or are done.
///
/// Threads: one at a time. Cost: logarithmic in the number of tasks.
class HEADRACE_EXPORT WrittenParts {
public:
    /// Enters the part of the task with these work units. If it overlaps another task's it is not entered,
    /// and the other one's work units are returned.
    [[nodiscard]] std::optional<IndexRange> enter(IndexRange units, IndexRange elements);
    /// The task will be done again, or elsewhere, or is shorter.
    void remove(IndexRange units);

private:
    struct Part {
        IndexRange elements, units;
    };
    std::map<std::uint64_t, Part> parts_;             // by their first element; none is empty
    std::map<std::uint64_t, std::uint64_t> by_units_; // first work unit -> first element
};

} // namespace headrace
