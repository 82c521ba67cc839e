#!/usr/bin/env bash
# Creates a kind cluster: Volcano, paddlejob-controller, paddle-scheduler, kwok and NODES simulated nodes. With --render it only writes the
# manifests, with --empty it installs nothing in the cluster. It updates what exists.
set -euo pipefail
cd "$(dirname "$0")/../.."
source hack/kind/cluster.sh

case ${1:-} in
--render) ;;
--empty | "") start_docker ;;
*) fail 2 "unknown argument $1: want --render, --empty or nothing" ;;
esac

nodes=${NODES:-500}
volcano_version=$(go list -m -f '{{.Version}}' volcano.sh/volcano)
stock_image=localhost/vc-scheduler:$volcano_version

render() {
  say "writing the manifests into $manifests"
  go mod download volcano.sh/volcano
  go run ./test/kind/render --out="$manifests" --nodes="$nodes" --stock-image="$stock_image" \
    --volcano="$(go list -m -f '{{.Dir}}' volcano.sh/volcano)" \
    --kwok-version="$(cd hack/kwok && go list -m -f '{{.Version}}' sigs.k8s.io/kwok)"
}

# node_image prints the image of kind's node: the one that cluster.yaml names, or, where it cannot be pulled, one that is made here.
node_image() {
  local published
  published=$(sed -n 's/^  image: //p' hack/kind/cluster.yaml)
  if docker image inspect "$published" >/dev/null 2>&1 || { ! box_pid >/dev/null && docker pull --quiet "$published" >&2; }; then
    echo "$published"
  else
    say "$published cannot be pulled here" >&2
    hack/kind/node.sh
  fi
}

webhooks_answer() {
  kubectl_reading create --dry-run=server --filename=- <hack/kind/probe.yaml
}

# New nodes have a taint until their kubelet, here kwok, has reported.
nodes_are_ready() {
  local taints
  taints=$(kubectl get nodes --selector=sandbox.paddle-volcano.io/simulated --output='jsonpath={.items[*].spec.taints[*].key}') || return
  [ -z "$taints" ] || { echo "$taints" | tr ' ' '\n' | sort | uniq -c; return 1; }
}

[ "${1:-}" = --empty ] || render
[ "${1:-}" != --render ] || exit 0
build_kind
say "building the programs and their images"
programs=$out/programs
# They are loaded into the node and never pulled, so they have the names that the manifests of deploy/v1 are shipped with.
images_of . "$programs" v0.1.0
go build -ldflags "-s -w" -o "$programs/vc-scheduler" volcano.sh/volcano/cmd/scheduler
image hack/kind/vc-scheduler.Dockerfile "$programs" "$stock_image"

if have_cluster; then
  say "cluster $cluster is there and is brought up to date"
else
  node_image=$(node_image)
  say "making the cluster of $node_image"
  mkdir -p "$out/audit"
  sed "s|_output/kind/|$out/|" hack/kind/cluster.yaml >"$out/cluster.yaml"
  # An image that was built here contains the pods' network, so that kind need not install one.
  [[ $node_image != localhost/* ]] || sed -i 's/^networking:$/&\n  disableDefaultCNI: true/' "$out/cluster.yaml"
  "$bin/kind" create cluster --name="$cluster" --config="$out/cluster.yaml" --image="$node_image" --kubeconfig="$kubeconfig" --wait=15m
fi
# Only root can read the API server's log.
docker exec "$node" chmod a+r /var/log/audit/audit.log
say "loading the images"
"$bin/kind" load docker-image --name="$cluster" "${images[@]}"
[ "${1:-}" != --empty ] || exit 0

say "keeping programs on the real node, and jobs off it"
kubectl taint node "$node" node-role.kubernetes.io/control-plane=:NoSchedule --overwrite
for daemons in $(kubectl --namespace=kube-system get daemonsets --output=name); do
  kubectl --namespace=kube-system patch "$daemons" --type=strategic --patch="$(<hack/kind/daemonset-patch.yaml)"
done

say "installing Volcano $volcano_version"
apply "$manifests/volcano.yaml"
kubectl --namespace=volcano-system wait job/volcano-admission-init --for=condition=Complete --timeout=15m
for part in volcano-admission volcano-controllers volcano-scheduler; do
  rolled_out volcano-system $part
done
until_done "Volcano's webhooks to answer" webhooks_answer

say "installing kwok, paddlejob-controller and paddle-scheduler"
apply "$manifests/kwok.yaml"
apply "$manifests/paddle.yaml"
kubectl wait crd/paddlejobs.batch.paddlepaddle.org --for=condition=Established --timeout=15m
rolled_out kube-system paddle-kwok
rolled_out paddle-system paddle-controller-manager
use_scheduler paddle
until_done "the queue default to be open" kubectl wait queue/default --for=jsonpath='{.status.state}'=Open --timeout=10s

say "making $nodes simulated nodes"
apply "$manifests/nodes.yaml"
until_done "the simulated nodes to be ready" nodes_are_ready

say "ready: $nodes simulated nodes. Next:"
say "  export KUBECONFIG=$kubeconfig    # for another kubectl"
say "  make kind-bench"
say "  make kind-down"
