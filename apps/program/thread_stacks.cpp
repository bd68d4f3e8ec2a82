// apps/program/thread_stacks.cpp - see thread_stacks.hpp.
#include "program/thread_stacks.hpp"

#include <cstddef>

#include <pthread.h>

namespace program {

void ensure_thread_stacks() {
    constexpr std::size_t enough = std::size_t{8} << 20; // what systems give as a rule
    pthread_attr_t attributes;
    if (::pthread_getattr_default_np(&attributes) != 0) return;
    std::size_t size = 0;
    if (::pthread_attr_getstacksize(&attributes, &size) == 0 && size < enough &&
        ::pthread_attr_setstacksize(&attributes, enough) == 0)
        static_cast<void>(::pthread_setattr_default_np(&attributes)); // failed: as it was
    ::pthread_attr_destroy(&attributes);
}

} // namespace program
