// domains/detail/process_mark.hpp - the process that created an object: threads do not exist in a forked
// child. Internal to domains/.
#pragma once
#include <cstdint>
#include <headrace/core/export.hpp>

namespace headrace {

/// Threads: any.
class HEADRACE_EXPORT ProcessMark {
public:
    ProcessMark();
    /// False in a forked child of the process that made this object.
    [[nodiscard]] bool is_of_this_process() const noexcept;
    /// Throws invalid_argument in a forked child. `what` is the subject of the message.
    void check(const char* what) const;

private:
    std::uint64_t forks_;
};

} // namespace headrace
