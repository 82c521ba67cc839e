#!/usr/bin/env bash
# Fails when a vulnerability that Go's database knows is reached from the project's programs. The database is on the network (or where
# GOVULNDB says). Where it cannot be read the check is skipped, which is an error if SKIPS names a list without this script.
set -euo pipefail
cd "$(dirname "$0")/.."

database=${GOVULNDB:-https://vuln.go.dev}
if ! reason=$(curl --fail --silent --show-error --max-time 20 --output /dev/null "$database/index/modules.json" 2>&1); then
  echo "SKIP: hack/verify-vulnerabilities.sh: the database $database cannot be read here ($reason)" >&2
  if [ -n "${SKIPS:-}" ] && ! grep -q '^hack/verify-vulnerabilities.sh ' "$SKIPS"; then
    echo "verify: hack/verify-vulnerabilities.sh is not listed in $SKIPS: make the database readable, or list it with the reason" >&2
    exit 1
  fi
  exit 0
fi
bin=$PWD/_output/bin
(cd hack/vuln && CGO_ENABLED=0 GOBIN=$bin go install tool)
echo "verify: looking for known vulnerabilities that the programs reach (minutes)"
CGO_ENABLED=0 "$bin/govulncheck" -db "$database" ./cmd/...
echo "verify: no known vulnerability is reached"
