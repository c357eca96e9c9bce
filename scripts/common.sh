# Functions that the scripts beside this file share. They source it; it sets the working directory to the top of the
# checkout.
# shellcheck shell=bash

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# With ccache, all checkouts share what one has compiled: paths below them count as equal. Its files are in the user's
# cache, and in no folder of ours.
export CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-${HOME:-$PWD/build}/.cache}/ccache}
use_compile_cache() {
    command -v ccache >/dev/null || return 0
    export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
    export CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
}
use_compile_cache

# Other caches are inside the checkout.
export PIP_CACHE_DIR=${PIP_CACHE_DIR:-$PWD/build/cache/pip}
export PIP_DISABLE_PIP_VERSION_CHECK=1
export XDG_CACHE_HOME=$PWD/build/cache
export MPLCONFIGDIR=$PWD/build/cache/matplotlib
export IDLEWAVE_CACHE=${IDLEWAVE_CACHE:-$PWD/build/cache/idlewave}
export PYTHONDONTWRITEBYTECODE=1

logs=$PWD/build/logs
mkdir -p "$logs" "$XDG_CACHE_HOME"

fail() {
    printf '\n%s\n' "$*" >&2
    exit 1
}

# logged NAME COMMAND...: run COMMAND with its output in build/logs/NAME.log; if it fails, show the log's end.
logged() {
    local log=$logs/$1.log status=0
    shift
    "$@" >"$log" 2>&1 </dev/null || status=$?
    ((status != 0)) || return 0
    tail -n 40 "$log" >&2
    printf '\nfailed: %s\nThe whole log is %s\n' "$*" "$log" >&2
    return "$status"
}

jobs() {
    nproc 2>/dev/null || echo 2
}

# compile_bench "NAME..." SOURCE...: compile bench/NAME.cpp for each of the names, with these sources of the core, to
# build/NAME.
compile_bench() {
    local names name one compiling=() status=0
    read -ra names <<<"$1"
    mkdir -p build
    for name in "${names[@]}"; do
        "${CXX:-c++}" -O3 -DNDEBUG -std=c++20 -I core "bench/$name.cpp" "${@:2}" -o "build/$name" &
        compiling+=($!)
    done
    for one in "${compiling[@]}"; do
        wait "$one" || status=1
    done
    return "$status"
}

# compile_floors NAME...: the floors of one pattern each.
compile_floors() {
    compile_bench "$*" core/base/{huge_memory,quote}.cpp core/machine/noise_trace.cpp
}

# compile_schedules: what writes the schedules of a benchmark, and the loop that executes them.
compile_schedules() {
    compile_bench "schedules schedule_loop" core/base/*.cpp core/goal/*.cpp core/machine/noise_trace.cpp
}

# The first clang that has libFuzzer; nothing if there is none.
fuzzing_compiler() {
    local candidate
    for candidate in ${CXX:+"$CXX"} clang++ clang++-{13..30}; do
        if printf 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n' |
            "$candidate" -fsanitize=fuzzer,address -x c++ -o /dev/null - 2>/dev/null; then
            command -v "$candidate"
            return 0
        fi
    done
}
