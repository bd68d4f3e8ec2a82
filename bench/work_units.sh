#!/bin/sh
# bench/work_units.sh DEVICE [small] - does it pay to cut work into units? Consumer against consumer-producer for all three
# programs, by problem size and by how heavy a unit is, as Markdown: figures 2 and 3 and table 1 of the paper that the engine
# began with (Barbosa et al., 2014). `small`: for processors. BIN, SCENE (with area lights) and COMMIT may be set.
set -eu
device=$1 here=$(cd -- "$(dirname -- "$0")/.." && pwd)
scene=${SCENE:-$here/apps/path_tracer/scenes/demo.gltf} commit=${COMMIT:-unknown}
cd -- "${BIN:-$here/build/release/bin}"
bodies=16384,65536,262144,1048576,4194304 loaded=262144 packets="100000 1000000 10000000 30000000" samples=4,16,64,256 lit=64
if [ "${2:-}" = small ]; then
    bodies=4096,16384,65536 loaded=16384 packets="10000 100000 1000000" samples=1,4,16 lit=4
fi
nbody() { ./nbody --device "$device" --input plummer --sample 200 --commit "$commit" "$@"; }

echo "## Problem size: bodies"
nbody --bodies $bodies --kernel consumer,producer,producer-node
echo "## Problem size: packets, with fluorescence"
for count in $packets; do ./photons --device "$device" --packets "$count" --commit "$commit" --tissue fluorescent --grid rz; done
echo "## Problem size: samples of a pixel"
./path_tracing --device "$device" --scene "$scene" --width 640 --height 360 --spp $samples --shadow-rays 1 --repeat 5 --commit "$commit"
echo "## Load of a unit: Fibonacci numbers at each visited node"
for load in 0 20 40 80 160; do nbody --bodies $loaded --kernel consumer,producer,producer-node --synthetic-load $load; done
echo "## Load of a unit: shadow rays"
./path_tracing --device "$device" --scene "$scene" --width 640 --height 360 --spp $lit --shadow-rays 1,2,4,8,16,32 --repeat 5 \
    --commit "$commit"
