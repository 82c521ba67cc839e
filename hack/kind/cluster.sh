# shellcheck shell=bash
# What the scripts of make kind-up, kind-bench and kind-down share; they read it from the root of the clone. It does nothing itself.

cluster=${KIND_CLUSTER:-paddle-volcano}
node=$cluster-control-plane
out=${KIND_OUT:-$PWD/_output/kind}
manifests=$out/manifests
# shellcheck disable=SC2034 # the scripts use it
kubeconfig=$out/kubeconfig
bin=$PWD/_output/bin
# As all programs of the clone are built.
export CGO_ENABLED=0
# shellcheck source=hack/kind/box.sh
source hack/kind/box.sh

say() { echo "kind: $SECONDS s: $*"; }

# fail CODE SENTENCE...
fail() {
  local code=$1
  shift
  echo "error: $*" >&2
  exit "$code"
}

# find_docker finds the Docker to use, the box's or the machine's, or prints why there is none, and fails.
find_docker() {
  local said
  if box_pid >/dev/null; then
    use_box
  elif ! command -v docker >/dev/null; then
    echo "docker is not installed"
    return 1
  elif ! said=$(docker info 2>&1 >/dev/null); then
    echo "docker does not answer ($said)"
    return 1
  fi
}

# need_docker fails without a Docker, which a cluster cannot be without.
need_docker() {
  find_docker >/dev/null || fail 3 "$(find_docker), so there is no cluster: make one with make kind-up. Nothing was changed"
}

# start_docker starts Docker in separate namespaces if none runs.
start_docker() {
  local said lacking
  find_docker >/dev/null && return
  said=$(find_docker || true)
  lacking=$(why_no_box)
  [ -z "$lacking" ] ||
    fail 3 "$said, and kind runs its node as a container. It cannot be run in separate namespaces either: $lacking. Start Docker, or let this user use it; make bench-live needs none. Nothing was changed"
  say "$said; running Debian's in separate namespaces"
  start_box
}

# have_cluster reports whether the cluster exists.
have_cluster() { [ -n "$(docker ps --all --quiet --filter "label=io.x-k8s.kind.cluster=$cluster")" ]; }

build_kind() {
  say "building kind (a minute the first time)"
  mkdir -p "$bin"
  (cd hack/kind && CGO_ENABLED=0 GOBIN=$bin go install tool)
}

# image DOCKERFILE FOLDER NAME makes an image by the last stage of a Dockerfile, of a program that was built into the folder, outside of
# Docker, and adds its name to images. Attestations would make it an index of several images, which kind's load does not take from every Docker.
images=()
image() {
  local program
  program=$(sed -n 's|^COPY --from=build /out/\(.*\) /.*|\1|p' "$1")
  sed -n '/^FROM scratch$/,$p' "$1" | sed 's|^COPY --from=build /out/|COPY |' >"$2/Dockerfile"
  tar --create --directory="$2" Dockerfile "$program" | BUILDX_NO_DEFAULT_ATTESTATIONS=1 docker build --quiet --tag="$3" - >/dev/null
  images+=("$3")
}

# images_of CLONE FOLDER TAG builds the clone's programs into the folder, and makes its images of them.
images_of() {
  local name
  mkdir -p "$2"
  (cd "$1" && go build -ldflags "-s -w" -o "$2/" ./cmd/paddlejob-controller ./cmd/paddle-scheduler ./cmd/paddle-barrier)
  for name in paddlejob-controller paddle-scheduler paddle-barrier; do
    image "$1/deploy/docker/${name#paddle*-}.Dockerfile" "$2" "registry.invalid/$name:$3"
  done
}

# kubectl runs the node's kubectl, so that none needs to be installed and its version is the cluster's.
kubectl() { docker exec "$node" kubectl --kubeconfig=/etc/kubernetes/admin.conf "$@"; }
kubectl_reading() { docker exec --interactive "$node" kubectl --kubeconfig=/etc/kubernetes/admin.conf "$@"; }

# apply FILE applies a manifest server-side. It checks every field, and reverts other changes.
apply() {
  kubectl_reading apply --server-side --force-conflicts --validate=strict --field-manager=paddle-kind --filename=- <"$1" >/dev/null
}

# rolled_out NAMESPACE DEPLOYMENT
rolled_out() { kubectl --namespace="$1" rollout status "deployment/$2" --timeout=15m; }

# until_done WHAT COMMAND... retries until the command has no error.
until_done() {
  local what=$1 end=$((SECONDS + 900)) said
  shift
  until said=$("$@" 2>&1); do
    [ $SECONDS -lt $end ] || fail 1 "waited 15 minutes for $what: $said"
    sleep 1
  done
}

# use_scheduler NAME starts one of the two schedulers, once the other has stopped.
use_scheduler() {
  kubectl --namespace=volcano-system scale deployment/volcano-scheduler --replicas=0
  kubectl --namespace=volcano-system wait pod --for=delete --selector=app=volcano-scheduler --timeout=15m
  apply "$manifests/scheduler-$1.yaml"
  rolled_out volcano-system volcano-scheduler
}
