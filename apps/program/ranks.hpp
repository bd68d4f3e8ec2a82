// apps/program/ranks.hpp - a program that MPI has started as several ranks: one of them shows the
// results.
#pragma once
#include <headrace/domains/cluster/session.hpp>

namespace program {

/// Of several ranks, only rank 0 reads standard input and writes. A failure is printed once: by rank 0, or by
/// another rank if rank 0 has not failed.
///
/// Lifetime  from before the command line is read until failures are printed; after the runtimes
class Ranks {
public:
    Ranks();
    ~Ranks();
    Ranks(const Ranks&) = delete; // others hold its address
    Ranks& operator=(const Ranks&) = delete;

    [[nodiscard]] const headrace::cluster::Session& session() const noexcept { return session_; }

private:
    headrace::cluster::Session session_;
};

} // namespace program
