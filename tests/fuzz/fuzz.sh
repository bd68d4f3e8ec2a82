#!/bin/sh
# Fuzzes a reader with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer: tests/fuzz/fuzz.sh read_mci [SECONDS]
# Needs clang++-15, which hipcc brings, and a configured build/release. New files that reach new code land in build/fuzz; the smallest set that
# reaches as much is merged into tests/fuzz/corpus when the time is over.
set -eu
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
target=$1 seconds=${2:-600}
corpus=$root/tests/fuzz/corpus/${target#read_}
work=$root/build/fuzz/$target
[ -d "$corpus" ] || { echo "fuzz.sh: no target $target: there are $(ls "$root/tests/fuzz/corpus" | sed 's/^/read_/' | tr '\n' ' ')" >&2; exit 2; }
mkdir -p "$work/found"
case $target in
read_bodies_*) app=$root/apps/barnes_hut sources="$root/apps/barnes_hut/read_bodies.cpp $root/apps/barnes_hut/gadget_absent.cpp $root/apps/program/npy.cpp" ;;
read_snapshot) app=$root/apps/barnes_hut sources="$root/apps/barnes_hut/snapshot.cpp" ;;
read_obj | read_mtl | read_ply | read_gltf)
    app=$root/apps/path_tracer
    sources="$(echo "$app"/read_*.cpp) $app/gltf_file.cpp $app/polygon.cpp $app/scene.cpp $app/scene_files.cpp"
    sources="$sources $root/apps/program/named_file.cpp $root/apps/program/numbers.cpp $root/apps/program/used_files.cpp" ;;
read_film | read_picture)
    app=$root/apps/video libraries="-lpng -ljpeg"
    sources="$(echo "$app"/*.cpp | sed "s#$app/picture_stream.cpp##")"
    sources="$sources $root/apps/program/numbers.cpp $root/apps/program/used_files.cpp" ;;
*) app=$root/apps/fluorescence sources="$(echo "$root"/apps/fluorescence/problem.cpp "$root"/apps/fluorescence/read_*.cpp)" ;;
esac

${CLANGXX:-clang++-15} -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
    -DTOML_HEADER_ONLY=0 -DTOML_SHARED_LIB=1 \
    -I"$root/build/release/include" -I"$root/apps" -I"$app" \
    "$root/tests/fuzz/$target.cpp" $sources "$root/core/error.cpp" "$root/core/log.cpp" \
    -DSPDLOG_COMPILED_LIB -DSPDLOG_FMT_EXTERNAL -lspdlog -lfmt -ltomlplusplus ${libraries:-} -o "$work/fuzz"

"$work/fuzz" "$work/found" "$corpus" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$work/"
# Without counters a file is new if it reaches new code, not if it goes the same way more often: few remain.
"$work/fuzz" -set_cover_merge=1 -max_len=2048 -use_counters=0 "$corpus" "$work/found"
