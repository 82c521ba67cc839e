#!/usr/bin/env bash
# Regenerates deep copies, typed clients, the CRD and the API reference from controller/api. Output is the same bytes for the same input.
set -euo pipefail
cd "$(dirname "$0")/.."

module=github.com/paddle-volcano/paddle-volcano
apis=("$module/controller/api/batch/v1" "$module/controller/api/kubeflow/v1")
client=controller/client
bin=$PWD/_output/bin/codegen
header=hack/boilerplate.go.txt

echo "generate: building the generators of hack/codegen (a minute the first time)"
mkdir -p "$bin"
(cd hack/codegen && CGO_ENABLED=0 GOBIN=$bin go install tool)

echo "generate: deep copies"
"$bin/controller-gen" object:headerFile=$header paths=./controller/api/...

echo "generate: typed clients in $client"
rm -rf $client/clientset $client/listers $client/informers
"$bin/client-gen" --go-header-file $header \
  --output-dir $client/clientset --output-pkg $module/$client/clientset --clientset-name versioned \
  --input-base $module/controller/api --input batch/v1,kubeflow/v1
"$bin/lister-gen" --go-header-file $header \
  --output-dir $client/listers --output-pkg $module/$client/listers "${apis[@]}"
"$bin/informer-gen" --go-header-file $header \
  --output-dir $client/informers --output-pkg $module/$client/informers \
  --versioned-clientset-package $module/$client/clientset/versioned \
  --listers-package $module/$client/listers "${apis[@]}"

echo "generate: deploy/v1/crd.yaml and deploy/v1/kubeflow-crd.yaml"
crds=$(mktemp -d)
trap 'rm -rf "$crds"' EXIT
# Without the embedded metadata the API server would prune the labels and annotations of pod templates.
"$bin/controller-gen" crd:generateEmbeddedObjectMeta=true paths=./controller/api/... output:crd:dir="$crds"
mkdir -p deploy/v1
{
  echo "# Made by hack/generate.sh from controller/api; edit the types there."
  CGO_ENABLED=0 go run ./hack/crdtrim <"$crds/batch.paddlepaddle.org_paddlejobs.yaml"
} >deploy/v1/crd.yaml
{
  echo "# Made by hack/generate.sh from controller/api; edit the types there. Where Kubeflow's own CRD is, it is not needed."
  CGO_ENABLED=0 go run ./hack/crdtrim <"$crds/kubeflow.org_paddlejobs.yaml"
} >deploy/v1/kubeflow-crd.yaml

echo "generate: deploy/docs/reference/api.md"
"$bin/crd-ref-docs" --source-path=controller/api/batch --config=hack/codegen/crd-ref-docs.yaml --renderer=markdown \
  --output-path=deploy/docs/reference/api.md --log-level=ERROR

hack/manifests.sh
