#!/usr/bin/env bash
# Makes the container image of `jobflow controller` from the program and this machine's libraries. Root is not needed, and
# nothing is fetched.
#
#   scripts/image.sh [--program FILE] DIR
#
#   DIR/rootfs         the file system: the program, what it loads, certificates of authorities, names of users
#   DIR/oci            the image in the OCI layout, with that file system as its one layer
#   DIR/jobflow.tar    the same in one file, for `docker load`, `podman load` and `ctr image import`
#
# FILE is build/release/jobflow unless given. Equal files make an equal image: times are those of the newest commit, or
# $SOURCE_DATE_EPOCH. The image is for the architecture of this machine.
set -euo pipefail
export LC_ALL=C
sources=$(cd "$(dirname "$0")/.." && pwd)

program=$sources/build/release/jobflow
if [ "${1:-}" = --program ]; then
    program=${2:?--program needs a file}
    shift 2
fi
[ $# = 1 ] || { echo "usage: scripts/image.sh [--program FILE] DIR" >&2; exit 2; }
[ -x "$program" ] || { echo "$program is missing: cmake --preset release && cmake --build --preset release" >&2; exit 1; }
directory=$1
epoch=${SOURCE_DATE_EPOCH:-$(git -C "$sources" log -1 --format=%ct 2>/dev/null || echo 0)}
version=$("$program" version | sed -n '1s/^[^0-9]*\([0-9][0-9.]*\).*/\1/p')
user=65532
rm -rf "$directory/rootfs" "$directory/oci" "$directory/jobflow.tar"
mkdir -p "$directory/rootfs" "$directory/oci/blobs/sha256"
directory=$(cd "$directory" && pwd)
root=$directory/rootfs

# The libraries of a program or library, with the dynamic loader, as paths.
libraries_of() {
    ldd "$1" | sed -n -E 's/^[^=]*=> (\/[^ ]+) .*/\1/p; s/^[[:space:]]*(\/[^ ]+) .*/\1/p'
}

# The path of a library that the program loads while it runs.
library_named() {
    local found
    found=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | sed -n "s/^[[:space:]]*$1 .* => //p" | head -1)
    [ -n "$found" ] || { echo "$1 is not installed" >&2; exit 1; }
    echo "$found"
}

# Copies a file to its own path in the image, without its symbolic links.
copy() {
    install -D -m "$1" "$(readlink -f "$2")" "$root$2"
}

install -D -m 755 "$program" "$root/usr/bin/jobflow"
if command -v strip >/dev/null; then strip "$root/usr/bin/jobflow"; fi
curl=$(library_named libcurl.so.4)
{ libraries_of "$program"; libraries_of "$curl"; echo "$curl"; } | sort -u | while read -r library; do
    copy 755 "$library"
done
copy 644 /etc/ssl/certs/ca-certificates.crt
mkdir -p "$root/tmp"
echo "jobflow:x:$user:$user::/tmp:/bin/false" >"$root/etc/passwd"
echo "jobflow:x:$user:" >"$root/etc/group"
echo "hosts: files dns" >"$root/etc/nsswitch.conf"
chmod 644 "$root"/etc/passwd "$root"/etc/group "$root"/etc/nsswitch.conf
find "$root" -type d -exec chmod 755 {} +

# Puts the members of a folder into a tar that depends on their contents alone.
pack() {
    tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$epoch" -C "$1" -c "${@:2}"
}

digest() { sha256sum "$1" | cut -d' ' -f1; }

# Moves a file to its place among the blobs and prints its digest.
blob() {
    local name
    name=$(digest "$1")
    mv "$1" "$directory/oci/blobs/sha256/$name"
    echo "$name"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
case $(uname -m) in
    x86_64) architecture=amd64 ;;
    aarch64) architecture=arm64 ;;
    *) architecture=$(uname -m) ;;
esac
created=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
pack "$root" . >"$scratch/layer.tar"
content=$(digest "$scratch/layer.tar")
gzip -n "$scratch/layer.tar"
layer_size=$(stat -c %s "$scratch/layer.tar.gz")
layer=$(blob "$scratch/layer.tar.gz")

cat >"$scratch/config" <<END
{"created":"$created","architecture":"$architecture","os":"linux","config":{"User":"$user:$user","Entrypoint":["/usr/bin/jobflow"],"WorkingDir":"/tmp","Labels":{"org.opencontainers.image.title":"jobflow","org.opencontainers.image.version":"$version"}},"rootfs":{"type":"layers","diff_ids":["sha256:$content"]},"history":[{"created":"$created"}]}
END
config_size=$(stat -c %s "$scratch/config")
config=$(blob "$scratch/config")
cat >"$scratch/manifest" <<END
{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:$config","size":$config_size},"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":"sha256:$layer","size":$layer_size}]}
END
manifest_size=$(stat -c %s "$scratch/manifest")
manifest=$(blob "$scratch/manifest")
echo '{"imageLayoutVersion":"1.0.0"}' >"$directory/oci/oci-layout"
cat >"$directory/oci/index.json" <<END
{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:$manifest","size":$manifest_size,"platform":{"architecture":"$architecture","os":"linux"},"annotations":{"org.opencontainers.image.ref.name":"$version"}}]}
END
# Older programs read this list instead of the index.
cat >"$directory/oci/manifest.json" <<END
[{"Config":"blobs/sha256/$config","RepoTags":["jobflow:$version"],"Layers":["blobs/sha256/$layer"]}]
END
pack "$directory/oci" . >"$directory/jobflow.tar"
echo "sha256:$manifest jobflow:$version $architecture, $(du -sm "$root" | cut -f1) MiB unpacked"
