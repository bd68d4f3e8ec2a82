// core/detail/process_mark.hpp - the process that created an object: threads do not exist in a forked child.
// Internal to Headrace.
#pragma once
#include <headrace/core/error.hpp>
#include <headrace/core/export.hpp>

#include <cstdint>
#include <string_view>

namespace headrace {

/// Threads: any.
class HEADRACE_EXPORT ProcessMark {
public:
    ProcessMark() noexcept;
    /// False in a forked child of the process that made this object.
    [[nodiscard]] bool is_of_this_process() const noexcept;
    /// Throws invalid_argument in a forked child. `what` is the subject of the message.
    void check(std::string_view what) const;
    /// What `check` throws in a forked child.
    [[nodiscard]] static Error error(std::string_view what);

private:
    std::uint64_t forks_;
};

} // namespace headrace
