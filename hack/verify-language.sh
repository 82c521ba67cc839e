#!/usr/bin/env bash
# Fails when Vale finds an error in the English of documents, comments, messages or the chart's values (.vale.ini).
# Arguments are the files to check instead of all.
set -euo pipefail
cd "$(dirname "$0")/.."

bin=$PWD/_output/bin
echo "verify: building Vale (some minutes the first time: its parsers are C)"
(cd hack/vale && CGO_ENABLED=1 GOBIN=$bin go install tool)

# The CRD's descriptions are the comments of controller/api.
files=("$@")
[ $# -gt 0 ] || mapfile -t files < <(git ls-files --cached --others --exclude-standard -- \
  '*.md' 'cmd/*.go' 'controller/*.go' 'plugins/*.go' 'deploy/*.go' 'test/*.go' 'hack/*.go' 'deploy/**/values.yaml' 'deploy/examples/*.yaml' 'deploy/dashboards/*.yaml' \
  plugins/paddle/report/catalog/en.yaml \
  ':!*.zh.md' ':!deploy/docs/zh' ':!*_test.go' ':(exclude,glob)test/bench/trace/*.go' ':!test/session/cluster' ':!controller/client' ':!**/zz_generated*')
"$bin/vale" --config .vale.ini --no-wrap --output line "${files[@]}"
echo "verify: the language of ${#files[@]} files is that of .vale.ini"
