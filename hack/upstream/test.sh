#!/usr/bin/env bash
# Applies each patch of this folder to the version of Volcano that go.mod has. The patch's tests have to fail without
# its change and to pass with it. Its benchmarks run both ways.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

source=$(cd "$root" && go mod download volcano.sh/volcano && go list -m -f '{{.Dir}}' volcano.sh/volcano)
for patch in "$here"/*.patch; do
  name=$(basename "$patch" .patch)
  work=$root/_output/upstream/$name
  rm -rf "$work"
  mkdir -p "$work"
  cp -r "$source/." "$work"
  chmod -R u+w "$work"
  cd "$work"
  git init --quiet # git apply takes a folder of another repository for one of its own
  packages=$(sed -nE 's#^\+\+\+ b/(.*)/[^/]*_test\.go$#./\1#p' "$patch" | sort -u)
  tests=$(sed -nE 's#^\+func (Test[^(]*).*#\1#p' "$patch" | paste -sd '|')
  benchmarks=$(sed -nE 's#^\+func (Benchmark[^(]*).*#\1#p' "$patch" | paste -sd '|')

  git apply --include='*_test.go' "$patch"
  echo "upstream: $name: without the change"
  # shellcheck disable=SC2086 # one or more packages
  if go test -count=1 -run "^($tests)\$" $packages >"$work/without.log" 2>&1; then
    echo "upstream: $name: $tests pass without the change" >&2
    exit 1
  fi
  grep -E '^ +[a-z_]+\.go:[0-9]+: ' "$work/without.log" || { # it has to fail for what a test says, not because it does not compile
    cat "$work/without.log" >&2
    exit 1
  }
  [ -z "$benchmarks" ] || go test -run '^$' -bench "^($benchmarks)\$" -benchtime 5x $packages

  git apply --exclude='*_test.go' "$patch"
  echo "upstream: $name: with the change"
  go test -count=1 -run "^($tests)\$" -bench "^(${benchmarks:-none})\$" -benchtime 5x $packages
done
