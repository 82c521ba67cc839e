#!/usr/bin/env bash
# Removes the cluster of make kind-up and what was written for it. Images stay in Docker, and results in _output/bench.
set -euo pipefail
cd "$(dirname "$0")/../.."
source hack/kind/cluster.sh

need_docker
build_kind
"$bin/kind" delete cluster --name="$cluster" --kubeconfig="$kubeconfig"
rm -rf "$out"
[ -n "$(docker ps --quiet)" ] || stop_box
