// tests/core/environment.hpp - what whoever runs the tests asks of one that can do more than usual.
#pragma once
#include <cstdint>
#include <cstdlib>

namespace headrace::test {

inline std::uint64_t from_environment(const char* name, std::uint64_t usual) {
    const char* value = std::getenv(name);
    return value != nullptr ? std::strtoull(value, nullptr, 10) : usual;
}

} // namespace headrace::test
