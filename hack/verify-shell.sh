#!/usr/bin/env bash
# Fails when shellcheck finds anything in a shell script of the repository. Where it is not installed, Debian's package is
# downloaded and unpacked into _output; nothing is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

shellcheck=$(command -v shellcheck || true)
if [ -z "$shellcheck" ]; then
  dir=$PWD/_output/shellcheck
  shellcheck=$dir/usr/bin/shellcheck
  if [ ! -x "$shellcheck" ]; then
    if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
      echo "verify: shellcheck is not installed, and cannot be fetched without apt-get and dpkg: install it" >&2
      exit 1
    fi
    echo "verify: unpacking Debian's shellcheck into $dir"
    rm -rf "$dir.new"
    mkdir -p "$dir.new"
    # As root apt would download as the user _apt, who may not write here. Fresh machines have no lists of packages yet.
    download() { (cd "$dir.new" && apt-get -qq -o APT::Sandbox::User=root download shellcheck); }
    download || { apt-get -qq update && download; } || {
      echo "verify: shellcheck could not be downloaded: install it, or run apt-get update" >&2
      exit 1
    }
    dpkg --extract "$dir.new"/shellcheck_*.deb "$dir.new"
    rm -rf "$dir"
    mv "$dir.new" "$dir"
  fi
fi

# A script begins with a line that names a shell, or ends in .sh where another reads it.
scripts=()
while IFS= read -r -d '' file; do
  if [[ $file == *.sh ]] || head -n 1 "$file" | grep -q '^#!'; then
    scripts+=("$file")
  fi
done < <(git grep -lzE --untracked '^#!.*\b(ba|da)?sh\b|^# shellcheck shell=')
"$shellcheck" --external-sources "${scripts[@]}"
echo "verify: ${#scripts[@]} shell scripts are clean"
