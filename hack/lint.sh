#!/usr/bin/env bash
# Runs the golangci-lint that hack/lint pins, with the arguments given.
set -euo pipefail
cd "$(dirname "$0")/.."

bin=$PWD/_output/bin
echo "lint: building golangci-lint (a minute or two the first time)"
(cd hack/lint && CGO_ENABLED=0 GOBIN=$bin go install tool)
CGO_ENABLED=0 "$bin/golangci-lint" run "$@"
