// apps/barnes_hut/own_process.hpp - work on bytes of strangers by a library that they may break.
#pragma once
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

namespace barnes_hut {

/// Runs `make` in a child process; what it writes is read by `take` here. What a broken input does to a
/// library ends the child alone. `take` may find fewer bytes than there should be: then this throws when it
/// has returned.
///
/// Threads   call it before there are others: a child has only the one that made it
/// Errors    that of `make`; invalid_argument, `broken`, if the child crashes, or computes for longer than
/// `limit`
void in_own_process(const std::function<void(std::FILE* to)>& make,
                    const std::function<void(std::FILE* from)>& take, const std::string& broken,
                    std::chrono::seconds limit);

} // namespace barnes_hut
