#!/bin/sh
# Renders a room with a scanned statue, glass and a mirror on every device of this machine at the same time.
# Arguments go to the program: `./demo.sh --spp 1024`, `./demo.sh --devices cpu`.
set -eu
cd -- "$(dirname -- "$0")"

.ci/build headrace-path-tracer
mkdir -p demo
build/release/bin/headrace-path-tracer --scene apps/path_tracer/scenes/demo.obj --devices all \
    --width 640 --height 360 --spp 64 --out demo/demo.png --report demo/report.json "$@" </dev/null
echo
echo "image   $PWD/demo/demo.png"
echo "report  $PWD/demo/report.json"
