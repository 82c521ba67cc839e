#!/usr/bin/env bash
# Builds everything of a release into _output/release/VERSION, the same bytes from the same commit: see "make release".
# VERSION is the chart's appVersion. REGISTRY is where the images will be, with the path in it; DOWNLOAD is where the files will be.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "release: $SECONDS s: $*"; }
fail() { echo "release: $*" >&2; exit 1; }

chart=deploy/helm/paddle-volcano
version=${VERSION:-}
declared=$(sed -n 's/^appVersion: //p' $chart/Chart.yaml)
[ "$version" = "$declared" ] || fail "VERSION is '$version', and $chart/Chart.yaml has appVersion $declared: make them equal"
grep -q "^## $version " CHANGELOG.md || fail "CHANGELOG.md has no section '## $version': write it"
[ -z "$(git status --porcelain)" ] || fail "the tree has changes that are not committed: commit or stash them"
compiler=go$(sed -n 's/^FROM golang:\(\S*\) AS build$/\1/p' deploy/docker/controller.Dockerfile)
[ "$(go env GOVERSION)" = "$compiler" ] || fail "the compiler is $(go env GOVERSION), and a release is built by $compiler: set GOTOOLCHAIN=$compiler"

repository=https://github.com/paddle-volcano/paddle-volcano
registry=${REGISTRY:-registry.invalid}
download=${DOWNLOAD:-$repository/releases/download/$version}
revision=$(git rev-parse HEAD)
epoch=$(git log -1 --format=%ct)
out=$PWD/_output/release/$version
work=$PWD/_output/release/.work
rm -rf "$out" "$work"
mkdir -p "$out" "$work/tools" "$work/sbom" "$work/manifests/v1" "$work/manifests/trainer"
export CGO_ENABLED=0 GOFLAGS=-buildvcs=false LC_ALL=C TZ=UTC

# An archive of what a folder holds, under given names and without what differs between machines.
archive() { tar --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX --format=gnu -C "$1" -cf - "${@:2}"; }

flags="-s -w -X k8s.io/component-base/version.gitVersion=$version -X k8s.io/component-base/version.gitCommit=$revision"
flags+=" -X github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/plan.version=$version"
volcano=$(go list -m -f '{{.Version}}' volcano.sh/volcano)
flags+=" -X volcano.sh/volcano/pkg/version.Version=$volcano+paddle-$version -X volcano.sh/volcano/pkg/version.GitSHA=$revision"
flags+=" -X volcano.sh/volcano/pkg/version.Built=$(date -d "@$epoch" -Iseconds)"
build() { # OS ARCHITECTURE PROGRAM...
  say "building for $1/$2: ${*:3}"
  mkdir -p "$work/$1-$2"
  GOOS=$1 GOARCH=$2 go build -trimpath -ldflags "$flags" -o "$work/$1-$2/" "${@:3}"
}

(cd hack/oci && GOBIN=$work/tools go install .)
(cd hack/sbom && GOBIN=$work/tools go install .)
for architecture in amd64 arm64; do
  build linux $architecture ./cmd/paddlejob-controller ./cmd/paddle-scheduler ./cmd/paddle-barrier ./cmd/kubectl-paddle ./cmd/paddle-simulator
  build darwin $architecture ./cmd/kubectl-paddle ./cmd/paddle-simulator
done

# Images: an archive of an OCI layout each, and its digest.
image() { # VALUE PROGRAM
  local digest
  digest=$("$work/tools/oci" -layout "$work/$2" -name "$registry/$2:$version" -version "$version" -created "$epoch" -revision "$revision" -source $repository \
    "linux/amd64=$work/linux-amd64/$2" "linux/arm64=$work/linux-arm64/$2")
  archive "$work/$2" . >"$out/$2-$version.oci.tar"
  printf '%s/%s:%s@%s\n' "$registry" "$2" "$version" "$digest" >>"$out/images.txt"
  printf -- '--set\n%s.digest=%s\n' "$1" "$digest" >>"$work/digests"
}
image controller.image paddlejob-controller
image controller.barrier.image paddle-barrier
image scheduler.image paddle-scheduler
say "images"
cat "$out/images.txt"

for platform in linux-amd64 linux-arm64 darwin-amd64 darwin-arm64; do
  for program in "$work/$platform"/*; do
    "$work/tools/sbom" "$work/sbom" "$program" >/dev/null
    mv "$work/sbom/$(basename "$program").cdx.json" "$out/$(basename "$program")_$platform.cdx.json"
  done
done

say "chart and manifests"
hack/helm.sh package $chart --destination "$work/chart" >/dev/null 2>&1
tar -C "$work/chart" -mxzf "$work/chart/paddle-volcano-${version#v}.tgz" # Helm's own archive has the time of day
archive "$work/chart" paddle-volcano | gzip -n9 >"$out/paddle-volcano-${version#v}.tgz"
mapfile -t digests <"$work/digests"
REGISTRY=$registry MANIFESTS=$work/manifests/v1 hack/manifests.sh "${digests[@]}" >/dev/null
cp deploy/v1/namespace.yaml deploy/v1/crd.yaml deploy/v1/kubeflow-crd.yaml "$work/manifests/v1"
for file in namespace crd operator; do
  cat "$work/manifests/v1/$file.yaml"
  echo ---
done | sed '$d' >"$out/install.yaml"
cp "$work"/manifests/v1/{scheduler,admission,kubeflow-crd,kubeflow-rights}.yaml "$out"
cp "$work/manifests/trainer/runtime.yaml" "$out/trainer-runtime.yaml"
{
  printf '# The images of %s by their digests: helm install --values values-digests.yaml\n' "$version"
  [ "$registry" = registry.invalid ] || printf 'image:\n  registry: %s\n' "$registry"
  sed -n 's/^controller\.image\.digest=\(.*\)$/controller:\n  image:\n    digest: \1/p
    s/^controller\.barrier\.image\.digest=\(.*\)$/  barrier:\n    image:\n      digest: \1/p
    s/^scheduler\.image\.digest=\(.*\)$/scheduler:\n  image:\n    digest: \1/p' "$work/digests"
} >"$out/values-digests.yaml"

say "kubectl paddle"
platforms=
for platform in linux-amd64 linux-arm64 darwin-amd64 darwin-arm64; do
  folder=$work/kubectl-$platform
  mkdir "$folder"
  cp "$work/$platform/kubectl-paddle" "$work/$platform/paddle-simulator" cmd/kubectl-paddle/kubectl_complete-paddle LICENSE "$folder"
  file=kubectl-paddle_${version}_$platform.tar.gz
  archive "$folder" . | gzip -n9 >"$out/$file"
  platforms+="
  - selector:
      matchLabels: {os: ${platform%-*}, arch: ${platform#*-}}
    uri: $download/$file
    sha256: $(sha256sum "$out/$file" | cut -d' ' -f1)
    bin: kubectl-paddle"
done
cat >"$out/paddle.yaml" <<END
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: paddle
spec:
  version: $version
  homepage: $repository
  shortDescription: Submit and explain PaddlePaddle training jobs
  description: |
    Submits PaddleJobs, explains why a job waits and what helps, plans where it
    would run, and draws where jobs run. The cluster needs paddle-volcano.
  platforms:$platforms
END

awk -v head="## $version " 'index($0, head) == 1 {on = 1; next} /^## / {on = 0} on' CHANGELOG.md | sed '/./,$!d' >"$out/release-notes.md"
(cd "$out" && sha256sum -- * >"$work/checksums.txt" && mv "$work/checksums.txt" .)
rm -rf "$work"
say "$out, of $revision:"
(cd "$out" && wc -c -- *)
sha256sum "$out/checksums.txt"
