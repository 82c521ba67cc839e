# Every target installs what it needs, pinned in go.mod and hack/*/go.mod; a fresh machine needs Go, git, make and a C
# compiler (for the race detector) and nothing else.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

OUT := _output
BIN := $(OUT)/bin
# Without cgo, as the sandbox builds its parts: all share one set of compiled packages. Only the race detector needs cgo.
GO := CGO_ENABLED=0 go
TEST_FLAGS ?=
# All but those of the targets test-real and verify.
TEST_PACKAGES ?= $$(go list ./... | grep -vE '/(test/real|deploy)$$')
# What go test prints, and a list of what was skipped; with SKIPS=FILE an error if FILE does not list it. verify vets all code.
GOTEST := go run ./hack/gotest -vet=off

##@ Use

.PHONY: demo
demo: ## Watch the PaddleJobs of the documentation train on a real control plane (no Docker, no cluster); REAL=1: one in real containers
	$(GO) run ./cmd/paddle-demo $(if $(REAL),--real)

# The race detector instruments what runs inside the test's process: packages that start goroutines. The other tests
# are pure or drive programs that are built without it, and share the compiled packages of those.
# Go's cache of test results knows all inputs of PURE_PACKAGES: they read nothing but files of the repository and start no
# program of it. It does not know that the programs of a sandbox have changed, nor what programs read that a test starts: all
# other tests run with -count=1. cmd/paddle-plugin needs cgo, as the race detector does.
PURE_PACKAGES := plugins/placement|plugins/paddle/(config|constraints|diagnose|enqueue|history|job|metrics|nominate|planner|preempt|report|reporter|score|status|topology)|controller/(builder|validation|paddlejob/(lifecycle|observed)|versions|volcano)|cmd/kubectl-paddle/(cluster|describe|drawing|migrate|plan|simulation|snapshot)|cmd/paddle-(bench|scheduler)|test/(bars|boundaries|conformance|crd|placement|podgroup|sandbox/(box|launch|node|pki|stages|topology)|session|stats|vcjob)|test/bench/(audit|gate|report|result|trace|live/(limit|load|times|usage))
RACE_PACKAGES := controller|cmd/(kubectl-paddle|paddle-barrier|paddle-plugin|paddlejob-controller)|test/sandbox

# They run before the other packages of their kind, so that none runs alone at the end.
LONGEST_RACE_PACKAGES := plugins/paddle
LONGEST_PACKAGES := test/(faults|jobs|manifests)

.PHONY: test
test: plane ## Run the tests, those of concurrent packages with the race detector; the integration tests start real control planes
	@rest=$$(go list $(TEST_PACKAGES)); \
	take() { picked=$$(grep -E "^[^/]+/[^/]+/[^/]+/($$1)(/|\$$)" <<<"$$rest" || true); rest=$$(grep -vxF "$$picked" <<<"$$rest" || true); }; \
	failed=; \
	take '$(PURE_PACKAGES)'; \
	[ -z "$$picked" ] || CGO_ENABLED=0 $(GOTEST) -timeout 40m $(TEST_FLAGS) $$picked || failed=1; \
	take '$(LONGEST_RACE_PACKAGES)'; longest=$$picked; \
	take '$(RACE_PACKAGES)'; \
	[ -z "$$longest$$picked" ] || CGO_ENABLED=1 $(GOTEST) -race -count=1 -timeout 40m $(TEST_FLAGS) $$longest $$picked || failed=1; \
	take '$(LONGEST_PACKAGES)'; \
	[ -z "$$picked$$rest" ] || CGO_ENABLED=0 $(GOTEST) -count=1 -timeout 40m $(TEST_FLAGS) $$picked $$rest || failed=1; \
	[ -z "$$failed" ]

.PHONY: test-all
test-all: ## Test everything, as a release needs it: all faults, 500 nodes, the commands of the documents, kind, 30 minutes of soak (2 hours)
	$(MAKE) verify demo
	TEST_ALL=1 $(MAKE) test test-real test-kind
	$(MAKE) test-upstream
	$(MAKE) soak

.PHONY: test-docs
test-docs: plane ## Run every command and judge every manifest of the documents, follow their links, and list what is not run
	TEST_ALL=1 $(GO) test -v -count=1 -timeout 30m $(TEST_FLAGS) ./test/docs

.PHONY: test-real
test-real: plane ## Train some jobs in real containers (as root, or rootless where the machine allows it); TEST_ALL=1: all of them
	REAL=1 CGO_ENABLED=0 $(GOTEST) -v -count=1 -timeout 40m $(TEST_FLAGS) ./test/real

.PHONY: test-kind
test-kind: ## Test images, charts and manifests as users install them, in a cluster of kind's; KEEP=1 keeps it; skipped without Docker
	hack/kind/test.sh

.PHONY: test-upstream
test-upstream: ## Test the patches for Volcano (hack/upstream) and kwok (hack/kwok): their tests fail without the change and pass with it (minutes the first time)
	hack/upstream/test.sh

.PHONY: build
build: ## Build all commands into _output/bin
	mkdir -p $(BIN)
	$(GO) build -ldflags "-s -w" -o $(BIN)/ ./cmd/...

# Kubernetes 1.x.y has its kubectl in version 0.x.y of the module.
.PHONY: kubectl
kubectl: ## Build kubectl, its plugin "kubectl paddle" and the simulator that the plugin asks into _output/bin
	cd hack/kubectl && $(GO) build -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$$($(GO) list -m -f '{{.Version}}' k8s.io/kubectl | sed s/^v0/v1/)" -o ../../$(BIN)/kubectl .
	$(GO) build -ldflags "-s -w" -o $(BIN)/ ./cmd/kubectl-paddle ./cmd/paddle-simulator
	install cmd/kubectl-paddle/kubectl_complete-paddle $(BIN)/

# Host and plugin must be built from the same versions with the same flags. The tags make of net and os/user what they are
# without cgo, so that most packages of the host come from the cache that all other builds share.
PLUGIN_BUILD := CGO_ENABLED=1 go build -tags netgo,osusergo -ldflags "-s -w"

.PHONY: plugin-so
plugin-so: ## Build paddle.so and a scheduler of Volcano's that loads it (--plugins-dir) into _output/plugin; needs a C compiler
	mkdir -p $(OUT)/plugin
	$(PLUGIN_BUILD) -o $(OUT)/plugin/vc-scheduler volcano.sh/volcano/cmd/scheduler
	$(PLUGIN_BUILD) -buildmode=plugin -o $(OUT)/plugin/paddle.so ./cmd/paddle-plugin

##@ Measure

SEED ?= 1
FUZZTIME ?= 10m
PADDLE_BENCH := $(BIN)/paddle-bench
QUICK := $(OUT)/quick

.PHONY: bench
bench: plane $(PADDLE_BENCH) ## Measure a slice of everything and make one page of it, _output/quick/bench/report.html (15 minutes)
	$(PADDLE_BENCH) live --quick --out $(QUICK)/bench
	$(PADDLE_BENCH) trace --loads 0.85 --seeds 1 --jobs 200 --out $(QUICK)/bench
	$(PADDLE_BENCH) controller --jobs 60 --nodes 20 --run-for 1m --rounds 1 --out $(QUICK)/bench
	$(PADDLE_BENCH) session --short --largest 1000 --only speed,quality --runs 3 --clusters 1 --out $(QUICK)/bench
	$(PADDLE_BENCH) placement --instances 1000 --clusters 100 --no-tenfold --out $(QUICK)/bench
	$(PADDLE_BENCH) report --out $(QUICK)

.PHONY: bench-gate
bench-gate: plane $(PADDLE_BENCH) ## Compare what is stable with the figures that test/bench/gate keeps: costs, allocations, writes, processor time; KEEP=1: keep those of five runs
	$(PADDLE_BENCH) gate $(if $(KEEP),--keep 5)

# Whole are the controller, and of live and the trace what has bars. Of live's many other cases it is a twentieth: every cluster
# and gang for the scheduler alone, and one case of the two forms that the Job controller makes pods of. Session and placement,
# which need no control plane, have targets of their own that take hours; here it is a part of them. What has ended is marked, so
# that a run that was stopped goes on; rm -r _output/full _output/bench begins anew.
FULL := $(OUT)/full
.PHONY: bench-full
bench-full: $(addprefix $(FULL)/,bar-live bench-controller bench-trace more-live bench-session bench-placement) report ## Measure in full what this project promises, and make one page of it (about 3 hours on two cores; a second run goes on where the first was stopped)

$(FULL)/%:
	$(MAKE) $* TRACE="--keep --loads 0.85" SESSION="--short --clusters 1" PLACEMENT="--instances 5000 --clusters 200 --no-tenfold"
	mkdir -p $(FULL) && git rev-parse HEAD > $@

.PHONY: bar-live more-live
bar-live: plane $(PADDLE_BENCH)
	$(PADDLE_BENCH) live --keep --nodes 5000 --cases 500x20 --forms podgroup --scale 1 --out $(OUT)/bench
more-live: plane $(PADDLE_BENCH)
	$(PADDLE_BENCH) live --keep --forms podgroup --scale 0.05 --rounds 2 --takeovers 0 --out $(OUT)/bench
	$(PADDLE_BENCH) live --keep --forms vcjob,paddlejob --nodes 5000 --cases 500x20 --scale 0.05 --rounds 2 --takeovers 0 --out $(OUT)/bench

.PHONY: report
report: $(PADDLE_BENCH) ## Make one page of what was measured, _output/bench/report.html
	$(PADDLE_BENCH) report --out $(OUT)

.PHONY: $(PADDLE_BENCH)
$(PADDLE_BENCH):
	$(GO) build -o $@ ./cmd/paddle-bench

.PHONY: bench-placement
bench-placement: ## Measure the planner against brute force, baselines and the clock; SEED=n draws other instances
	$(GO) run ./cmd/paddle-bench placement --seed $(SEED) --out $(OUT)/bench $(PLACEMENT)

.PHONY: bench-session
bench-session: ## Measure the plugin inside Volcano's sessions: time, quality, heap (45 to 80 minutes, 6 GiB of memory); SEED=n draws other clusters
	$(GO) run ./cmd/paddle-bench session --seed $(SEED) --out $(OUT)/bench $(SESSION)

.PHONY: bench-controller
bench-controller: plane ## Measure the controller: 1,000 PaddleJobs beside 1,000 raw Volcano Jobs on a sandbox (about an hour)
	$(GO) run ./cmd/paddle-bench controller --out $(OUT)/bench

.PHONY: bench-trace
bench-trace: ## Play a public trace of training jobs in virtual time with set-ups of Volcano, rules of other schedulers and the plugin (about 2 hours); SEED=n draws other jobs
	$(GO) run ./cmd/paddle-bench trace --seed $(SEED) --out $(OUT)/bench $(TRACE)

LIVE ?=

.PHONY: bench-live
bench-live: plane ## Have schedulers bind the same gangs in turn on live control planes, beside clients that only write (hours; LIVE=--quick: minutes)
	$(GO) run ./cmd/paddle-bench live --out $(OUT)/bench $(LIVE)

PEERS ?=

.PHONY: bench-peers
bench-peers: plane ## Have schedulers of other projects, Volcano's and ours place the same gangs, each on a new control plane (2 hours; PEERS=--kubernetes=1.37: those of Kubernetes 1.37)
	$(GO) run ./cmd/paddle-bench peers --out $(OUT)/bench $(PEERS)

.PHONY: kind-up
kind-up: ## Make a cluster of kind's with Volcano, our programs and NODES simulated nodes (500); needs Docker, or root on Debian
	hack/kind/up.sh

.PHONY: kind-bench
kind-bench: ## Measure Volcano's scheduler and ours in turn on the cluster of kind-up; BENCH has flags, such as --scale=1
	hack/kind/bench.sh $(BENCH)

.PHONY: kind-down
kind-down: ## Remove the cluster of kind-up
	hack/kind/down.sh

SOAK ?= 30m

.PHONY: soak
soak: plane ## Let random jobs come, go, break and change for SOAK on a sandbox; nothing may be left over, and nothing may grow
	$(GO) run ./cmd/paddle-bench soak --for $(SOAK) --seed $(SEED) --out $(OUT)/soak

.PHONY: faults
faults: plane ## Kill the controller, and stop the leader, at every single write of a job's life; tests do a part of it
	TEST_ALL=1 $(GO) test -count=1 -timeout 60m ./test/faults

.PHONY: fuzz-placement
fuzz-placement: ## Look for inputs that break the planner, two kinds for FUZZTIME each
	$(GO) test -run '^$$' -fuzz FuzzSolve -fuzztime $(FUZZTIME) -fuzzminimizetime 1s ./test/placement/fuzz
	$(GO) test -run '^$$' -fuzz FuzzSmall -fuzztime $(FUZZTIME) -fuzzminimizetime 1s ./test/placement/fuzz

.PHONY: fuzz-controller
fuzz-controller: plane ## Look for specs that break rendering, or that pass validation and are refused by an API server; three kinds for FUZZTIME each
	$(GO) test -run '^$$' -fuzz FuzzJob -fuzztime $(FUZZTIME) -fuzzminimizetime 1s ./controller/builder
	$(GO) test -run '^$$' -fuzz FuzzJob -fuzztime $(FUZZTIME) -fuzzminimizetime 1s ./controller/legacy/kubeflow
	$(GO) test -run '^$$' -fuzz FuzzRenderedPassesTheAPIServer -fuzztime $(FUZZTIME) -fuzzminimizetime 1s ./test/cluster

##@ Develop

.PHONY: verify
verify: ## Check that generated files are fresh, modules tidy, code formatted, vetted and linted, names the field's, texts in plain English, the chart sound with each value changed, and no known vulnerability reached
	hack/verify-generated.sh
	hack/verify-modules.sh
	hack/verify-gofmt.sh
	hack/verify-shell.sh
	hack/verify-workflows.sh
	hack/verify-language.sh
	hack/verify-vulnerabilities.sh
	$(GO) vet ./...
	$(GO) test -run '^TestWords' ./test/boundaries
	$(GO) test ./deploy
	hack/lint.sh

.PHONY: generate
generate: ## Regenerate deep copies, clients and the CRD from controller/api, deploy/v1 and the chart's page from deploy/helm
	hack/generate.sh

.PHONY: chart
chart: ## Pack the Helm chart into _output/chart
	hack/helm.sh package deploy/helm/paddle-volcano --destination $(OUT)/chart

.PHONY: release
release: ## Build a release from a clean tree into _output/release/VERSION, the same bytes each time: VERSION=v0.1.0 REGISTRY=registry.example.com/paddle
	VERSION=$(VERSION) REGISTRY=$(REGISTRY) DOWNLOAD=$(DOWNLOAD) hack/release.sh

.PHONY: sbom
sbom: build ## Write down what the programs of the images are made of (CycloneDX) into _output/sbom
	mkdir -p $(OUT)/sbom
	cd hack/sbom && $(GO) run . ../../$(OUT)/sbom $(foreach p,paddlejob-controller paddle-scheduler paddle-barrier kubectl-paddle paddle-simulator,../../$(BIN)/$(p))

.PHONY: plane
plane: ## Build the sandbox's control plane (etcd, Kubernetes, Volcano, kwok) from Go modules, once
	$(GO) run ./cmd/paddle-sandbox build

.PHONY: clean
clean: ## Remove everything that was built or measured
	rm -rf $(OUT)

.PHONY: help
help: ## Show this list
	@awk 'BEGIN {FS = ":.*##"; print "Usage: make <target>"} \
	  /^##@/ {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*##/ {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
