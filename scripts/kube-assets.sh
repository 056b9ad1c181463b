#!/usr/bin/env bash
# Builds a real kube-apiserver from Debian's source package `kubernetes`, or a newer one from its Go modules, for the tests
# that compare jobflow with one and for those of cluster mode.
#
#   scripts/kube-assets.sh [DIR]    makes DIR with kube-apiserver, kube-controller-manager and etcd
#   scripts/kube-assets.sh --version X.Y.Z [DIR]    the same of that version of Kubernetes, with the Go of this machine
#   scripts/kube-assets.sh --sources DIR    only writes the machine's package sources, with deb-src, into DIR
#
# The default DIR is jobflow/kube in the user's cache folder (~/.cache). There the tests find the programs by themselves;
# another DIR must be named: KUBEBUILDER_ASSETS=DIR ctest --preset dev -R differential. Any other directory in the layout
# of envtest works as well. The build takes about twenty minutes and 6 GB. It needs root, or the packages named below.
set -euo pipefail

packages=(golang-1.19-go golang-github-modern-go-reflect2-dev dpkg-dev rsync)
programs=(kube-apiserver kube-controller-manager)

# Writes a copy of the machine's package sources, in which each source of binary packages is one of source packages.
write_sources() {
    local from
    mkdir -p "$1"
    for from in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ ! -f "$from" ] || sed -n 's/^[[:space:]]*deb[[:space:]]/deb-src /p' "$from" >"$1/$(basename "$from" .list).list"
    done
    for from in /etc/apt/sources.list.d/*.sources; do
        [ ! -f "$from" ] || sed -E 's/^Types:.*/Types: deb-src/' "$from" >"$1/$(basename "$from")"
    done
}

if [ "${1:-}" = --sources ]; then
    write_sources "${2:?where to}"
    exit 0
fi

version=
if [ "${1:-}" = --version ]; then
    version=${2:?which version, such as 1.35.3}
    shift 2
fi

cache=${XDG_CACHE_HOME:-$HOME/.cache}/jobflow/kube
dir=$(mkdir -p "${1:-$cache}" && cd "${1:-$cache}" && pwd)
work=$dir/source
mkdir -p "$work/lists/partial"

# Builds the programs of $version. The module k8s.io/kubernetes points to its own staging folders, so a small module of ours
# replaces each by the module that was published for it.
build_from_modules() {
    local minor=${version#1.} program staging
    mkdir -p "$work/modules" && cd "$work/modules"
    export GOFLAGS=-mod=mod GOTOOLCHAIN=local CGO_ENABLED=0
    printf 'module kube-assets\ngo 1.25\nrequire k8s.io/kubernetes v%s\n' "$version" >go.mod
    staging=$(go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/.*"GoMod": "\(.*\)".*/\1/p')
    sed -nE 's#^[[:space:]]*(replace )?(k8s\.io/[a-z0-9.-]+) => \./staging.*#\2#p' "$staging" |
        while read -r module; do echo "replace $module => $module v0.$minor"; done >>go.mod
    {
        printf '//go:build tools\n\npackage tools\n\nimport (\n'
        printf '\t_ "k8s.io/kubernetes/cmd/%s"\n' "${programs[@]}"
        printf ')\n'
    } >tools.go
    go mod tidy -e
    for program in "${programs[@]}"; do
        echo "kube-assets: building $program $version"
        nice go build -p 2 -o "$dir/$program" -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=v$version \
            -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=${minor%%.*}" \
            "k8s.io/kubernetes/cmd/$program"
    done
}

missing=()
[ -z "$version" ] || packages=()
for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    echo "kube-assets: installing ${missing[*]}"
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}"
fi

# The program of the package alone: an installed etcd-server starts a service.
if [ ! -x "$dir/etcd" ]; then
    echo "kube-assets: fetching etcd"
    rm -rf "$work/etcd" && mkdir "$work/etcd"
    (cd "$work/etcd" && apt-get -qq download etcd-server && dpkg-deb -x etcd-server_*.deb .)
    install -m 0755 "$work/etcd/usr/bin/etcd" "$dir/etcd"
fi

if [ -n "$version" ]; then
    build_from_modules
    echo "kube-assets: the programs are in $dir"
    exit 0
fi

tree=$work/kubernetes
if [ ! -d "$tree" ]; then
    echo "kube-assets: fetching the source package"
    write_sources "$work/sources.d"
    options=(-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/sources.d" -o Dir::State::lists="$work/lists")
    # Sources of other projects may have no source packages, which is an error of the update, and none of ours.
    apt-get -qq "${options[@]}" update || true
    (cd "$work" && apt-get -qq "${options[@]}" source --download-only kubernetes) ||
        { echo "kube-assets: the package sources of this machine have no source package kubernetes" >&2; exit 1; }
    (cd "$work" && dpkg-source -x kubernetes_*.dsc kubernetes)
fi

echo "kube-assets: building ${programs[*]}"
# The vendored reflect2 reads maps wrongly with this version of Go, which crashes the server. Debian's newer one replaces it.
reflect2=vendor/github.com/modern-go/reflect2
rm -f "$tree/$reflect2"/*.{go,s}
cp "/usr/share/gocode/src/${reflect2#vendor/}"/*.{go,s} "$tree/$reflect2/"
mkdir -p "$tree/.go/src/k8s.io"
[ -L "$tree/.go/src/k8s.io/kubernetes" ] || ln -s ../../.. "$tree/.go/src/k8s.io/kubernetes"
(cd "$tree" && env PATH="/usr/lib/go-1.19/bin:$PATH" GOPATH="$tree/.go" GOCACHE="$work/cache" GO111MODULE=off \
    GOTOOLCHAIN=local CGO_ENABLED=0 GOFLAGS=-p=2 nice make WHAT="${programs[*]/#/cmd/}")
for program in "${programs[@]}"; do
    install -m 0755 "$tree/_output/bin/$program" "$dir/$program"
done
echo "kube-assets: the programs are in $dir"
