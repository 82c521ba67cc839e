#!/usr/bin/env bash
# Builds an image of kind's node where the published one cannot be pulled: Debian's packages, kind's own files from its Go
# module, and the sandbox's Kubernetes. It also holds the images of Kubernetes, Volcano and kwok, which the node could not pull
# either. Prints the image's name, which contains a hash of its sources, so that it is built once.
set -euo pipefail
cd "$(dirname "$0")/../.."
source hack/kind/cluster.sh

kind_module=$(cd hack/kind && go mod download sigs.k8s.io/kind && go list -m -f '{{.Dir}}' sigs.k8s.io/kind)
kubernetes=$(cd hack/plane && go list -m -f '{{.Version}}' k8s.io/kubernetes)
volcano=$(go list -m -f '{{.Dir}}' volcano.sh/volcano)
kwok=$(cd hack/kwok && go list -m -f '{{.Version}}' sigs.k8s.io/kwok)
work=$cache/node

have_image() { docker image inspect "$1" >/dev/null 2>&1; }

# debian NAME PACKAGES VARIANT makes an image of these packages of the pinned Debian and of all that they need. The variant extract
# configures none of them.
debian() {
  local pinned=$1:$debian_release mirror
  if ! have_image "$pinned"; then
    mirror=$(debian_mirror)
    say "$pinned: downloading Debian's packages" >&2
    (with_packages mmdebstrap --quiet --mode=root --variant="$3" --format=tar --include="$2" --dpkgopt='path-exclude=/usr/share/man/*' \
      --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' bookworm "$work/packages.tar" "$mirror") >&2
    docker import "$work/packages.tar" "$pinned" >/dev/null
    rm "$work/packages.tar"
  fi
  docker tag "$pinned" "$1"
}

# pack NAME FILE... makes an image of these files by the Dockerfile that it reads.
pack() {
  rm -rf "$work/context"
  mkdir -p "$work/context"
  cp "${@:2}" "$work/context/"
  chmod 755 "$work/context"/*
  docker build --quiet --tag="$1" --file=- "$work/context" >/dev/null
  names+=("$1")
}

pack_all() {
  local name listed tag
  names=()
  # etcd, CoreDNS and pause have other versions.
  listed=$("$bin/kubeadm" config images list --kubernetes-version="$kubernetes" 2>/dev/null)
  for name in kube-apiserver kube-controller-manager kube-scheduler etcd; do
    pack "$(grep "/$name:" <<<"$listed")" "$bin/$name" <<<"FROM scratch
COPY $name /usr/local/bin/
ENV PATH=/usr/local/bin"
  done
  # shellcheck disable=SC2016 # Docker's shell expands it
  pack "$(grep /kube-proxy: <<<"$listed")" "$bin/kube-proxy" <<<'FROM localhost/paddle-kind-tools
COPY kube-proxy /usr/local/bin/
SHELL ["/bin/bash", "-c"]
RUN for n in iptables ip6tables; do for s in "" -save -restore; do ln -s xtables-nft-multi /usr/sbin/$n$s; done; done'
  pack "$(grep /coredns: <<<"$listed")" "$bin/coredns" <<<'FROM scratch
COPY coredns /
ENTRYPOINT ["/coredns"]'
  pack "$(sed -n 's/ *sandbox_image = "\(.*\)"/\1/p' "$kind_module/images/base/files/etc/containerd/config.toml")" "$bin/paddle-box" <<<'FROM scratch
COPY paddle-box /
ENTRYPOINT ["/paddle-box", "pause"]'
  # Volcano's installer and its chart name this version.
  tag=$(sed -n 's/ *image_tag_version: "\(.*\)"/\1/p' "$volcano/installer/helm/chart/volcano/values.yaml")
  pack "docker.io/volcanosh/vc-controller-manager:$tag" "$bin/vc-controller-manager" <<<'FROM scratch
COPY vc-controller-manager /
ENTRYPOINT ["/vc-controller-manager"]'
  # The script needs a shell with [[.
  pack "docker.io/volcanosh/vc-webhook-manager:$tag" "$bin/vc-webhook-manager" "$bin/kubectl" \
    "$volcano/installer/dockerfile/webhook-manager/gen-admission-secret.sh" <<<'FROM localhost/paddle-kind-tools
RUN ["/bin/ln", "-s", "bash", "/bin/sh"]
COPY kubectl /usr/local/bin/
COPY vc-webhook-manager gen-admission-secret.sh /
ENTRYPOINT ["/vc-webhook-manager"]'
  pack "registry.k8s.io/kwok/kwok:$kwok" "$bin/kwok" <<<'FROM scratch
COPY kwok /usr/local/bin/
ENTRYPOINT ["/usr/local/bin/kwok"]'
  docker save --output="$work/node/images.tar" "${names[@]}"
}

go run ./cmd/paddle-sandbox build --kind >&2
(cd hack/kubectl && go build -ldflags "-s -w" -o "$bin/kubectl" .)
made_from=$(cat hack/kind/{node.sh,node/*,go.sum} hack/kubectl/go.sum "$bin"/.{kubeadm,coredns,kwok}.stamp - <<<"$debian_release" | sha256sum | cut -c1-12)
image=localhost/paddle-kind-node:$kubernetes-$made_from
if ! have_image "$image"; then
  say "making the node's image $image from Debian's packages and Go modules (minutes, once)" >&2
  unpack_docker
  rm -rf "$work"
  mkdir -p "$work/node"
  debian localhost/paddle-kind-tools bash,conntrack,coreutils,grep,ipset,iptables,kmod,openssl,sed extract
  debian localhost/paddle-kind-debian \
    systemd,systemd-sysv,dbus,conntrack,iptables,nftables,iproute2,ethtool,util-linux,mount,kmod,libseccomp2,e2fsprogs,bash,ca-certificates,curl,jq,procps,ipset,containerd,runc,containernetworking-plugins minbase
  pack_all
  cp -r "$kind_module/images/base/files" hack/kind/node/* "$bin"/{kubeadm,kubelet,kubectl} "$work/node/"
  chmod -R u+w "$work/node"
  echo -n "$kubernetes" >"$work/node/version"
  docker build --quiet --tag="$image" "$work/node" >/dev/null
  rm -rf "$work"
fi
echo "$image"
