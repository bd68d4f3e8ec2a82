// domains/execution/portion_work.hpp - a portion as the schedule knows it.
#pragma once
#include <headrace/internal/core/schedule.hpp>
#include <headrace/internal/domains/portion.hpp>

namespace headrace {

inline Work work_of(const Portion& portion) {
    return {.range = portion.range, .is_transferred = portion.units != nullptr, .tasks = portion.tasks};
}

} // namespace headrace
