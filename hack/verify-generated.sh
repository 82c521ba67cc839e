#!/usr/bin/env bash
# Regenerates everything and fails when that changes a file. Compares with the tree as it was, so uncommitted work is fine.
set -euo pipefail
cd "$(dirname "$0")/.."

generated=(controller/api deploy/docs/reference/api.md controller/client deploy/v1 deploy/trainer deploy/helm/paddle-volcano/README.md)
before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
cp -a --parents "${generated[@]}" "$before"

hack/generate.sh

stale=0
for path in "${generated[@]}"; do
  diff -ru "$before/$path" "$path" || stale=1
done
if [ $stale -ne 0 ]; then
  echo "verify: generated files were stale (difference above); commit what make generate has written" >&2
  exit 1
fi
echo "verify: generated files are fresh"
