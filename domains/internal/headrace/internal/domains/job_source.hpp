// internal/domains/job_source.hpp - where a device finds its jobs. Internal to domains/.
#pragma once
#include <headrace/core/export.hpp>

#include <memory>
#include <vector>

namespace headrace {

class JobExecution;

/// What a device asks of its runtime. Threads: any.
class HEADRACE_EXPORT JobSource {
public:
    /// The jobs that have not ended, oldest first.
    [[nodiscard]] virtual std::vector<std::shared_ptr<JobExecution>> unfinished() const = 0;
    /// Those of them that have started.
    [[nodiscard]] virtual std::vector<std::shared_ptr<JobExecution>> running() const = 0;
    /// The same, in the order in which devices ask them.
    [[nodiscard]] virtual std::vector<std::shared_ptr<JobExecution>> by_turn() const = 0;
    /// Other devices may find work again.
    virtual void wake_all() = 0;

protected:
    ~JobSource() = default;
};

} // namespace headrace
