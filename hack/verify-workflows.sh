#!/usr/bin/env bash
# Fails when actionlint finds anything in a workflow of GitHub's, or when a workflow builds with another compiler than the Dockerfiles.
set -euo pipefail
cd "$(dirname "$0")/.."

bin=$PWD/_output/bin
(cd hack/actionlint && CGO_ENABLED=0 GOBIN=$bin go install tool)
# The scripts in the workflows are checked where shellcheck is installed, or unpacked by verify-shell.sh.
shellcheck=$(command -v shellcheck || echo "$PWD/_output/shellcheck/usr/bin/shellcheck")
"$bin/actionlint" -shellcheck "$shellcheck" -pyflakes= .github/workflows/*.yaml
compiler=$(sed -n 's/^FROM golang:\(\S*\) AS build$/\1/p' deploy/docker/controller.Dockerfile)
if grep -n 'go-version:' .github/workflows/*.yaml | grep -v "go-version: $compiler\$"; then
  echo "verify: the workflows above do not build with Go $compiler, as deploy/docker does" >&2
  exit 1
fi
echo "verify: workflows are clean"
