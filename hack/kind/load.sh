#!/usr/bin/env bash
# Loads the images of a release, which make release has written into a folder, into the cluster of make kind-up: by their tags and by their
# digests, so that the chart can be installed with values-digests.yaml.
set -euo pipefail
cd "$(dirname "$0")/../.."
source hack/kind/cluster.sh

release=${1:-}
[ -e "$release/images.txt" ] ||
  fail 2 "usage: hack/kind/load.sh FOLDER, where make release has written images.txt, such as _output/release/v0.1.0"
need_docker
have_cluster || fail 3 "there is no cluster $cluster: make one with make kind-up. Nothing was changed"
build_kind
while read -r image; do # REGISTRY/PROGRAM:VERSION@DIGEST
  name=${image%@*}
  program=${name##*/}
  say "loading $image"
  "$bin/kind" load image-archive --name="$cluster" "$release/${program/:/-}.oci.tar"
  docker exec "$node" ctr --namespace=k8s.io images tag --force "$name" "${name%:*}@${image#*@}" >/dev/null
done <"$release/images.txt"
