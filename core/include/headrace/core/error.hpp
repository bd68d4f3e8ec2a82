// core/error.hpp - the one family of exceptions that the library throws.
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
    not_found,        ///< the caller named something that is not there: a file, a device, a policy
    unsupported,      ///< nothing here can do it: no kernel for a device, a size that no device holds
    io,               ///< a file or stream failed although it was named correctly
    out_of_memory,    ///< a memory could not hold what was asked for; the message has the sizes
    device,           ///< a device or its driver failed; the device cannot be relied upon any more
    kernel,           ///< a user's kernel or host task failed
    cancelled,        ///< somebody asked for the end before the end
    deadline,         ///< something did not answer in time
    internal,         ///< a promise of the library was broken: a bug
};

[[nodiscard]] HEADRACE_EXPORT std::string_view to_string(ErrorKind kind) noexcept;

/// What the library throws, and what a failed Event carries.
///
/// The `on_`/`in_`/`with_` calls add context on the way up and return the error itself, so that a layer can
/// write `throw Error{ErrorKind::device, "cuMemcpy failed"}.on_device("cuda:0").with_code(700)`.
/// Context that is already there is kept: the innermost layer knows best.
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

    /// True if the one who called can mend it (programs then exit with 2, else with 1).
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

/// Outcomes are shared by every event that inherits them; null means success.
using ErrorPtr = std::shared_ptr<const Error>;

/// The exception in flight as an ErrorPtr; anything that is no Error becomes one of `fallback` kind.
[[nodiscard]] HEADRACE_EXPORT ErrorPtr current_error(ErrorKind fallback = ErrorKind::kernel);

namespace detail {
[[noreturn]] HEADRACE_EXPORT void assertion_failed(const char* condition, std::source_location where);
} // namespace detail

} // namespace headrace

/// A broken promise inside the library. Always checked: says which one, and aborts.
#define HEADRACE_ASSERT(condition)                                                                           \
    ((condition) ? static_cast<void>(0)                                                                      \
                 : ::headrace::detail::assertion_failed(#condition, std::source_location::current()))
