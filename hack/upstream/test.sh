#!/usr/bin/env bash
# Applies each patch of this folder to the version of Volcano that go.mod has. The patch's tests have to fail without
# its change and to pass with it. Its benchmarks run both ways.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

cd "$root"
source=$(go mod download volcano.sh/volcano && go list -m -f '{{.Dir}}' volcano.sh/volcano)
for patch in "$here"/*.patch; do
  name=$(basename "$patch" .patch)
  work=$root/_output/upstream/$name
  rm -rf "$work"
  mkdir -p "$work/volcano"
  cp -r "$source/." "$work/volcano"
  chmod -R u+w "$work"
  git -C "$work/volcano" init --quiet # else git apply would look for the files in this repository
  # The patched Volcano is built with the versions of its dependencies that this module has.
  cp go.mod go.sum "$work"
  go mod edit -modfile="$work/go.mod" -replace "volcano.sh/volcano=$work/volcano"
  packages=$(sed -nE 's#^\+\+\+ b/(.*)/[^/]*_test\.go$#volcano.sh/volcano/\1#p' "$patch" | sort -u)
  tests=$(sed -nE 's#^\+func (Test[^(]*).*#\1#p' "$patch" | paste -sd '|')
  benchmarks=$(sed -nE 's#^\+func (Benchmark[^(]*).*#\1#p' "$patch" | paste -sd '|')
  # shellcheck disable=SC2086 # one or more packages
  run() { go test -modfile="$work/go.mod" -mod=mod -count=1 "$@" $packages; }

  git -C "$work/volcano" apply --include='*_test.go' "$patch"
  echo "upstream: $name: without the change"
  if run -run "^($tests)\$" >"$work/without.log" 2>&1; then
    echo "upstream: $name: $tests pass without the change" >&2
    exit 1
  fi
  grep -E '^ +[a-z_]+\.go:[0-9]+: ' "$work/without.log" || { # it has to fail for what a test says, not because it does not compile
    cat "$work/without.log" >&2
    exit 1
  }
  [ -z "$benchmarks" ] || run -run '^$' -bench "^($benchmarks)\$" -benchtime 5x

  git -C "$work/volcano" apply --exclude='*_test.go' "$patch"
  echo "upstream: $name: with the change"
  run -run "^($tests)\$" -bench "^(${benchmarks:-none})\$" -benchtime 5x
done
