#!/bin/sh
# Renders a room with a glossy floor, textures, metal and cloth on every device of this machine at the same time.
# Arguments go to the program: `./demo.sh --spp 1024`, `./demo.sh --devices cpu`.
set -eu
cd -- "$(dirname -- "$0")"

command -v python3 >/dev/null || { echo "demo.sh: python3 is missing; it writes the scene" >&2; exit 1; }
.ci/build headrace-path-tracer
program=build/release/bin/headrace-path-tracer
mkdir -p demo

# Left to itself the program uses each processor and GPU once. Here they shall all be seen at work, the same silicon
# through two technologies too, so each is named; a first triangle shows which of them are there.
probe=$(mktemp -d)
trap 'rm -rf "$probe"' EXIT
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >"$probe/triangle.obj"
devices=cpu samples=32
for technology in opencl cuda hip; do
    if "$program" --scene "$probe/triangle.obj" --devices $technology --width 8 --height 8 --spp 1 --quiet \
        --out "$probe/triangle.png" </dev/null 2>"$probe/why"; then
        devices=$devices,$technology
        [ $technology = opencl ] || samples=1024
    else
        why=$(sed -n "s/.*; $technology: \([^;]*\).*/\1/p" "$probe/why") # of all that is left out, in its words
        echo "without $technology: ${why:-$(tail -n 1 "$probe/why")}"
    fi
done

python3 apps/path_tracer/scenes/make_scenes.py demo/scenes
"$program" --scene demo/scenes/interior.gltf --devices $devices --width 640 --height 360 --spp $samples --tone-map aces \
    --out demo/demo.png --report demo/report.json "$@" </dev/null
echo
echo "image   $PWD/demo/demo.png"
echo "report  $PWD/demo/report.json"
