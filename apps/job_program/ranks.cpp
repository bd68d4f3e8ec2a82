// apps/job_program/ranks.cpp - see ranks.hpp.
#include "job_program/ranks.hpp"
#include "program/quiet_process.hpp"

namespace job_program {

Ranks::Ranks() {
    if (!session_.is_first()) program::become_quiet();
}

} // namespace job_program
