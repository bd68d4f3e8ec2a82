# Writes OUT, a C++ file with the commit that is checked out in SOURCE, if it is not what OUT says already.
set(commit unknown)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND "${GIT}" describe --always --abbrev=12 --exclude=* --dirty=+
    WORKING_DIRECTORY "${SOURCE}" OUTPUT_VARIABLE found RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed)
    set(commit "${found}")
  endif()
endif()
file(CONFIGURE OUTPUT "${OUT}" CONTENT [[
#include "commit.hpp"
namespace path_tracer {
const char* const commit = "@commit@";
} // namespace path_tracer
]] @ONLY)
