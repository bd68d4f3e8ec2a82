// apps/program/one_process.hpp - programs that do not share their work over ranks of MPI. Started as several
// ranks, each rank would do the same work and write the same files.
#pragma once

namespace program {

/// True on all ranks but rank 0, if mpirun or srun has started several. Such a process ends at once without a
/// word and with exit code 0. With another exit code, mpirun could end rank 0 before that has printed.
[[nodiscard]] bool is_spare_rank();
/// On rank 0 of several, refuses to work (invalid_argument). To be called when --help has been answered.
void expect_one_process();

} // namespace program
