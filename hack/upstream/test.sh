#!/usr/bin/env bash
# Applies each patch for Volcano, and those for kwok, to the version that a go.mod of this repository has. The patch's tests
# have to fail without its change and to pass with it. Its benchmarks run both ways.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)

# check PINS MODULE PATCH: PINS is the folder whose go.mod has the module.
check() (
  module=$2 patch=$root/$3
  name=$(basename "$patch" .patch)
  work=$root/_output/upstream/$name
  cd "$root/$1"
  source=$(go mod download "$module" && go list -m -f '{{.Dir}}' "$module")
  rm -rf "$work"
  mkdir -p "$work/source"
  cp -r "$source/." "$work/source"
  chmod -R u+w "$work"
  git -C "$work/source" init --quiet # else git apply would look for the files in this repository
  # The patched module is built with the versions of its dependencies that the folder's go.mod has.
  cp go.mod go.sum "$work"
  go mod edit -modfile="$work/go.mod" -replace "$module=$work/source"
  packages=$(sed -nE "s#^\+\+\+ b/(.*)/[^/]*_test\.go\$#$module/\1#p" "$patch" | sort -u)
  tests=$(sed -nE 's#^\+func (Test[^(]*).*#\1#p' "$patch" | paste -sd '|')
  benchmarks=$(sed -nE 's#^\+func (Benchmark[^(]*).*#\1#p' "$patch" | paste -sd '|')
  # shellcheck disable=SC2086 # one or more packages
  run() { go test -modfile="$work/go.mod" -mod=mod -count=1 "$@" $packages; }

  git -C "$work/source" apply --include='*_test.go' "$patch"
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

  git -C "$work/source" apply --exclude='*_test.go' "$patch"
  echo "upstream: $name: with the change"
  run -run "^($tests)\$" -bench "^(${benchmarks:-none})\$" -benchtime 5x
)

cd "$root"
for patch in hack/upstream/*.patch; do check . volcano.sh/volcano "$patch"; done
for patch in hack/kwok/*.patch; do check hack/kwok sigs.k8s.io/kwok "$patch"; done
