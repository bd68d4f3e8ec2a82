// apps/job_program/ranks.hpp - a program that MPI has started as several ranks: one of them shows the
// results.
#pragma once
#include <headrace/domains/cluster/session.hpp>

namespace job_program {

/// To be made first in a program: of several ranks, only rank 0 reads standard input and writes.
class Ranks {
public:
    Ranks();
    [[nodiscard]] const headrace::cluster::Session& session() const noexcept { return session_; }

private:
    headrace::cluster::Session session_;
};

} // namespace job_program
