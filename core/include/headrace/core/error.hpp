// core/error.hpp - the only exception type that the library throws.
// An Error says what happened and where: the call, the device, the job, the task, the driver's own code.
#pragma once
#include <headrace/core/export.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>

namespace headrace {

enum class ErrorKind : std::uint8_t {
    invalid_argument, ///< the caller's mistake: a wrong shape, a bad option, malformed input
    not_found,        ///< the caller named something that does not exist: a file, a device, a policy
    unsupported,      ///< not possible here: no kernel for a device, or a size that no device can hold
    io,               ///< a file or stream failed, although its name is correct
    out_of_memory,    ///< a memory cannot hold the requested data; the message gives the sizes
    device,           ///< a device or its driver failed; the device is no longer reliable
    kernel,           ///< a user's kernel or host task failed
    cancelled,        ///< the work was cancelled before it ended
    deadline,         ///< a device, process or other component did not answer in time
    internal,         ///< the library broke one of its own guarantees: a bug
};

[[nodiscard]] HEADRACE_EXPORT std::string_view to_string(ErrorKind kind) noexcept;

/// The exception type of the library. A failed Event carries one.
///
/// The `on_`, `in_` and `with_` calls add context and return the error itself. So a layer can write
/// `throw Error{ErrorKind::device, "cuMemcpy failed"}.on_device("cuda:0").with_code(700)`.
/// They keep context that is already set, because the innermost layer has the most exact data.
class HEADRACE_EXPORT Error : public std::exception {
public:
    explicit Error(ErrorKind kind, std::string message,
                   std::source_location where = std::source_location::current());

    Error& on_device(std::string_view device);
    Error& in_job(std::string_view job);
    Error& in_task(std::string_view task);
    Error& with_code(std::int64_t native_code);

    [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
    [[nodiscard]] const std::string& message() const noexcept { return message_; } ///< without the context
    [[nodiscard]] const std::string& device() const noexcept { return device_; }
    [[nodiscard]] const std::string& job() const noexcept { return job_; }
    [[nodiscard]] const std::string& task() const noexcept { return task_; }
    [[nodiscard]] std::int64_t native_code() const noexcept { return native_code_; } ///< 0: none
    [[nodiscard]] const std::source_location& where() const noexcept { return where_; }

    /// True if the user can correct the mistake. Programs then exit with 2, else with 1.
    [[nodiscard]] bool is_users_mistake() const noexcept;

    /// One line: message, then device, job, task and native code where known.
    [[nodiscard]] const char* what() const noexcept override;

private:
    void compose();

    ErrorKind kind_;
    std::string message_, device_, job_, task_;
    std::int64_t native_code_ = 0;
    std::source_location where_;
    std::string text_;
};

/// The outcome of an event. All events that inherit it share it; null means success.
using ErrorPtr = std::shared_ptr<const Error>;

/// The exception being handled, as an Error. bad_alloc becomes out_of_memory; other types get `fallback`.
[[nodiscard]] HEADRACE_EXPORT ErrorPtr current_error(ErrorKind fallback = ErrorKind::kernel);

namespace detail {
[[noreturn]] HEADRACE_EXPORT void assertion_failed(const char* condition, std::source_location where);
} // namespace detail

} // namespace headrace

/// Checks a guarantee inside the library, in all builds. If it is broken: prints the condition and aborts.
#define HEADRACE_ASSERT(condition)                                                                           \
    ((condition) ? static_cast<void>(0)                                                                      \
                 : ::headrace::detail::assertion_failed(#condition, std::source_location::current()))
