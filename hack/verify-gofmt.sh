#!/usr/bin/env bash
# Fails when gofmt would change a Go file.
set -euo pipefail
cd "$(dirname "$0")/.."

bad=$(gofmt -l cmd controller deploy hack plugins test)
if [ -n "$bad" ]; then
  printf 'verify: run gofmt -w on:\n%s\n' "$bad" >&2
  exit 1
fi
echo "verify: code is formatted"
