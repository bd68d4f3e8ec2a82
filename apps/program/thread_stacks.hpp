// apps/program/thread_stacks.hpp - threads with room for what drivers and compilers do in them.
#pragma once

namespace program {

/// Threads that begin from now on have a stack of 8 MiB at least, unless who starts them says otherwise. Else
/// they would have what `ulimit -s` says, and drivers and loaders of libraries need more than little.
void ensure_thread_stacks();

} // namespace program
