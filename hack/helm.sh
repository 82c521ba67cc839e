#!/usr/bin/env bash
# Runs the helm that hack/helm pins, in this folder, with the arguments given.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

bin=$root/_output/bin
# The linker sets the default version of Kubernetes, as in Helm's own build.
kubernetes=helm.sh/helm/v3/pkg/chartutil.k8sVersion
(cd "$root/hack/helm" && CGO_ENABLED=0 go build -o "$bin/helm" \
  -ldflags "-s -w -X ${kubernetes}Major=1 -X ${kubernetes}Minor=34" helm.sh/helm/v3/cmd/helm)
exec "$bin/helm" "$@"
