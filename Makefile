# Every target installs what it needs, pinned in go.mod and hack/*/go.mod; a fresh machine needs Go, git, make and a C
# compiler (for the race detector) and nothing else.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

OUT := _output
BIN := $(OUT)/bin
# Static binaries, the same that the Dockerfiles build.
GO_BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w"
TEST_FLAGS ?=
TEST_PACKAGES ?= ./...

##@ Use

.PHONY: demo
demo: ## Watch the PaddleJobs of the documentation train on a real control plane (no Docker, no cluster)
	go run ./cmd/paddle-demo

.PHONY: test
test: plane ## Run every test, with the race detector; the integration tests start real control planes
	go test -race -timeout 40m $(TEST_FLAGS) $(TEST_PACKAGES)

.PHONY: build
build: ## Build all commands into _output/bin
	mkdir -p $(BIN)
	$(GO_BUILD) -o $(BIN)/ ./cmd/...

##@ Develop

.PHONY: verify
verify: ## Check that generated files are fresh, modules tidy, code formatted, vetted and linted
	hack/verify-generated.sh
	hack/verify-modules.sh
	hack/verify-gofmt.sh
	CGO_ENABLED=0 go vet ./...
	hack/lint.sh

.PHONY: generate
generate: ## Regenerate deep copies, clients and the CRD from controller/apis
	hack/generate.sh

.PHONY: plane
plane: ## Build the sandbox's control plane (etcd, Kubernetes, Volcano, kwok) from Go modules, once
	go run ./cmd/paddle-sandbox build

.PHONY: clean
clean: ## Remove everything that was built or measured
	rm -rf $(OUT)

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*##"; print "Usage: make <target>"} \
	  /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*##/ {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
