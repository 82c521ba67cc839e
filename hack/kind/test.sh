#!/usr/bin/env bash
# Tests what only a real cluster shows: images, charts and manifests as users install them, and pods that run. It makes a cluster of
# its own and removes it; with KEEP=1 it stays. Where there can be no Docker it says SKIP and why.
set -euo pipefail
cd "$(dirname "$0")/../.."
export KIND_CLUSTER=paddle-test KIND_OUT=${KIND_OUT:-$PWD/_output/test-kind}
source hack/kind/cluster.sh

if ! said=$(start_docker 2>&1); then
  echo "SKIP: make test-kind: ${said#error: }"
  exit
fi
need_docker
trap '[ -n "${KEEP:-}" ] || hack/kind/down.sh' EXIT

installer=$(go list -m -f '{{.Dir}}' volcano.sh/volcano)/installer
chart=deploy/helm/paddle-volcano
registry=registry.invalid
ours=$registry/paddle-scheduler:v0.1.0
scheduler=app=volcano-scheduler
begun=$SECONDS

step() { say "== $((SECONDS - begun)) s: $*"; }

helm() { in_box "$bin/helm" --kubeconfig="$kubeconfig" "$@"; }

# expect WANTED COMMAND... fails unless the command prints that.
expect() {
  local said wanted=$1
  shift
  said=$("$@")
  [ "$said" = "$wanted" ] || fail 1 "$*: got \"$said\", want \"$wanted\""
}

submit() {
  local name
  for name; do apply "deploy/examples/$name.yaml"; done
}

# completes JOB...
completes() {
  local job
  for job; do kubectl wait "paddlejob/$job" --for=jsonpath='{.status.phase}'=Completed --timeout=5m; done
}

# running_worker JOB waits until the job's first worker runs, and prints its name.
running_pod() {
  kubectl wait pod --for=condition=Ready --timeout=3m --selector="batch.paddlepaddle.org/job-name=$1,volcano.sh/task-spec=$2" >/dev/null
  kubectl get pods --selector="batch.paddlepaddle.org/job-name=$1,volcano.sh/task-spec=$2" --output='jsonpath={.items[0].metadata.name}'
}

probe() { sed "s/name: probe$/name: $1/" hack/kind/probe.yaml | docker exec --interactive "$node" kubectl --kubeconfig=/etc/kubernetes/admin.conf create --filename=- "${@:2}"; }

# schedules_with IMAGE: the only scheduler in Volcano's Deployment has this image, and it places a job.
schedules_with() {
  rolled_out volcano-system volcano-scheduler
  until_done "the old scheduler to be gone" only_scheduler "$1"
  until_done "Volcano's webhooks to answer" probe probe --dry-run=server
  seconds=$(seconds_to_bind "$(date +%s%N)")
  say "a pod is bound after $seconds s by $1"
}

only_scheduler() {
  expect "$1" kubectl --namespace=volcano-system get pods --selector=$scheduler --output='jsonpath={.items[*].spec.containers[*].image}'
}

# seconds_to_bind SINCE prints the seconds since then until a pod that is submitted now is bound.
seconds_to_bind() {
  local begin=$1
  probe "probe-$begin" >/dev/null
  until kubectl wait "pod/probe-$begin-probe-$begin-0" --for=condition=PodScheduled --timeout=20s >/dev/null 2>&1; do
    [ $(($(date +%s%N) - begin)) -lt 120000000000 ] || fail 1 "no pod was bound for 2 minutes"
  done
  printf '%d.%d' $(($(date +%s%N) - begin)) 0 | sed -E 's/^([0-9]*)([0-9])[0-9]{8}\.0$/\1.\2/; s/^\./0./'
  kubectl delete "job.batch.volcano.sh/probe-$begin" >/dev/null
}

# runs_the_plugin NAMESPACE SELECTOR: the plugin has been called by that scheduler, so that its metrics are there.
runs_the_plugin() {
  local pod
  pod=$(kubectl --namespace="$1" get pods --selector="$2" --output='jsonpath={.items[0].metadata.name}')
  until_done "the plugin to be called" metrics "$1" "$pod"
}

metrics() {
  local text
  text=$(kubectl get --raw "/api/v1/namespaces/$1/pods/$2:8080/proxy/metrics") && grep -q ^volcano_paddle_ <<<"$text"
}

volcano_by_helm() {
  helm "$1" volcano "$installer/helm/chart/volcano" --namespace=volcano-system --wait --timeout=5m --set=basic.image_pull_policy=IfNotPresent "${@:2}" >/dev/null
}

step "a cluster with the images"
hack/kind/up.sh --empty
hack/helm.sh version --short
tag=$(sed -n 's/ *image_tag_version: "\(.*\)"/\1/p' "$installer/helm/chart/volcano/values.yaml")
# Volcano's chart names all images by one registry and one tag. Its scheduler is the one that is built here.
stock=docker.io/volcanosh/vc-scheduler:$tag in_chart=$registry/paddle/paddle-scheduler:$tag
docker tag "localhost/vc-scheduler:$(go list -m -f '{{.Version}}' volcano.sh/volcano)" "$stock"
docker tag "$ours" "$in_chart"
"$bin/kind" load docker-image --name="$cluster" "$stock" "$in_chart"
go run ./test/trainer/cmd/image -o "$out/trainer.tar"
"$bin/kind" load image-archive --name="$cluster" "$out/trainer.tar"
kubectl patch node "$node" --subresource=status --type=merge --patch='{"status":{"capacity":{"nvidia.com/gpu":"8"},"allocatable":{"nvidia.com/gpu":"8"}}}'

step "Volcano by its own chart"
volcano_by_helm install --create-namespace
schedules_with "$stock"
for name in vc-controller-manager vc-webhook-manager; do
  docker exec "$node" ctr --namespace=k8s.io images tag --force "docker.io/volcanosh/$name:$tag" "$registry/volcanosh/$name:$tag" >/dev/null
done

step "our chart in a namespace of Pod Security restricted: not root, no writable file system"
kubectl create namespace paddle-system
kubectl label namespace paddle-system pod-security.kubernetes.io/enforce=restricted
helm install paddle $chart --namespace=paddle-system --set=image.registry=$registry,networkPolicy.enabled=true --wait --timeout=5m >/dev/null
expect "true 65532" kubectl --namespace=paddle-system get pods \
  --output='jsonpath={.items[0].spec.containers[0].securityContext.readOnlyRootFilesystem} {.items[0].spec.securityContext.runAsUser}'

step "enabled by the values of Volcano's chart"
{
  printf 'basic:\n  image_registry: %s\n  scheduler_image_name: paddle/paddle-scheduler\n' $registry
  printf 'custom:\n  scheduler_config_override: |\n'
  sed -n '/^  configuration: |$/,/^  # Rules/p' $chart/values.yaml | sed '1d;$d'
} >"$out/values.yaml"
volcano_by_helm upgrade --values="$out/values.yaml"
schedules_with "$in_chart"

step "examples train: PodIP, Service, collective"
submit wide_and_deep_podip wide_and_deep_service collective
completes wide-ande-deep-podip wide-ande-deep-service collective
runs_the_plugin volcano-system $scheduler
kubectl delete paddlejobs --all

step "rolled back by the old values"
volcano_by_helm upgrade --reset-values
schedules_with "$stock"
helm uninstall volcano --namespace=volcano-system --wait >/dev/null
kubectl delete validatingwebhookconfigurations,mutatingwebhookconfigurations --all
kubectl delete namespace volcano-system --ignore-not-found

step "Volcano by its manifests"
sed 's/imagePullPolicy: Always/imagePullPolicy: IfNotPresent/' "$installer/volcano-development.yaml" >"$out/volcano-development.yaml"
apply "$out/volcano-development.yaml"
kubectl --namespace=volcano-system wait job/volcano-admission-init --for=condition=Complete --timeout=5m
for name in volcano-admission volcano-controllers; do rolled_out volcano-system $name; done
schedules_with "$stock"

step "enabled by deploy/v1/scheduler.yaml"
apply deploy/v1/scheduler.yaml
schedules_with "$ours"
begin=$(date +%s%N)
kubectl --namespace=volcano-system delete pod --selector=$scheduler --wait=false
seconds=$(seconds_to_bind "$begin")
say "$seconds s from the deletion of the scheduler's pod to the next binding"
[ "${seconds%.*}" -lt 12 ] || fail 1 "the next scheduler waited until its predecessor's lease expired"
step "rolled back by Volcano's manifests"
apply "$out/volcano-development.yaml"
schedules_with "$stock"

step "enabled by an image and a line in the configuration"
kubectl --namespace=volcano-system get configmap volcano-scheduler-configmap --output='jsonpath={.data.volcano-scheduler\.conf}' >"$out/before.conf"
sed '/- name: gang/{n;s/$/\n  - name: paddle/}' "$out/before.conf" >"$out/volcano-scheduler.conf"
configure() {
  docker exec --interactive "$node" kubectl --kubeconfig=/etc/kubernetes/admin.conf --namespace=volcano-system \
    patch configmap volcano-scheduler-configmap --type=merge --patch-file=/dev/stdin \
    <<<"$(jq --null-input --rawfile conf "$1" '{data: {"volcano-scheduler.conf": $conf}}')"
}
configure "$out/volcano-scheduler.conf"
kubectl --namespace=volcano-system set image deployment/volcano-scheduler "*=$ours"
schedules_with "$ours"
runs_the_plugin volcano-system $scheduler
step "rolled back by rollout undo"
configure "$out/before.conf"
kubectl --namespace=volcano-system rollout undo deployment/volcano-scheduler
schedules_with "$stock"

step "enabled beside Volcano's scheduler, with a job running"
sed 's/wide-ande-deep$/running/' deploy/examples/wide_and_deep.yaml >"$out/running.yaml"
apply "$out/running.yaml"
running_pod running worker
helm upgrade paddle $chart --namespace=paddle-system --reuse-values --set=scheduler.mode=beside --wait --timeout=5m >/dev/null
completes running
submit wide_and_deep
worker=$(running_pod wide-ande-deep worker)
kubectl delete pod "$worker" --wait=false
kubectl --namespace=paddle-system delete pods --all --wait=false
docker exec "$node" systemctl restart kubelet
completes wide-ande-deep
expect paddle kubectl get vcjob/wide-ande-deep --output='jsonpath={.spec.schedulerName}'
kubectl delete paddlejobs --all
step "rolled back by helm uninstall"
helm uninstall paddle --namespace=paddle-system --wait >/dev/null
expect "" kubectl --namespace=paddle-system get deployments --output=name
kubectl get crd paddlejobs.batch.paddlepaddle.org

say "passed in $((SECONDS - begun)) s"
