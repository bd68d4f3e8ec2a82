// tests/persistent/drain.hpp - runs an engine to its end. A launch that hangs cannot be taken back: tests
// that do this have a deadline.
#pragma once
#include <core/test_deadline.hpp>
#include <headrace/persistent/engine.hpp>

#include <cstdint>

namespace headrace::test {

/// Seeds [begin, end) to the end. Returns how often the launch was resumed.
inline std::uint64_t drain(Engine& engine, std::uint64_t begin, std::uint64_t end) {
    std::uint64_t resumed = 0;
    engine.start(begin, end);
    for (; engine.collect() == Engine::State::paused; ++resumed) engine.resume();
    return resumed;
}

} // namespace headrace::test
