#!/usr/bin/env bash
# Writes the manifests that people apply without Helm, out of the chart that Helm installs, into deploy/v1 or into the folder MANIFESTS.
# Arguments are for helm template, such as those with the digests of a release.
set -euo pipefail
cd "$(dirname "$0")/.."

chart=deploy/helm/paddle-volcano
echo "generate: building the helm of hack/helm (two minutes the first time)"
hack/helm.sh version --short

# The manifests name no registry: no one can register a name below .invalid (RFC 2606).
registry=${REGISTRY:-registry.invalid}
target=${MANIFESTS:-deploy/v1}
more=("$@")

# The head of a file is read from stdin; then come the templates that the arguments name, in the order of an installation.
# Helm logs each symbolic link that it follows.
manifest() {
  local file=$target/$1 text
  shift
  text=$(hack/helm.sh template paddle "$chart" --namespace paddle-system --set "image.registry=$registry" "$@" ${more[@]+"${more[@]}"} \
    2> >(grep -v 'found symbolic link in path' >&2))
  {
    cat
    # Labels that only Helm may set.
    grep -vE '^# Source: |^    (helm\.sh/chart|app\.kubernetes\.io/managed-by): ' <<<"$text" | sed '1{/^---$/d}'
  } >"$file"
}

echo "generate: operator.yaml, kubeflow-rights.yaml, scheduler.yaml and admission.yaml in $target, and trainer/runtime.yaml next to it"
manifest operator.yaml --show-only 'templates/controller/*.yaml' <<'EOF'
# paddlejob-controller runs PaddleJobs. It needs Volcano, deploy/v1/namespace.yaml, deploy/v1/crd.yaml, and its images in your
# registry. deploy/docs/how-to/install.md has all commands. The command for this file is:
#   sed 's|registry.invalid|registry.example.com/paddle|' deploy/v1/operator.yaml | kubectl apply --server-side -f -
# If the API server answers "spec.selector: ... field is immutable", then the namespace has a Deployment of this name that
# paddle-operator or an earlier version of paddle-volcano created, and that one still runs. Delete it first; jobs keep running:
#   kubectl -n paddle-system delete deployment paddle-controller-manager
# Made by hack/manifests.sh from deploy/helm; edit the chart.
EOF
manifest kubeflow-rights.yaml --show-only templates/controller/kubeflow-rights.yaml --set kubeflow.enabled=true <<'EOF'
# What paddlejob-controller may do with Kubeflow's PaddleJobs. Apply it before you add the flag --kubeflow; the controller
# needs deploy/v1/operator.yaml too.
#   kubectl apply --server-side -f deploy/v1/kubeflow-rights.yaml
# Made by hack/manifests.sh from deploy/helm; edit the chart.
EOF
manifest scheduler.yaml --show-only 'templates/scheduler/*.yaml' --set scheduler.mode=replace,scheduler.volcanosNames=true <<'EOF'
# Volcano's scheduler with the plugin `paddle`, for a cluster that already runs Volcano 1.14.
#
# Every object has the name that Volcano gave it, so that
#   sed 's|registry.invalid|registry.example.com/paddle|' deploy/v1/scheduler.yaml | kubectl apply --server-side --force-conflicts -f -
# replaces Volcano's scheduler, its configuration and its permissions. Applying Volcano's own manifest in the same way brings Volcano's
# scheduler back (deploy/docs/how-to/enable-the-plugin.md). If you have changed the configuration or the flags, or if Helm installed Volcano,
# read that page first.
# Made by hack/manifests.sh from deploy/helm; edit the chart.
EOF
manifest admission.yaml --show-only templates/admission.yaml <<'EOF'
# SPDX-License-Identifier: Apache-2.0
#
# Optional, for Kubernetes 1.30 or later: the API server refuses changes of a PaddleJob that runs and could not follow them.
# Without this, such a change is accepted, and the condition Created says SpecChangeNotApplied.
#   kubectl apply --server-side -f deploy/v1/admission.yaml
# Made by hack/manifests.sh from deploy/helm; edit the chart.
EOF
manifest ../trainer/runtime.yaml --show-only templates/trainer.yaml --set trainer.enabled=true <<'EOF'
# Kubeflow Trainer's runtime for Paddle (deploy/docs/how-to/kubeflow-trainer.md). It needs Trainer 2.3 or later, and the scheduler of this project.
#   kubectl apply --server-side -f deploy/trainer/runtime.yaml
# Made by hack/manifests.sh from deploy/helm; edit the chart.
EOF

[ "$target" = deploy/v1 ] || exit 0
echo "generate: $chart/README.md"
bin=$PWD/_output/bin
(cd hack/helmdocs && CGO_ENABLED=0 GOBIN=$bin go install tool)
"$bin/helm-docs" --chart-search-root "$chart" --sort-values-order file --log-level warning
# A value without a comment has an empty last column.
if grep '|  |$' "$chart/README.md"; then
  echo "generate: the values above have no description in $chart/values.yaml: write '# -- ...' above each" >&2
  exit 1
fi
