// domains/detail/process_mark.hpp - which process something was made in: threads do not follow a fork().
// Private to domains/.
#pragma once
#include <cstdint>
#include <headrace/core/export.hpp>

namespace headrace {

/// Threads: any.
class HEADRACE_EXPORT ProcessMark {
public:
    ProcessMark();
    /// False in a child of the process that made this.
    [[nodiscard]] bool is_of_this_process() const noexcept;
    /// Throws invalid_argument, with `what` as its subject, in such a child.
    void check(const char* what) const;

private:
    std::uint64_t forks_;
};

} // namespace headrace
