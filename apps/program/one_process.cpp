// apps/program/one_process.cpp - see one_process.hpp.
#include "program/one_process.hpp"
#include "program/numbers.hpp"
#include <headrace/domains/cluster/session.hpp>

namespace program {

bool is_spare_rank() { return headrace::cluster::rank_by_environment() > 0; }

void expect_one_process() {
    if (headrace::cluster::was_started_by_mpi())
        refuse("runs as one process; start it without mpirun or srun, or with -n 1");
}

} // namespace program
