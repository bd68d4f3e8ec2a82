#!/bin/sh
# Builds everything and runs every test. What a test needs and this machine lacks (a GPU, say) is skipped, in words:
# the summary names it. HEADRACE_REQUIRE_DEVICES=cuda,opencl makes an absent device a failure instead.
# Arguments go to ctest: `./test.sh -R end_to_end`.
set -eu
cd -- "$(dirname -- "$0")"

.ci/build
exec ctest --preset release "$@" </dev/null
