# The required packages of the system, and their installation where that is possible (Debian and its derivatives).
# Sourced by setup.
# shellcheck shell=bash

has_compiler() {
    printf '#include <concepts>\nstatic_assert(std::integral<int>);\nint main() {}\n' |
        "${CXX:-c++}" -std=c++20 -fsyntax-only -x c++ - >/dev/null 2>&1
}

# The first Python of at least version 3.11; with the argument `complete`, one that can make environments and compile
# modules.
find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3 /usr/bin/python3 python3.{11,12,13,14}; do
        if command -v "$candidate" >/dev/null && is_python "$candidate" "${1:-}"; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

is_python() {
    "$1" - "${2:-}" <<'END' >/dev/null 2>&1
import os, sys, sysconfig
if sys.version_info < (3, 11):
    sys.exit(1)
if sys.argv[1] == "complete":
    import ensurepip, venv
    sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))
END
}

# Debian's names of the missing packages that are needed; nothing if all are there.
required_packages() {
    local missing=()
    has_compiler && command -v cc >/dev/null || missing+=(g++)
    command -v make >/dev/null || missing+=(make)
    find_python complete >/dev/null || missing+=(python3 python3-venv python3-dev)
    echo "${missing[*]}"
}

# The same for packages that only some tests need.
optional_packages() {
    local missing=()
    [[ -e /usr/include/gtest/gtest.h || -e /usr/local/include/gtest/gtest.h ]] || missing+=(libgtest-dev)
    command -v chromium || command -v chromium-browser || command -v google-chrome || missing+=(chromium)
    command -v mpif90.openmpi && command -v mpiexec.openmpi || missing+=(gfortran libopenmpi-dev openmpi-bin)
    [[ -e /usr/include/rdma/fabric.h ]] || missing+=(libfabric-dev)
    command -v pkg-config || missing+=(pkg-config)
    [[ -e /usr/include/ucp/api/ucp.h ]] || missing+=(libucx-dev)
    [[ -e /usr/include/fftw3.h ]] || missing+=(libfftw3-dev)
    PATH=$PATH:/usr/sbin:/sbin command -v tc || missing+=(iproute2)
    [[ ${level:-} != long ]] || PATH=$PATH:/usr/sbin command -v slurmctld || missing+=(slurm-wlm)
    [[ ${level:-} != long ]] || PATH=$PATH:/usr/sbin command -v munged || missing+=(munge)
    [[ ${level:-} != long ]] || command -v flang-new-16 || missing+=(flang-16)
    packages=${missing[*]}
}

# The command before apt-get: nothing for root, else sudo if it asks for no password; fails if neither is possible.
as_root() {
    command -v apt-get >/dev/null || return 1
    [[ $(id -u) == 0 ]] && return 0
    sudo -n true 2>/dev/null && echo "sudo -n"
}

apt_install() {
    local prefix
    prefix=$(as_root) || return 1
    # shellcheck disable=SC2086  # a list of words each
    $prefix apt-get update || true
    # shellcheck disable=SC2086
    $prefix env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $1
}

install_required() {
    if as_root >/dev/null; then
        printf 'set-up: system packages: %s …\n' "$1"
        logged system-packages apt_install "$1" || fail "These packages are needed and could not be installed: $1"
    fi
    local left
    left=$(required_packages)
    [[ -z $left ]] || fail "Idlewave needs a C++20 compiler, make, and Python 3.11 or later with venv and its headers.
Missing here (Debian's names): $left
Install them, for instance with

    sudo apt-get install $left

and run the same command again. Another compiler or Python can be named: make CXX=… PYTHON=…"
}

# Without these some tests are skipped, each with its reason; CI must not skip them. No test needs ccache; it shortens
# the compilation of the next checkout.
install_optional() {
    local packages
    command -v ccache >/dev/null || ! as_root >/dev/null || logged ccache apt_install ccache || true
    optional_packages >/dev/null
    [[ -n $packages ]] || return 0
    if as_root >/dev/null; then
        printf 'set-up: system packages for tests: %s …\n' "$packages"
        logged test-packages apt_install "$packages" || true
    fi
    optional_packages >/dev/null
    [[ -n $packages ]] || return 0
    [[ ${CI:-} != true ]] || fail "CI must run every test, but these packages are missing: $packages"
    printf 'set-up: not installed, so tests that need them are skipped: %s\n' "$packages"
}
