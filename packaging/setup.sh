# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Installs what is missing on Debian 12 and builds the release preset; sourced by ./run and ./test.
# Says what it does on stderr, nothing when there is nothing to do.

weir_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# What building needs, and with it everything the program needs to run. docs/dependencies.md says why.
weir_packages=(
    g++ cmake ninja-build
    qt6-base-dev qt6-svg-dev libqcustomplot-dev
    nlohmann-json3-dev libfmt-dev libsimdjson-dev libcli11-dev libcurl4-openssl-dev libssl-dev
    pkg-config libsecret-1-dev
    fonts-inter fonts-dejavu-core
)
# What the tests need beyond that: displays and a message bus of their own.
# shellcheck disable=SC2034
weir_test_packages=(xvfb xauth dbus-daemon)
# A Wayland session without X needs Qt's plugin for it.
if [[ -n ${WAYLAND_DISPLAY:-} && -z ${DISPLAY:-} ]]; then
    weir_packages+=(qt6-wayland)
fi

say() { printf 'weir: %s\n' "$*" >&2; }
die() {
    say "$@"
    exit 1
}

# Prints those of the given packages that are not installed.
weir_missing() {
    local installed
    installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p' || true)
    local package
    for package in "$@"; do
        grep -qxF -- "$package" <<<"$installed" || printf '%s\n' "$package"
    done
}

# Debian 12 or later, or a distribution that is built on it.
weir_is_debian() {
    command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || return 1
    [[ -r /etc/os-release ]] || return 1
    local id like version
    # shellcheck source=/dev/null
    id=$(. /etc/os-release && printf '%s' "${ID:-}")
    # shellcheck source=/dev/null
    like=$(. /etc/os-release && printf '%s' "${ID_LIKE:-}")
    # shellcheck source=/dev/null
    version=$(. /etc/os-release && printf '%s' "${VERSION_ID:-99}")
    if [[ $id == debian ]]; then
        ((${version%%.*} >= 12)) || die "this is Debian $version; Weir needs Debian 12 or later."
        return 0
    fi
    [[ " $like " == *" debian "* ]]
}

# weir_install PACKAGE...: installs those that are missing.
weir_install() {
    if ! weir_is_debian; then
        local tool
        for tool in cmake ninja c++; do
            if ! command -v "$tool" >/dev/null; then
                say "this is not Debian 12, so nothing is installed for you, and $tool is missing."
                die "install what these Debian packages hold, then run this again: $*"
            fi
        done
        say "this is not Debian 12; building with what is here (on Debian it would be: $*)."
        return
    fi

    local -a missing
    mapfile -t missing < <(weir_missing "$@")
    ((${#missing[@]})) || return 0

    local -a as_root=()
    if ((EUID != 0)); then
        local line="apt-get install --no-install-recommends ${missing[*]}" sudo_line
        sudo_line="sudo $line"
        if ! weir_known "${missing[@]}"; then
            line="apt-get update && $line"
            sudo_line="sudo apt-get update && $sudo_line"
        fi
        if ! command -v sudo >/dev/null; then
            say "some packages are missing, and installing them takes root. As root, run"
            die "    $line"
        fi
        if ! sudo -n true 2>/dev/null && ! { : >/dev/tty; } 2>/dev/null; then
            say "some packages are missing, and sudo asks for a password that cannot be typed here. Run"
            die "    $sudo_line"
        fi
        as_root=(sudo)
    fi

    say "installing ${#missing[@]} missing packages: ${missing[*]}"
    local log
    log=$(mktemp "${TMPDIR:-/tmp}/weir-install.XXXXXX")
    local -a apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300)
    local -a install=("${apt[@]}" install --no-install-recommends "${missing[@]}")
    : >"$log"
    if weir_known "${missing[@]}" && "${install[@]}" >"$log" 2>&1 </dev/null; then
        rm -f "$log"
        return
    fi
    if grep -q 'dpkg --configure -a' "$log"; then
        say "finishing an interrupted installation of packages"
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive dpkg --configure -a >"$log" 2>&1 </dev/null || true
    fi
    # A fresh system knows no packages yet, and old lists name versions that are gone.
    # apt-get calls an update in which no server answered a success: ask for the packages as well.
    say "updating the list of packages"
    if ! "${apt[@]}" update >"$log" 2>&1 </dev/null || ! weir_known "${missing[@]}"; then
        grep -E '^(E|W|Err)' "$log" | tail -n 15 >&2 || true
        die "the list of packages could not be updated (is the network up?); all of it is in $log"
    fi
    if ! "${install[@]}" >"$log" 2>&1 </dev/null; then
        tail -n 25 "$log" >&2
        die "the packages could not be installed; all of it is in $log"
    fi
    rm -f "$log"
}

# True if the lists of packages name a version of each.
weir_known() {
    local package
    for package in "$@"; do
        [[ -n $(apt-cache show "$package" 2>/dev/null | head -n 1) ]] || return 1
    done
}

# As many jobs as there are cores, but no more than memory holds: a source that includes QCustomPlot takes about 1 GB.
weir_jobs() {
    if [[ ${CMAKE_BUILD_PARALLEL_LEVEL:-} =~ ^[1-9][0-9]*$ ]]; then
        printf '%s' "$CMAKE_BUILD_PARALLEL_LEVEL"
        return
    fi
    local cores by_memory
    cores=$(nproc 2>/dev/null || printf 1)
    by_memory=$(awk '/^MemAvailable:/ { print int($2 / 1200000) }' /proc/meminfo 2>/dev/null || true)
    [[ $by_memory =~ ^[0-9]+$ ]] || by_memory=$cores
    ((by_memory >= 1)) || by_memory=1
    printf '%s' $((cores < by_memory ? cores : by_memory))
}

# Where the release build goes: in the checkout, or in the user's cache where the checkout cannot be written.
weir_build_folder() {
    if [[ -n ${WEIR_BUILD_DIR:-} ]]; then
        printf '%s' "$WEIR_BUILD_DIR"
    elif mkdir -p "$weir_root/build/release" 2>/dev/null && [[ -w $weir_root/build/release ]]; then
        printf '%s' "$weir_root/build/release"
    else
        printf '%s/weir/build-%s' "${XDG_CACHE_HOME:-$HOME/.cache}" "$(cksum <<<"$weir_root" | cut -d ' ' -f 1)"
    fi
}

# weir_configure: makes $weir_build anew, so that nothing an interrupted run or a moved checkout left is believed.
weir_configure() {
    say "configuring in $weir_build"
    local log=$weir_build/configure.log
    # Warnings are errors where changes are checked, not where a newer compiler only builds.
    local werror=OFF
    [[ ${CI:-} != true ]] || werror=ON
    if ! (cd "$weir_root" && cmake --fresh --preset release -B "$weir_build" -DWEIR_WERROR=$werror) >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        die "configuring failed; all of it is in $log"
    fi
}

# weir_make TARGET: configures if need be and builds a target of the release preset into $weir_build.
weir_make() {
    weir_build=$(weir_build_folder)
    mkdir -p "$weir_build" 2>/dev/null || die "the build folder $weir_build cannot be made."
    local cache=$weir_build/CMakeCache.txt plan
    if [[ ! -f $cache || $weir_root/CMakePresets.json -nt $cache ]] ||
        ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$weir_root" "$cache" ||
        ! plan=$(ninja -C "$weir_build" -n "$1" 2>&1); then
        weir_configure
        plan=
    fi
    # Asking ninja first keeps the second run silent.
    if [[ $plan == *'no work to do'* ]]; then
        return
    fi
    local jobs
    jobs=$(weir_jobs)
    say "building with $jobs jobs (the first time takes a few minutes)"
    (cd "$weir_build" && NINJA_STATUS='[%f/%t] ' ninja -j "$jobs" "$1" >&2) || die "the build failed; the first error is above."
}
