// core/base/error.cpp - see error.hpp.
#include <headrace/core/error.hpp>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

namespace headrace {

std::string_view to_string(ErrorKind kind) noexcept {
    switch (kind) {
    case ErrorKind::invalid_argument:
        return "invalid argument";
    case ErrorKind::not_found:
        return "not found";
    case ErrorKind::unsupported:
        return "unsupported";
    case ErrorKind::io:
        return "input/output";
    case ErrorKind::out_of_memory:
        return "out of memory";
    case ErrorKind::device:
        return "device failure";
    case ErrorKind::kernel:
        return "kernel failure";
    case ErrorKind::cancelled:
        return "cancelled";
    case ErrorKind::deadline:
        return "deadline";
    case ErrorKind::internal:
        return "internal";
    }
    return "unknown";
}

Error::Error(ErrorKind kind, std::string message, std::source_location where)
    : kind_(kind), message_(std::move(message)), where_(where) {
    compose();
}

// Defined here, so that only one library contains the type information and the virtual table of the class.
const char* Error::what() const noexcept { return text_.c_str(); }

Error& Error::on_device(std::string_view device) {
    if (device_.empty()) device_ = device;
    compose();
    return *this;
}

Error& Error::in_job(std::string_view job) {
    if (job_.empty()) job_ = job;
    compose();
    return *this;
}

Error& Error::in_task(std::string_view task) {
    if (task_.empty()) task_ = task;
    compose();
    return *this;
}

Error& Error::with_code(std::int64_t native_code) {
    if (native_code_ == 0) native_code_ = native_code;
    compose();
    return *this;
}

bool Error::is_users_mistake() const noexcept {
    return kind_ == ErrorKind::invalid_argument || kind_ == ErrorKind::not_found ||
           kind_ == ErrorKind::unsupported;
}

void Error::compose() {
    text_ = message_;
    std::string context;
    const auto add = [&context](std::string_view label, std::string_view value) {
        if (value.empty()) return;
        context.append(context.empty() ? "" : ", ").append(label).append(value);
    };
    add("device ", device_);
    add("job ", job_);
    add("task ", task_);
    if (native_code_ != 0) add("code ", std::to_string(native_code_));
    if (!context.empty()) text_ += " (" + context + ")";
}

ErrorPtr current_error(ErrorKind fallback) {
    try {
        throw;
    } catch (const Error& error) {
        return std::make_shared<const Error>(error);
    } catch (const std::bad_alloc&) {
        return std::make_shared<const Error>(ErrorKind::out_of_memory, "the host ran out of memory");
    } catch (const std::exception& error) {
        return std::make_shared<const Error>(fallback, error.what());
    } catch (...) {
        return std::make_shared<const Error>(fallback, "an exception that is no std::exception");
    }
}

namespace detail {
void assertion_failed(const char* condition, std::source_location where) {
    std::fprintf(stderr, "headrace: broken promise: %s (%s:%u, %s)\n", condition, where.file_name(),
                 static_cast<unsigned>(where.line()), where.function_name());
    std::abort();
}
} // namespace detail

} // namespace headrace
