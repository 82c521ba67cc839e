#!/usr/bin/env bash
# Fails when go mod tidy would change the go.mod or go.sum of any module of this repository.
set -euo pipefail
cd "$(dirname "$0")/.."

for mod in . hack/*/ hack/peers/*/; do
  (cd "$mod" && go mod tidy -diff) || {
    echo "verify: $mod/go.mod is not tidy (difference above); run go mod tidy there" >&2
    exit 1
  }
done
echo "verify: modules are tidy"
