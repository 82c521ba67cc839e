#!/usr/bin/env bash
# Fails when a vulnerability that Go's database knows is reached from our programs. The database is on the network (or where
# GOVULNDB says); where it cannot be reached that is said loudly, and nothing fails.
set -euo pipefail
cd "$(dirname "$0")/.."

database=${GOVULNDB:-https://vuln.go.dev}
if ! reason=$(curl --fail --silent --show-error --max-time 20 --output /dev/null "$database/index/modules.json" 2>&1); then
  echo "verify: ATTENTION: vulnerabilities were NOT CHECKED: the database $database cannot be read here ($reason)" >&2
  exit 0
fi
bin=$PWD/_output/bin
(cd hack/vuln && CGO_ENABLED=0 GOBIN=$bin go install tool)
echo "verify: looking for known vulnerabilities that our programs reach (minutes)"
CGO_ENABLED=0 "$bin/govulncheck" -db "$database" ./cmd/...
echo "verify: no known vulnerability is reached"
