// tests/core/sanitizers.hpp - which sanitizer the tests are compiled with. g++ defines a macro for each;
// clang answers a question.
#pragma once

#if defined(__has_feature)
    #define HAS_FEATURE(name) __has_feature(name)
#else
    #define HAS_FEATURE(name) 0
#endif

namespace headrace::test {

#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
constexpr bool under_address_sanitizer = true; // it keeps what is freed, and maps terabytes
#else
constexpr bool under_address_sanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
constexpr bool under_thread_sanitizer = true;
#else
constexpr bool under_thread_sanitizer = false;
#endif

} // namespace headrace::test

#undef HAS_FEATURE
