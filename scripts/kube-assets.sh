#!/usr/bin/env bash
# Builds a real kube-apiserver from Debian's source package `kubernetes`, for the tests that compare jobflow with one.
#
#   scripts/kube-assets.sh [DIR]    makes DIR (default build/kube) with kube-apiserver, kube-controller-manager and etcd
#   KUBEBUILDER_ASSETS=DIR ctest --preset dev -R differential
#
# Any other directory in the layout of envtest works as well. The build takes about twenty minutes and 6 GB. It needs
# root, or the packages named below.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$(mkdir -p "${1:-build/kube}" && cd "${1:-build/kube}" && pwd)
programs=(kube-apiserver kube-controller-manager)
packages=(etcd-server golang-1.19-go golang-github-modern-go-reflect2-dev dpkg-dev rsync)

missing=()
for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
    echo "kube-assets: installing ${missing[*]}"
    DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}"
fi

# The machine's package sources with deb-src instead of deb, used by these apt calls only.
work=$dir/source
mkdir -p "$work/lists/partial"
sources=$work/sources.list
printf 'deb-src http://deb.debian.org/debian bookworm main\n' >"$sources"
options=(-o Dir::Etc::sourcelist="$sources" -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$work/lists")

tree=$work/kubernetes
if [ ! -d "$tree" ]; then
    echo "kube-assets: fetching the source package"
    apt-get -qq "${options[@]}" update
    (cd "$work" && apt-get -qq "${options[@]}" source --download-only kubernetes && dpkg-source -x kubernetes_*.dsc kubernetes)
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
ln -sf "$(command -v etcd)" "$dir/etcd"
echo "kube-assets: KUBEBUILDER_ASSETS=$dir"
