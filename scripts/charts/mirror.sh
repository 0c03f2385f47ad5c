#!/bin/sh
# Copies every image that images.txt names into a registry: ./mirror.sh TARGET [SOURCE]
# SOURCE is the registry into which the images of Drape were pushed: their names say none. It takes crane, with credentials for
# the registries as `crane auth login` leaves them. What came is in images.lock, by its digests.
set -eu
target=${1:?usage: mirror.sh TARGET [SOURCE]}
source=${2:-}
folder=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
command -v crane >/dev/null || { echo 'crane is missing: install it first.' >&2; exit 1; }

while read -r image; do
  # The registry goes and the rest of the name stays, as global.imageRegistry wants it.
  case ${image%%/*} in
    *.* | *:* | localhost) from=$image name=${image#*/} ;;
    *) from=${source:?"$image says no registry: give the one it is in as SOURCE"}/$image name=$image ;;
  esac
  crane copy "$from" "$target/$name"
  echo "$target/$name@$(crane digest "$target/$name")"
done <"$folder/images.txt" >"$folder/images.lock.new"
mv "$folder/images.lock.new" "$folder/images.lock"
cat "$folder/images.lock"
