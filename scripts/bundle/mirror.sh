#!/bin/sh
# Copies the images and weights of this bundle to a registry, under their names without the original registry:
#   ./mirror registry.internal.example        docker.io/library/postgres:18 becomes registry.internal.example/library/postgres:18
# Log in first: skopeo login registry.internal.example. Options after the registry are passed to skopeo copy, for example --dest-tls-verify=false.
set -eu
cd -- "$(dirname -- "$0")"
if [ $# -eq 0 ]; then
  echo 'usage: ./mirror REGISTRY [OPTION]...' >&2
  exit 2
fi
registry=$1
shift
command -v skopeo >/dev/null || {
  echo 'skopeo is missing: install it first' >&2
  exit 1
}
sha256sum --check --quiet SHA256SUMS

# docker.io/library/postgres:18 → library/postgres:18; a first part without a dot or a port is not a registry.
without_registry() {
  case ${1%%/*} in
    *.* | *:* | localhost) echo "${1#*/}" ;;
    *) echo "$1" ;;
  esac
}

while read -r name digest; do
  layout=images
  grep -q "\"$name\"" weights/index.json && layout=weights
  target=$registry/$(without_registry "$name")
  echo "$target@$digest"
  skopeo copy --quiet --preserve-digests "$@" "oci:$layout:$name" "docker://$target"
done <images.txt
