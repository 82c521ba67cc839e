#!/usr/bin/env bash
# Tests what needs a real cluster: images, charts and manifests as users install them, and pods that run. It creates a separate cluster
# and removes it; with KEEP=1 it stays. With TEST_ALL=1 it tests paddle.so, which takes minutes to build. With
# RELEASE=_output/release/v0.1.0 it tests what make release has written there. Where Docker cannot run it prints SKIP and the reason,
# which is an error if SKIPS names a list without this script.
set -euo pipefail
cd "$(dirname "$0")/../.."
export KIND_CLUSTER=paddle-test KIND_OUT=${KIND_OUT:-$PWD/_output/test-kind}
source hack/kind/cluster.sh

status=0
said=$(start_docker 2>&1) || status=$?
if [ $status = 3 ]; then
  echo "SKIP: hack/kind/test.sh: ${said##*error: }"
  if [ -n "${SKIPS:-}" ] && ! grep -q '^hack/kind/test.sh ' "$SKIPS"; then
    fail 1 "hack/kind/test.sh is not listed in $SKIPS: let it have Docker, or list it with the reason"
  fi
  exit
fi
[ $status = 0 ] || fail 1 "$said"
need_docker
! have_cluster || fail 1 "there is a cluster $cluster: remove it with KIND_CLUSTER=$cluster KIND_OUT=$KIND_OUT hack/kind/down.sh"
trap '[ -n "${KEEP:-}" ] || hack/kind/down.sh' EXIT

if box_pid >/dev/null; then
  # shellcheck disable=SC2016 # the inner shell expands it
  left=$(unshare --net --mount bash -ec '
    source hack/kind/cluster.sh
    before=$(machine_state)
    mount -t tmpfs left /mnt
    ip link add left type bridge
    ip route add blackhole 192.0.2.1
    echo 1 >/proc/sys/net/ipv4/ip_forward
    (with_packages iptables --append FORWARD --jump ACCEPT)
    machine_state | diff <(echo "$before") -' || true)
  for what in ' /mnt rw' 'left: <BROADCAST' 'blackhole 192.0.2.1' '/ip_forward:1' '-A FORWARD -j ACCEPT'; do
    grep -q -- "^> .*$what" <<<"$left" || fail 1 "make kind-down would not tell of what is left here, such as $what: $left"
  done
fi

installer=$(go list -m -f '{{.Dir}}' volcano.sh/volcano)/installer
tag=$(sed -n 's/ *image_tag_version: "\(.*\)"/\1/p' "$installer/helm/chart/volcano/values.yaml")
chart=deploy/helm/paddle-volcano
registry=registry.invalid
published=$registry/paddle-scheduler:v0.1.0
stock=docker.io/volcanosh/vc-scheduler:$tag
# Volcano's chart has one registry and one tag for all images.
in_chart=$registry/paddle/paddle-scheduler:$tag
old=v0.0.9
scheduler=app=volcano-scheduler

step() { say "== $*"; }

helm() { in_box "$bin/helm" --kubeconfig="$kubeconfig" "$@"; }

# as_written COMMAND runs the line of deploy/docs/how-to/enable-the-plugin.md that begins with it, and those that && joins to it, with the
# registry and Volcano's chart that are here.
as_written() {
  local line page=deploy/docs/how-to/enable-the-plugin.md
  line=$(awk -v begin="^$1" '$0 ~ begin { on = 1 } on { print } on && !/ &&$/ { exit }' "$page")
  [ -n "$line" ] || fail 1 "$page has no command $1"
  line=${line//registry.example.com\/paddle/$registry}
  line=${line//volcano-sh\/volcano/$installer/helm/chart/volcano}
  line=${line//values.yaml/$out/values.yaml}
  line=${line//hack\/helm.sh/helm}
  say "$line"
  eval "$line" >/dev/null
}

# expect WANTED COMMAND... fails unless the command prints that.
expect() {
  local said wanted=$1
  shift
  said=$("$@")
  [ "$said" = "$wanted" ] || fail 1 "$*: got \"$said\", want \"$wanted\""
}

# submit EXAMPLE [NAME SECONDS] submits an example, under another name, and with steps that take these seconds in all.
submit() {
  local file=deploy/examples/$1.yaml
  if [ $# -gt 1 ]; then
    sed -E "s/^  name: wide-ande-deep.*/  name: $2/; s/^( *)image: .*/&\n\1env: [{name: TRAINER_STEPS, value: \"$3\"}, {name: TRAINER_STEP_TIME, value: 1s}]/" "$file" >"$out/$2.yaml"
    file=$out/$2.yaml
  fi
  apply "$file"
}

# completes JOB...
completes() {
  local job end
  for job; do
    end=$((SECONDS + 900))
    until [ "$(phase "$job")" = Completed ]; do
      if [ "$(phase "$job")" = Failed ] || [ $SECONDS -ge $end ]; then
        logs "$job" >&2
        fail 1 "PaddleJob $job is $(phase "$job"), and not Completed"
      fi
      sleep 1
    done
    say "PaddleJob $job is Completed"
  done
}

phase() { kubectl get "paddlejob/$1" --output='jsonpath={.status.phase}'; }

logs() {
  kubectl describe paddlejobs "$1"
  kubectl get pods --output=wide
  kubectl logs --selector="batch.paddlepaddle.org/job-name=$1" --all-containers --prefix --tail=5
}

# running_pod JOB ROLE waits until the first pod of the role runs, and prints its name.
running_pod() {
  local pods=(--selector="batch.paddlepaddle.org/job-name=$1,volcano.sh/task-spec=$2")
  until_done "pods of $1 to be created" kubectl wait pod --for=create --timeout=10s "${pods[@]}"
  kubectl wait pod --for=condition=Ready --timeout=15m "${pods[@]}" >/dev/null
  kubectl get pods "${pods[@]}" --output='jsonpath={.items[0].metadata.name}'
}

# identities prints what a restart, or a lost job, would change.
identities() {
  kubectl get paddlejobs,jobs.batch.volcano.sh,podgroups.scheduling.volcano.sh --output='jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.uid}{"\n"}{end}'
  kubectl get pods --selector=batch.paddlepaddle.org/job-name \
    --output='jsonpath={range .items[*]}{.metadata.name} {.metadata.uid} {.status.containerStatuses[*].restartCount}{"\n"}{end}'
}

probe() { sed "s/name: probe$/name: $1/" hack/kind/probe.yaml | kubectl_reading create --filename=- "${@:2}"; }

# schedules_with IMAGE checks that the only scheduler in Volcano's Deployment has this image, and that it places a job.
schedules_with() {
  rolled_out volcano-system volcano-scheduler >/dev/null
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
  local begin=$1 pod=probe-$1-probe-$1-0 took
  probe "probe-$begin" >/dev/null
  until kubectl wait "pod/$pod" --for=condition=PodScheduled --timeout=20s >/dev/null 2>&1; do
    [ $(($(date +%s%N) - begin)) -lt 900000000000 ] || fail 1 "no pod was bound for 15 minutes"
  done
  took=$((($(date +%s%N) - begin) / 100000000))
  echo "$((took / 10)).$((took % 10))"
  kubectl delete "job.batch.volcano.sh/probe-$begin" >/dev/null
}

lease_is_held() { [ -n "$(kubectl --namespace="$1" get leases --output='jsonpath={.items[*].spec.holderIdentity}')" ]; }

# binds_after_deletion NAMESPACE SELECTOR deletes the scheduler's pod, which releases its lease: for a moment no pod holds it. Until then
# that pod can bind others.
binds_after_deletion() {
  local begin holder next
  until_done "the scheduler to hold its lease" lease_is_held "$1"
  docker exec "$node" kubectl --kubeconfig=/etc/kubernetes/admin.conf --namespace="$1" get leases --watch --request-timeout=15m \
    --output='jsonpath={.spec.holderIdentity};{"\n"}' >"$out/holders" &
  until [ -s "$out/holders" ]; do sleep 0.1; done
  begin=$(date +%s%N)
  kubectl --namespace="$1" delete pod --selector="$2" --wait=false >/dev/null
  seconds=$(seconds_to_bind "$begin")
  say "$seconds s from the deletion of the scheduler's pod to the next binding"
  holder=$(head -n 1 "$out/holders")
  until_done "the scheduler's lease to change its holder" grep -vxF "$holder" "$out/holders"
  kill $!
  next=$(grep -vxFm 1 "$holder" "$out/holders")
  [ "$next" = ';' ] || fail 1 "the scheduler did not give its lease back, and the next one waited until it expired: $holder $next"
}

# runs_the_plugin NAMESPACE SELECTOR checks that the scheduler has called the plugin: its metrics exist.
runs_the_plugin() {
  local pod
  pod=$(kubectl --namespace="$1" get pods --selector="$2" --output='jsonpath={.items[0].metadata.name}')
  until_done "the plugin to be called" metrics "$1" "$pod"
}

metrics() {
  local text
  text=$(kubectl get --raw "/api/v1/namespaces/$1/pods/$2:8080/proxy/metrics") && grep -q ^volcano_paddle_ <<<"$text"
}

# is_confined PROGRAM checks that it runs as the image's user, and that its root is read-only.
is_confined() {
  # shellcheck disable=SC2016 # the node's shell expands it
  docker exec "$node" bash -ec '
    for process in $(pgrep --exact "${1:0:15}"); do
      [ "$(stat --format=%u /proc/$process)" = 65532 ] || { echo "$1 runs as another user than 65532"; exit 1; }
      grep -qE "^[^ ]+ [^ ]+ [^ ]+ [^ ]+ / ro," /proc/$process/mountinfo || { echo "$1 can write to its root"; exit 1; }
      found=1
    done
    [ -n "${found:-}" ] || { echo "$1 does not run"; exit 1; }' bash "$1"
}

volcano_by_helm() {
  helm "$1" volcano "$installer/helm/chart/volcano" --namespace=volcano-system --wait --timeout=15m --set=basic.image_pull_policy=IfNotPresent "${@:2}" >/dev/null
}

step "a cluster with the images, those of the commit before this one as $old"
hack/kind/up.sh --empty
hack/helm.sh version --short
docker tag "localhost/vc-scheduler:$(go list -m -f '{{.Version}}' volcano.sh/volcano)" "$stock"
docker tag "$published" "$in_chart"
rm -rf "$out/old"
mkdir -p "$out/old"
git archive HEAD~1 | tar --extract --directory="$out/old"
images_of "$out/old" "$out/programs-old" $old
"$bin/kind" load docker-image --name="$cluster" "$stock" "$in_chart" "${images[@]}"
"$bin/helm" package "$out/old/$chart" --version="${old#v}" --app-version=$old --destination="$out" >/dev/null
go run ./test/trainer/cmd/image -o "$out/trainer.tar"
"$bin/kind" load image-archive --name="$cluster" "$out/trainer.tar"
kubectl patch node "$node" --subresource=status --type=merge --patch='{"status":{"capacity":{"nvidia.com/gpu":"8"},"allocatable":{"nvidia.com/gpu":"8"}}}'

rolled_out kube-system coredns
version=$(kubectl get node "$node" --output='jsonpath={.status.nodeInfo.kubeletVersion}')
grep -qF " ${version#v} |" deploy/docs/how-to/install.md || fail 1 "Kubernetes $version runs here, and the table of versions of deploy/docs/how-to/install.md does not have it"

step "Volcano by its own chart"
volcano_by_helm install --create-namespace
schedules_with "$stock"
# As its users would have pushed them.
for name in vc-controller-manager vc-webhook-manager; do
  docker exec "$node" ctr --namespace=k8s.io images tag --force "docker.io/volcanosh/$name:$tag" "$registry/volcanosh/$name:$tag" >/dev/null
done

step "the chart in a namespace of Pod Security restricted: not root, no writable file system"
kubectl create namespace paddle-system
kubectl label namespace paddle-system pod-security.kubernetes.io/enforce=restricted
helm install paddle "$out/paddle-volcano-${old#v}.tgz" --namespace=paddle-system --set=image.registry=$registry,networkPolicy.enabled=true --wait --timeout=15m >/dev/null
is_confined paddlejob-controller

step "enabled by the values of Volcano's chart"
sed -n '/^<!-- file: values.yaml -->$/,/^```$/p' deploy/docs/how-to/enable-the-plugin.md | sed "1,2d;\$d;s/registry.example.com/$registry/" >"$out/values.yaml"
as_written "helm upgrade volcano "
as_written "kubectl -n volcano-system rollout status "
schedules_with "$in_chart"

step "examples train: PodIP, Service, Host, collective"
submit wide_and_deep_podip
submit wide_and_deep_service
sed 's/podip/host/; s/PodIP/Host/' deploy/examples/wide_and_deep_podip.yaml >"$out/host.yaml"
apply "$out/host.yaml"
# The trainer of the tests writes its model into its folder by default, and here that is a ConfigMap.
sed -E 's|^( *)image: .*|&\n\1env: [{name: MODEL_DIR, value: /dev/shm}]|' deploy/examples/collective.yaml >"$out/collective.yaml"
apply "$out/collective.yaml"
completes wide-ande-deep-podip wide-ande-deep-service wide-ande-deep-host collective
runs_the_plugin volcano-system $scheduler
kubectl delete paddlejobs --all >/dev/null

step "rolled back by helm rollback"
as_written "helm rollback volcano "
schedules_with "$stock"
helm uninstall volcano --namespace=volcano-system --wait >/dev/null
kubectl delete validatingwebhookconfigurations,mutatingwebhookconfigurations --all >/dev/null
kubectl delete namespace volcano-system --ignore-not-found

step "Volcano by its manifests"
sed 's/imagePullPolicy: Always/imagePullPolicy: IfNotPresent/' "$installer/volcano-development.yaml" >"$out/volcano-development.yaml"
apply "$out/volcano-development.yaml"
kubectl --namespace=volcano-system wait job/volcano-admission-init --for=condition=Complete --timeout=15m
for name in volcano-admission volcano-controllers; do rolled_out volcano-system $name; done
schedules_with "$stock"

step "enabled by deploy/v1/scheduler.yaml"
apply deploy/v1/scheduler.yaml
schedules_with "$published"
binds_after_deletion volcano-system $scheduler
binds_after_deletion volcano-system $scheduler
step "rolled back by Volcano's manifests"
apply "$out/volcano-development.yaml"
schedules_with "$stock"

step "enabled by an image and a line in the configuration"
kubectl --namespace=volcano-system get configmap volcano-scheduler-configmap --output='jsonpath={.data.volcano-scheduler\.conf}' >"$out/before.conf"
sed '/- name: gang/{n;s/$/\n  - name: paddle/}' "$out/before.conf" >"$out/volcano-scheduler.conf"
configure() {
  kubectl_reading create configmap volcano-scheduler-configmap --namespace=volcano-system --from-file=volcano-scheduler.conf=/dev/stdin \
    --dry-run=client --output=yaml <"$1" >"$out/configmap.yaml"
  kubectl_reading replace --filename=- <"$out/configmap.yaml"
}
as_written "kubectl -n volcano-system set image "
configure "$out/volcano-scheduler.conf"
schedules_with "$published"
runs_the_plugin volcano-system $scheduler
step "rolled back by rollout undo"
configure "$out/before.conf"
as_written "kubectl -n volcano-system rollout undo "
schedules_with "$stock"

if [ -n "${TEST_ALL:-}" ]; then
  step "enabled by the file paddle.so"
  make plugin-so
  with_plugins=$registry/vc-scheduler:$tag-plugins
  mkdir -p "$out/plugin/root/plugins"
  cp _output/plugin/vc-scheduler "$out/plugin/root"
  cp _output/plugin/paddle.so "$out/plugin/root/plugins"
  # shellcheck disable=SC2046 # paths without spaces
  cp --parents --dereference $(ldd _output/plugin/vc-scheduler | grep -o '/[^ ]*') "$out/plugin/root"
  printf 'FROM scratch\nCOPY root /\nUSER 65532:65532\nENTRYPOINT ["/vc-scheduler"]\n' >"$out/plugin/Dockerfile"
  docker build --quiet --tag="$with_plugins" "$out/plugin" >/dev/null
  "$bin/kind" load docker-image --name="$cluster" "$with_plugins"
  configure "$out/volcano-scheduler.conf"
  kubectl --namespace=volcano-system patch deployment volcano-scheduler --type=json --patch="[
    {\"op\": \"replace\", \"path\": \"/spec/template/spec/containers/0/image\", \"value\": \"$with_plugins\"},
    {\"op\": \"add\", \"path\": \"/spec/template/spec/containers/0/args/-\", \"value\": \"--plugins-dir=/plugins\"}]"
  schedules_with "$with_plugins"
  runs_the_plugin volcano-system $scheduler
  step "rolled back by rollout undo"
  configure "$out/before.conf"
  as_written "kubectl -n volcano-system rollout undo "
  schedules_with "$stock"
fi

step "enabled beside Volcano's scheduler"
as_written "hack/helm.sh upgrade paddle .*mode=beside"
rolled_out paddle-system paddle-controller-manager
rolled_out paddle-system paddle-scheduler
is_confined paddle-scheduler
submit wide_and_deep beside 1
completes beside
expect paddle kubectl get vcjob/beside --output='jsonpath={.spec.schedulerName}'
kubectl delete paddlejobs --all >/dev/null
step "rolled back by its mode"
as_written "hack/helm.sh upgrade paddle .*mode=none"
expect deployment.apps/paddle-controller-manager kubectl --namespace=paddle-system get deployments --output=name

step "enabled by scheduler.mode=replace of the chart"
as_written "kubectl -n volcano-system run paddle-scheduler-image "
rolled_out volcano-system paddle-scheduler
expect "" kubectl --namespace=volcano-system get pods --selector=$scheduler --output=name
seconds=$(seconds_to_bind "$(date +%s%N)")
say "a pod is bound after $seconds s"
runs_the_plugin volcano-system app.kubernetes.io/component=scheduler
submit wide_and_deep replaced 1
completes replaced
kubectl delete paddlejobs --all >/dev/null
step "rolled back by its mode"
as_written "hack/helm.sh upgrade paddle .*mode=none"
as_written "kubectl -n volcano-system wait pod --for=delete --selector=app.kubernetes.io/name=paddle-volcano,"
as_written "kubectl -n volcano-system scale deployment volcano-scheduler --replicas=1"
schedules_with "$stock"

step "upgraded from $old with jobs running"
helm upgrade paddle "$out/paddle-volcano-${old#v}.tgz" --namespace=paddle-system --reset-then-reuse-values --set=scheduler.mode=beside --wait --timeout=15m >/dev/null
submit wide_and_deep early 1
completes early
submit wide_and_deep running 150
submit wide_and_deep_service service 150
for job in running service; do for role in ps worker; do running_pod $job $role >/dev/null; done; done
before=$(identities)
helm upgrade paddle $chart --namespace=paddle-system --reset-then-reuse-values --wait --timeout=15m >/dev/null
expect "$before" identities
! said=$(kubectl patch paddlejob/running --type=merge --patch='{"spec":{"ps":{"replicas":1}}}' 2>&1) || fail 1 "the admission policy let spec.ps change"
grep -q "spec.ps cannot change while the job runs" <<<"$said" || fail 1 "the admission policy said $said"
submit wide_and_deep new 1
completes new
step "rolled back to $old"
before=$(identities)
helm rollback paddle --namespace=paddle-system --wait --timeout=15m >/dev/null
expect "$before" identities
for job in running service; do expect Running phase $job; done
expect '["v1"]' kubectl get crd paddlejobs.batch.paddlepaddle.org --output='jsonpath={.status.storedVersions}'
for job in new early; do expect Completed phase $job; done
for name in running service new early; do apply "$out/$name.yaml"; done # each is taken as it was
expect "$before" identities
completes running service
kubectl delete paddlejobs --all >/dev/null

step "a worker, a server, the controller, the scheduler and the kubelet end while a job runs"
helm upgrade paddle $chart --namespace=paddle-system --reset-then-reuse-values --wait --timeout=15m >/dev/null
submit wide_and_deep faults 30
kubectl delete pod "$(running_pod faults worker)" --wait=false
kubectl --namespace=paddle-system delete pods --all --wait=false
docker exec "$node" systemctl restart kubelet
kubectl wait paddlejob/faults --for=jsonpath='{.status.phase}'=Running --timeout=15m
kubectl delete pod "$(running_pod faults ps)" --wait=false
completes faults
expect 2 kubectl get paddlejob/faults --output='jsonpath={.status.restarts}'

step "uninstalled with a job running"
submit wide_and_deep last 20
running_pod last worker >/dev/null
helm uninstall paddle --namespace=paddle-system --wait >/dev/null
expect "" kubectl --namespace=paddle-system get deployments --output=name
expect paddlejob.batch.paddlepaddle.org/last kubectl get paddlejobs/last --output=name
kubectl wait vcjob/last --for=jsonpath='{.status.state.phase}'=Completed --timeout=15m

if [ -n "${RELEASE:-}" ]; then
  step "the release in $RELEASE, by its digests"
  hack/kind/load.sh "$RELEASE"
  released=$(sed 's/:[^:@]*@/@/' "$RELEASE/images.txt" | sort)
  helm install paddle "$RELEASE"/paddle-volcano-*.tgz --namespace=paddle-system --values="$RELEASE/values-digests.yaml" \
    --set=image.registry="${released%%/paddle*}",scheduler.mode=beside --wait --timeout=15m >/dev/null
  submit wide_and_deep released 20
  running_pod released worker >/dev/null
  used() {
    {
      kubectl --namespace=paddle-system get pods --output='jsonpath={range .items[*]}{.spec.containers[*].image}{"\n"}{end}'
      kubectl get pods --selector=batch.paddlepaddle.org/job-name=released --output='jsonpath={range .items[*]}{.spec.initContainers[*].image}{"\n"}{end}'
    } | sort -u | sed '/^$/d'
  }
  expect "$released" used
  completes released
  helm uninstall paddle --namespace=paddle-system --wait >/dev/null
fi

say "passed"
