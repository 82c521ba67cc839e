#!/usr/bin/env bash
# Writes the manifests that people apply without Helm, out of the chart that Helm installs.
set -euo pipefail
cd "$(dirname "$0")/.."

chart=deploy/helm/paddle-volcano
echo "generate: building the helm of hack/helm (two minutes the first time)"
hack/helm.sh version --short

# The head of a file is read from stdin; then come the templates that the arguments name, in the order of an installation.
# Helm tells of each linked file that it follows.
manifest() {
  local file=deploy/v1/$1 text
  shift
  text=$(hack/helm.sh template paddle "$chart" --namespace paddle-system "$@" \
    2> >(grep -v 'found symbolic link in path' >&2))
  {
    cat
    grep -v '^# Source: ' <<<"$text" | sed '1{/^---$/d}'
  } >"$file"
}

echo "generate: deploy/v1/operator.yaml, kubeflow-rights.yaml, scheduler.yaml and admission.yaml"
manifest operator.yaml --show-only 'templates/controller/*.yaml' --set namespace.create=true <<'EOF'
# paddlejob-controller: what runs PaddleJobs. Needs deploy/v1/crd.yaml and Volcano in the cluster.
#   kubectl create -f deploy/v1/crd.yaml
#   kubectl create -f deploy/v1/operator.yaml
# Made by hack/manifests.sh from deploy/helm; edit the chart.
EOF
manifest kubeflow-rights.yaml --show-only templates/controller/kubeflow-rights.yaml --set kubeflow.enabled=true <<'EOF'
# What paddlejob-controller may do with Kubeflow's PaddleJobs. Apply it before you add the flag --kubeflow; the controller
# needs deploy/v1/operator.yaml too.
# Made by hack/manifests.sh from deploy/helm; edit the chart.
EOF
manifest scheduler.yaml --show-only 'templates/scheduler/*.yaml' --set scheduler.mode=replace,scheduler.volcanosNames=true <<'EOF'
# Volcano's scheduler with the plugin `paddle`, for a cluster that already runs Volcano 1.14.
#
# Everything bears the name that Volcano gave it, so that
#     kubectl apply -f deploy/v1/scheduler.yaml
# replaces Volcano's scheduler, its configuration and its rights; deleting this and installing Volcano again brings its own
# back. Where you have changed the configuration or the flags, or where Helm installed Volcano, do as deploy/README.md tells.
# Made by hack/manifests.sh from deploy/helm; edit the chart.
EOF
manifest admission.yaml --show-only templates/admission.yaml <<'EOF'
# SPDX-License-Identifier: Apache-2.0
#
# Optional, for Kubernetes 1.30 or later: the API server refuses changes of a PaddleJob that runs and could not follow them.
# Without this, such a change is accepted, and the condition Created says SpecChangeNotApplied.
# Made by hack/manifests.sh from deploy/helm; edit the chart.
EOF
