#!/usr/bin/env bash
# The list of Debian packages that jobflow needs. Installs the missing ones.
#
#   scripts/deps.sh              packages for building and running
#   scripts/deps.sh --check      also those for scripts/check.sh: tests, sanitizers, linters, Open MPI; with CHECK_LONG=1
#                                also PyTorch, which takes 2 GB; with CHECK_WEB=0 not the browser for the tests of the page
#   scripts/deps.sh --extras     also the frameworks of examples/: Open MPI and PyTorch
#   scripts/deps.sh --list       prints the list (with those of --check and --extras if given) and installs nothing
#   scripts/deps.sh --dry-run    prints the packages to install and installs nothing
#
# For Debian 12. Needs only bash, dpkg and apt, and root or sudo.
set -euo pipefail

build=(
    gcc libc6-dev make cmake ninja-build pkg-config ccache
    libuv1-dev               # event loop, processes
    libcurl4-openssl-dev     # HTTP client
    libssl-dev               # TLS, keys
    libjansson-dev           # JSON
    libyaml-dev              # YAML
    libsqlite3-dev           # the store
    libigraph-dev            # graph algorithms, layout
    node-llhttp              # HTTP/1.1 parser, as C sources
    uthash-dev libxxhash-dev # hash tables
    libseccomp-dev           # system call filter of pods
    libcap-dev               # capabilities of pods
    zlib1g-dev               # gzip encoding of long answers
    libzstd-dev              # deltas of long statuses
    libcmocka-dev            # unit tests; small enough to install for every build
    esbuild                  # bundles the page of `jobflow ui`; -DJOBFLOW_WEB=OFF builds without it
    python3 python3-numpy    # examples, system tests
)
check=(
    git binutils file procps e2fsprogs mount
    clang libclang-rt-14-dev clang-format clang-tidy cppcheck
    openssl curl             # clients in system tests
    openssh-client openssh-server # sshd of pods; its service is never started (see policy-rc.d below)
    openmpi-bin libopenmpi-dev    # examples/mpi.yaml; the programs without the headers compile nothing
    iproute2                      # networks in tests
    python3-jsonschema python3-yaml # the schema for editors
    zsh fish man-db groff-base    # completions and manual pages
    debootstrap                   # a bare Debian for the test of the package
    node-typescript               # checks the types of the page
)

# A browser for the tests of the page. Its 80 MB can be left out: the tests then print that they are skipped.
[ "${CHECK_WEB:-1}" = 0 ] || check+=(chromium chromium-driver python3-selenium)

# kubectl, unless one is installed: tests/system/kubectl*.py use every version they find
command -v kubectl >/dev/null || check+=(kubernetes-client)

torch=(python3-torch) # examples/pytorch.yaml
[ "${CHECK_LONG:-0}" = 0 ] || check+=("${torch[@]}")

extras=(
    openmpi-bin libopenmpi-dev openssh-client openssh-server # examples/mpi.yaml
    "${torch[@]}"
)

list=0 dry=0 with_check=0 with_extras=0
for arg in "$@"; do
    case $arg in
        --check) with_check=1 ;;
        --extras) with_extras=1 ;;
        --list) list=1 ;;
        --dry-run) dry=1 ;;
        -h | --help) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
        *) echo "deps: unknown argument $arg" >&2; exit 2 ;;
    esac
done

wanted=("${build[@]}")
[ $with_check = 0 ] || wanted+=("${check[@]}")
[ $with_extras = 0 ] || wanted+=("${extras[@]}")

if [ $list = 1 ]; then
    printf '%s\n' "${wanted[@]}"
    exit 0
fi
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "deps: this is no Debian system; install the equivalents of:" >&2
    printf '  %s\n' "${wanted[@]}" >&2
    exit 1
fi

missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} = 0 ]; then
    echo "deps: all ${#wanted[@]} packages are installed"
    exit 0
fi
echo "deps: to install: ${missing[*]}"
[ $dry = 0 ] || exit 0

# Prints the command that an administrator must run, and exits.
ask_administrator() {
    echo "deps: $1; ask an administrator to run, or run as root:" >&2
    echo "  apt-get update && apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
}

as_root=()
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || ask_administrator "installing packages needs root, and there is no sudo"
    as_root=(sudo)
fi
# No installed package may start a service on this machine: a policy-rc.d prevents it during the installation, in place of
# one that may be there and allow services, and masked units of openssh-server prevent it at the next boot. An sshd that was
# installed before keeps its units.
policy=/usr/sbin/policy-rc.d
mark="made by jobflow's scripts/deps.sh"
# A policy of an installation that was killed is ours; the machine's own lies beside it, if there was one.
forbid_services() {
    [ ! -e $policy ] || grep -q "$mark" $policy || "${as_root[@]}" mv $policy $policy.deps
    printf '#!/bin/sh\n# %s\nexit 101\n' "$mark" | "${as_root[@]}" tee $policy >/dev/null
    "${as_root[@]}" chmod 755 $policy
}
restore_policy() {
    if [ -e $policy.deps ]; then
        "${as_root[@]}" mv $policy.deps $policy
    else
        "${as_root[@]}" rm -f $policy
    fi
}
without_services() {
    local failed=0 unit
    case " ${missing[*]} " in
        *" openssh-server "*) ;;
        *) "$@"; return ;;
    esac
    trap restore_policy EXIT
    forbid_services
    "${as_root[@]}" mkdir -p /etc/systemd/system
    for unit in ssh.service ssh.socket; do
        [ -e /etc/systemd/system/$unit ] || [ -L /etc/systemd/system/$unit ] ||
            "${as_root[@]}" ln -s /dev/null /etc/systemd/system/$unit
    done
    "$@" || failed=1
    restore_policy
    trap - EXIT
    [ $failed = 1 ] || echo "deps: openssh-server is installed without its service (systemctl unmask ssh.service allows it again)"
    return $failed
}
apt_get() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -qq "$@"
}
install() {
    apt_get install -y --no-install-recommends "${missing[@]}"
}

# The package lists may be outdated: if the installation fails, update them and try once more.
lists=$(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' 2>/dev/null | head -n 1)
if [ -z "$lists" ] || ! without_services install; then
    [ -z "$lists" ] || echo "deps: trying again with fresh package lists" >&2
    apt_get update && without_services install || ask_administrator "the packages could not be installed"
fi
echo "deps: installed ${#missing[@]} packages"
