# shellcheck shell=bash
# Docker for a machine that has none running: Debian's packages, unpacked and not installed, in namespaces of their own. Read by
# cluster.sh. What dockerd does to mounts, links, iptables and sysctls of the network ends with the namespaces; docker and kind
# reach it by a socket that is a file, and only programs that talk to the API server need in_box.

cache=$PWD/_output/kind-node
socket=$cache/docker.sock
# Cgroups have no namespace that dockerd could be given, so its own are all below this one.
cgroup=paddle-kind
docker_packages=(docker.io containerd runc iptables mmdebstrap
  libdevmapper1.02.1 libip4tc2 libip6tc2 libmnl0 libnetfilter-conntrack3 libnfnetlink0 libnftnl11 libseccomp2 libxtables12)

# box_pid prints the number of the box's first process; it fails if there is no box.
box_pid() {
  local outer inner
  outer=$(cat "$cache/box.pid" 2>/dev/null) && [ "$(cat "/proc/$outer/comm" 2>/dev/null)" = unshare ] &&
    inner=$(cat "/proc/$outer/task/$outer/children") && [ -n "$inner" ] && echo "${inner% }"
}

# why_no_box prints what this machine lacks to run Docker in a box.
why_no_box() {
  [ "$EUID" = 0 ] || { echo "this user is not root"; return; }
  local program
  for program in apt-get dpkg ip mount nsenter setsid unshare; do
    command -v "$program" >/dev/null || { echo "$program is not installed"; return; }
  done
}

# in_box COMMAND... runs a command where 127.0.0.1 is the cluster's.
in_box() {
  local pid
  if pid=$(box_pid); then nsenter --target="$pid" --net "$@"; else "$@"; fi
}

# use_box makes docker and kind speak to the box's dockerd.
use_box() { export DOCKER_HOST=unix://$socket DOCKER_BUILDKIT=0 PATH=$cache/packages/usr/bin:$PATH; }

unpack_docker() {
  [ -e "$cache/packages/versions" ] && return
  say "downloading Debian's ${docker_packages[*]}; nothing is installed"
  local fresh=$cache/packages.new archive
  rm -rf "$fresh"
  mkdir -p "$fresh/archives"
  download() { (cd "$fresh/archives" && apt-get -qq -o APT::Sandbox::User=root download "${docker_packages[@]}"); }
  download || { apt-get -qq update && download; } || fail 3 "Debian's packages cannot be downloaded; look at what apt-get update says"
  for archive in "$fresh"/archives/*.deb; do
    dpkg --extract "$archive" "$fresh"
    basename "$archive" .deb >>"$fresh/versions"
  done
  rm -rf "$fresh/archives"
  mkdir -p "$fresh/usr/lib/modules" # kind hands this folder to the node, and Docker could not make it
  for program in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
    ln -s xtables-nft-multi "$fresh/usr/sbin/$program"
  done
  mv "$fresh" "$cache/packages"
}

# with_packages COMMAND... runs a command that sees the packages in /usr; nobody else does.
with_packages() {
  # shellcheck disable=SC2016 # the inner shell expands it
  exec unshare --mount sh -ec 'mount -t overlay -o "lowerdir=$1/usr:/usr" overlay /usr; shift; exec "$@"' sh "$cache/packages" "$@"
}

start_box() {
  unpack_docker
  say "starting Docker in namespaces of its own"
  rm -f "$socket"
  # shellcheck disable=SC2016 # the inner shell expands it
  (with_packages setsid unshare --net --pid --uts --ipc --fork --kill-child --mount-proc bash -ec '
    mount -t tmpfs tmpfs /run
    mkdir -p /run/lock
    ip link set lo up
    dockerd --data-root="$1/docker" --exec-root=/run/docker --pidfile=/run/docker.pid --host="unix://$1/docker.sock" \
      --cgroup-parent="/$2" --add-runtime="box=$3" --default-runtime=box &
    trap "kill $!" TERM
    until wait; do :; done' \
    bash "$cache" "$cgroup" "$PWD/hack/kind/runc") >"$cache/dockerd.log" 2>&1 </dev/null &
  echo $! >"$cache/box.pid"
  use_box
  until_done "Docker in the box (its log is $cache/dockerd.log)" docker info
}

# stop_box ends all that runs in the box, and removes what outlives it: its cgroups.
stop_box() {
  local pid end=$((SECONDS + 30)) mount
  if pid=$(box_pid); then
    say "stopping Docker"
    kill "$pid"
    while box_pid >/dev/null; do
      [ $SECONDS -lt $end ] || kill -KILL "$pid"
      sleep 0.2
    done
  fi
  rm -f "$socket" "$cache/box.pid"
  for mount in /sys/fs/cgroup /sys/fs/cgroup/*; do
    [ ! -d "$mount/$cgroup" ] || find "$mount/$cgroup" -depth -type d -exec rmdir {} +
  done
}
