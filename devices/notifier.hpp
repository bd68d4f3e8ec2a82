// devices/notifier.hpp - the one thread that drivers' callbacks wake.
// A driver calls back from a thread of its own, in which it must not be called again (CUDA forbids it, PoCL
// holds locks). So a callback only posts here, and events settle, with all that follows, in this thread.
#pragma once
#include <functional>

namespace headrace {

/// Runs `work` soon, in order, in the notifier's thread; returns at once. `work` must be short and must not
/// throw.
///
/// Threads: any, also the drivers' own, also while the process ends: what is posted then is dropped.
void notify(std::function<void()> work);

} // namespace headrace
