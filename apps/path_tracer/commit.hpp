// apps/path_tracer/commit.hpp - of which sources the program was built.
#pragma once

namespace path_tracer {

/// The commit that was checked out, with "+" behind it if files had changed; "unknown" without git.
extern const char* const commit;

} // namespace path_tracer
