# shellcheck shell=bash
# Docker for a machine that has none running: Debian's packages, unpacked and not installed, in separate namespaces. Read by
# cluster.sh. What dockerd does to mounts, links, iptables and sysctls of the network ends with the namespaces; docker and kind
# reach it by a socket that is a file, and only programs that talk to the API server need in_box.

cache=$PWD/_output/kind-node
socket=$cache/docker.sock
# dockerd cannot have another root of cgroups, so all of its cgroups are below this one.
cgroup=paddle-kind
# Debian changes the packages of bookworm's main suite only with a release. So the number of the release is the version of each.
debian_release=12.15
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

# use_box makes docker and kind use the box's dockerd.
use_box() { export DOCKER_HOST=unix://$socket DOCKER_BUILDKIT=0 PATH=$cache/packages/usr/bin:$PATH; }

# debian_apt ARGUMENT... runs apt-get with this suite only. It does not change the machine's lists.
debian_apt() {
  apt-get -qq -o APT::Sandbox::User=root -o Dir::Etc::SourceList="$cache/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::State::Lists="$cache/apt/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= "$@"
}

# debian_mirror prints the address of this machine's mirror of Debian 12. It fails if another release is there.
debian_mirror() {
  local mirror there
  # shellcheck disable=SC2016 # apt-get's format
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' | awk '$2 == "bookworm" { print $1; exit }')
  [ -n "$mirror" ] || fail 3 "apt knows no mirror of Debian 12 (bookworm), whose packages the cluster's node is made of"
  rm -rf "$cache/apt"
  mkdir -p "$cache/apt/lists/partial"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bookworm main" >"$cache/apt/sources.list"
  debian_apt update >&2 || fail 3 "Debian's packages cannot be listed: look at what apt-get update says"
  there=$(sed -n 's/^Version: //p' "$cache"/apt/lists/*_InRelease)
  [ "$there" = "$debian_release" ] ||
    fail 1 "$mirror has the packages of Debian $there, and hack/kind/box.sh is pinned to those of $debian_release, which a mirror no longer has then: set debian_release=$there, and run make test-kind"
  echo "$mirror"
}

# unpack_docker unpacks once for each pinned release, and not while Docker runs from it.
unpack_docker() {
  ! box_pid >/dev/null || return 0
  [ "$(cat "$cache/packages/release" 2>/dev/null)" != "$debian_release" ] || return 0
  say "downloading ${docker_packages[*]} of Debian $debian_release; nothing is installed" >&2
  local fresh=$cache/packages.new archive
  debian_mirror >/dev/null || exit
  rm -rf "$fresh" "$cache/packages"
  mkdir -p "$fresh/archives"
  (cd "$fresh/archives" && debian_apt download "${docker_packages[@]}") || fail 3 "Debian's packages cannot be downloaded: look at what apt-get update says"
  for archive in "$fresh"/archives/*.deb; do
    dpkg --extract "$archive" "$fresh"
  done
  rm -rf "$fresh/archives"
  mkdir -p "$fresh/usr/lib/modules" # kind hands this folder to the node, and Docker could not make it
  for program in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
    ln -s xtables-nft-multi "$fresh/usr/sbin/$program"
  done
  echo "$debian_release" >"$fresh/release"
  mv "$fresh" "$cache/packages"
}

# with_packages COMMAND... runs a command that sees the packages in /usr. No other process does.
with_packages() {
  # shellcheck disable=SC2016 # the inner shell expands it
  exec unshare --mount sh -ec 'mount -t overlay -o "lowerdir=$1/usr:/usr" overlay /usr; shift; exec "$@"' sh "$cache/packages" "$@"
}

# machine_state prints what Docker, kind or a node could leave on this machine. Counters of the kernel are left out.
machine_state() {
  local family
  cut -d' ' -f4- /proc/self/mountinfo
  ip -oneline link
  ip -oneline address
  for family in 4 6; do
    ip -$family rule
    ip -$family route show table all
  done
  for family in iptables ip6tables; do
    (with_packages $family-save) | sed '/^#/d; s/ \[[0-9]*:[0-9]*\]$//'
  done
  { grep -rs . /proc/sys --exclude-dir=quota --exclude={aio-nr,dentry-state,entropy_avail,file-nr,inode-nr,inode-state,nf_conntrack_count,nr,ns_last_pid,perf_event_max_sample_rate,uuid} || true; } | sort # not all can be read
  find /sys/fs/cgroup -maxdepth 2 \( -name "$cgroup" -o -name 'docker*' -o -name 'kube*' \)
  ls -d /etc/cni /opt/cni /{run,var/lib}/{cni,containerd,docker,kube}* /run/netns 2>/dev/null || true
}

start_box() {
  unpack_docker
  say "starting Docker in separate namespaces"
  rm -f "$socket"
  machine_state >"$cache/machine"
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

# stop_box ends all processes of the box, and removes its cgroups. It fails if the machine is not as it was before.
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
  [ -e "$cache/machine" ] || return 0
  machine_state | diff "$cache/machine" - >&2 || fail 1 "the machine is not as it was before Docker was started: the lines with > are new, those with < are gone"
  rm "$cache/machine"
}
