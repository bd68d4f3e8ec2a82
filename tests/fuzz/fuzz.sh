#!/bin/sh
# Fuzzes a reader with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer: tests/fuzz/fuzz.sh read_mci [SECONDS]
# Needs clang++-15, which hipcc brings, and a configured build/release. New files that reach new code land in build/fuzz; the smallest set that
# reaches as much is merged into tests/fuzz/corpus when the time is over. With 0 SECONDS the program is built and not run: build/fuzz/TARGET/fuzz.
set -eu
root=$(cd -- "$(dirname -- "$0")/../.." && pwd)
target=$1 seconds=${2:-600}
corpus=$root/tests/fuzz/corpus/${target#read_}
work=$root/build/fuzz/$target
[ -d "$corpus" ] || { echo "fuzz.sh: no target $target: there are $(ls "$root/tests/fuzz/corpus" | sed 's/^/read_/' | tr '\n' ' ')" >&2; exit 2; }
mkdir -p "$work/found" "$work/objects"

apps=$root/apps
# What all programs share, without what needs other libraries.
shared=$(for part in file_content named_file npy numbers printable used_files; do echo "$apps/program/$part.cpp"; done)
case $target in
read_bodies_*) app=$apps/barnes_hut sources="$shared $(for part in column_names gadget_absent read_bodies remark_names; do echo "$app/$part.cpp"; done)" ;;
read_snapshot) app=$apps/barnes_hut sources="$shared $app/snapshot.cpp" ;;
read_obj | read_mtl | read_ply | read_gltf)
    app=$apps/path_tracer
    libraries="-lpng -ljpeg -ltbb -lOpenEXR -lIex -lImath -lstb -lmeshoptimizer -ldraco"
    sources="$shared $(echo "$app"/read_*.cpp) $(echo "$app"/gltf_*.cpp) $app/polygon.cpp $app/scene.cpp $app/scene_files.cpp $app/texture_image.cpp
             $apps/video/jpeg_picture.cpp $apps/video/png_picture.cpp" ;;
read_film | read_picture | read_frame_names)
    app=$apps/video libraries="-lpng -ljpeg"
    sources="$shared $(echo "$app"/*.cpp | sed "s#$app/picture_stream.cpp##")" ;;
read_chip) app=$apps/hotspot sources="$shared $app/chip.cpp" ;;
read_matrix) app=$apps/matrices sources="$shared $app/npy.cpp" ;;
read_flow) app=$apps/optical_flow sources="$shared $app/truth.cpp" libraries="-ltbb" ;;
read_devices) app=$apps sources="$root/devices/device_file.cpp" ;;
read_calibrations)
    app=$apps
    sources="$root/domains/jobs/calibrations.cpp $root/core/base/cache_folder.cpp $root/core/base/file_lock.cpp $root/core/scheduling/performance_model.cpp" ;;
*) app=$apps/fluorescence sources="$shared $(echo "$app"/problem.cpp "$app"/read_*.cpp)" ;;
esac

# Beside each other: some of them take a minute.
printf '%s\n' "$root/tests/fuzz/$target.cpp" "$root/tests/fuzz/quiet.cpp" $sources "$root/core/base/error.cpp" "$root/core/base/log.cpp" |
    xargs -P "$(nproc)" -I SOURCE sh -ec 'name=$(echo "${1#"$2"/}" | tr / _); shift 2; out=$1; shift; exec "$@" -o "$out/$name.o"' \
        fuzz.sh SOURCE "$root" "$work/objects" ${CLANGXX:-clang++-15} -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined \
        -fno-sanitize-recover=all -DTOML_HEADER_ONLY=0 -DTOML_SHARED_LIB=1 -DHEADRACE_MESHOPTIMIZER -DHEADRACE_DRACO -DSPDLOG_COMPILED_LIB -DSPDLOG_FMT_EXTERNAL \
        -isystem /usr/include/OpenEXR -isystem /usr/include/Imath -I"$root/core/include" -I"$root/devices/include" -I"$root/persistent/include" -I"$root/domains/include" \
        -I"$root/core/internal" -I"$root/devices/internal" -I"$root/domains/internal" -I"$root/core" -I"$root/devices" -I"$root/domains" -I"$apps" -I"$app" -I"$root/tests" -c SOURCE
${CLANGXX:-clang++-15} -fsanitize=fuzzer,address,undefined "$work"/objects/*.o -lspdlog -lfmt -ltomlplusplus ${libraries:-} -o "$work/fuzz"
[ "$seconds" != 0 ] || exit 0

"$work/fuzz" "$work/found" "$corpus" -max_total_time="$seconds" -max_len=4096 -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix="$work/"
# Without counters a file is new if it reaches new code, not if it goes the same way more often: few remain.
"$work/fuzz" -set_cover_merge=1 -max_len=2048 -use_counters=0 "$corpus" "$work/found"
