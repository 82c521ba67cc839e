#!/usr/bin/env bash
# Measures both schedulers in turn on the cluster of make kind-up.
set -euo pipefail
cd "$(dirname "$0")/../.."
source hack/kind/cluster.sh

need_docker
have_cluster || fail 1 "there is no cluster: make it with make kind-up"
[ -e "$kubeconfig" ] || fail 1 "cluster $cluster is there, but $kubeconfig is not: make kind-down and make kind-up"

say "measuring; the load, the times and the report are those of make bench-live"
go build -o "$bin/kind-bench" ./test/kind/bench
in_box "$bin/kind-bench" --kubeconfig="$kubeconfig" --audit-log="$out/audit/audit.log" --manifests="$manifests" "$@"
