// devices/check_range.hpp - the checks of every backend before it enqueues a request.
#pragma once
#include <headrace/core/device.hpp>

#include <string>

namespace headrace {

/// Throws invalid_argument unless [offset, offset + size) lies inside `memory`.
inline void check_range(const Memory& memory, Bytes offset, Bytes size, std::string_view device) {
    if (offset <= memory.size() && size <= memory.size() - offset) return;
    throw Error{ErrorKind::invalid_argument, std::to_string(size) + " bytes from " + std::to_string(offset) +
                                                 " on do not lie inside an allocation of " +
                                                 std::to_string(memory.size())}
        .on_device(device);
}

/// Throws invalid_argument unless [offset, offset + size) of `memory` holds a whole number of patterns.
inline void check_fill(const Memory& memory, Bytes offset, Bytes size, Pattern pattern,
                       std::string_view device) {
    check_range(memory, offset, size, device);
    if ((offset | size) % pattern.size() == 0) return;
    throw Error{ErrorKind::invalid_argument, std::to_string(size) + " bytes from " + std::to_string(offset) +
                                                 " on are no whole number of patterns of " +
                                                 std::to_string(pattern.size()) + " bytes"}
        .on_device(device);
}

/// Returns `memory` as the backend's type; throws invalid_argument if it belongs to another technology.
template <class BackendMemory, class MemoryRef>
auto& own_memory(MemoryRef& memory, std::string_view device) {
    if (auto* const own = dynamic_cast<BackendMemory*>(&memory)) return *own;
    throw Error{ErrorKind::invalid_argument, "memory of another technology"}.on_device(device);
}

} // namespace headrace
