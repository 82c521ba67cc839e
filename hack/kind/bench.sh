#!/usr/bin/env bash
# Measures both schedulers in turn on the cluster of make kind-up.
set -euo pipefail
cd "$(dirname "$0")/../.."
source hack/kind/cluster.sh

need_docker
have_cluster || fail 1 "there is no cluster: make it with make kind-up"
