// domains/execution/schedule_work.hpp - a work range in the terms of the schedule.
#pragma once
#include <headrace/internal/core/schedule.hpp>
#include <headrace/internal/domains/work_range.hpp>

namespace headrace {

inline Work work_of(const WorkRange& work_range) {
    return {
        .range = work_range.range, .is_transferred = work_range.units != nullptr, .tasks = work_range.tasks};
}

} // namespace headrace
