# Targets for people and for CI; `make help` lists them. Everything but race and fuzz needs only Go, git and make.

SHELL := /bin/sh
export CGO_ENABLED := 0

MODULES   := proto sdk kernel conformance providers/bash providers/filesystem providers/release-tools examples/demo bench
PACKAGES  := $(MODULES:%=./%/...)
PROVIDERS := filesystem bash release-tools

# From a tag the version is the tag's; in between it says what it is built from.
VERSION ?= $(shell git describe --tags --match 'v[0-9]*' --dirty 2>/dev/null | sed 's/^v//')
LDFLAGS := -s -w $(if $(VERSION),-X main.version=$(VERSION))
BUILD   := go build -trimpath -ldflags '$(LDFLAGS)'

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build agent and the providers into bin/
	@mkdir -p bin
	@echo "building agent, $(PROVIDERS:%=provider-%) into bin/"
	@$(BUILD) -o bin/agent ./kernel/cmd/agent
	@set -e; for p in $(PROVIDERS); do $(BUILD) -o bin/provider-$$p ./providers/$$p; done

bin/conformance: $(shell find conformance proto -name '*.go')
	@$(BUILD) -o $@ ./conformance/cmd/conformance

.PHONY: conformance
conformance: build bin/conformance ## hold our providers to the protocol, rule by rule
	@set -e; for p in $(PROVIDERS); do bin/conformance --scenario providers/$$p/conformance.hcl bin/provider-$$p; done

.PHONY: demo
demo: build ## play a session on a copy of examples/project, through the real binaries
	@go run ./examples/demo bin examples/project

.PHONY: test
test: ## run every test
	go test -timeout 20m work

.PHONY: race
race: ## run every test under the race detector (needs a C compiler)
	CGO_ENABLED=1 go test -race -timeout 60m work

# Every fault there is, where make test tries one for each rule; every race and every property for longer.
.PHONY: test-long
test-long: ## run the tests that can be run for longer: all faults, races, properties, ends of output
	CONFORMANCE_FAULTS='*' go test -count=1 -timeout 30m -run EachFault ./conformance
	go test -count=1 -timeout 10m -run RaceOfProcesses ./sdk/jail -race-time=60s
	go test -count=1 -timeout 30m -run Property ./providers/filesystem -rapid.checks=3000
	go test -count=1 -timeout 30m ./providers/bash -exits 10000 -calls 1000
	AGENT_LONG=1 go test -count=1 -timeout 20m -run 'KilledAtRandom|Soak' ./kernel/cmd/agent
	MCP_LOAD_CALLS=2000 go test -count=1 -timeout 20m -run MCPLoad ./kernel/cmd/agent

FUZZTIME ?= 10s
.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (10s) each
	@for m in $(MODULES); do sh tools/fuzz.sh $$m $(FUZZTIME) || exit 1; done

# What a user would otherwise pick, beside us, on the same work in one run: bench/README.md. BENCH_ONLY=op,op and
# BENCH_PEERS=peer,peer measure less; BENCH_SCALE=0.3 does it for less long; BENCH_OUT=bench/RESULTS.md keeps the report.
BENCH_SCALE ?= 1
BENCH = go build -o bin/bench ./bench && bin/bench -ops '$(BENCH_ONLY)' -peers '$(BENCH_PEERS)' $(if $(BENCH_OUT),-out '$(BENCH_OUT)')
.PHONY: bench
bench: ## measure this project beside its peers, in about an hour: BENCH_ONLY, BENCH_PEERS, BENCH_SCALE
	@mkdir -p bin
	@$(BENCH) -scale $(BENCH_SCALE)

.PHONY: bench-quick
bench-quick: ## the same with few peers and repetitions, in about three minutes
	@mkdir -p bin
	@$(BENCH) -scale 0.1

# The gate of make check: what calls take, in allocations, system calls and bytes, never in time.
.PHONY: counted counted-update
counted: ## hold the counted work of a call to bench/counted.json
	@go run ./bench/cmd/counted
counted-update: ## record the counted work of a call in bench/counted.json
	@go run ./bench/cmd/counted -update

.PHONY: bench-go
bench-go: ## run every Go benchmark once
	go test -run '^$$' -bench . -benchtime 20x $(PACKAGES)

.PHONY: fmt
fmt: ## format the code
	gofmt -w $(MODULES)

.PHONY: vet
vet: ## vet for this system, and compile for the others
	go vet work
	GOOS=darwin go vet work
	GOOS=windows go vet ./proto/... ./sdk/... ./kernel/... ./providers/filesystem/... ./providers/release-tools/...

.PHONY: generate
generate: bin/buf ## generate the Go code of the protocol
	cd proto && ../bin/buf generate

# What the wire is compared with: the last release, or the last commit before there is one.
AGAINST ?= $(shell git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || echo HEAD)
.PHONY: check-generated
check-generated: bin/buf ## fail when generated code differs from a fresh generation, or the wire breaks
	sh tools/check-generated.sh
	cd proto && ../bin/buf lint && ../bin/buf breaking --against '../.git#ref=$(AGAINST),subdir=proto'

.PHONY: lint
lint: bin/golangci-lint ## lint, with the rules that hold the import order
	bin/golangci-lint run $(PACKAGES)

.PHONY: standalone
standalone: ## build each module by itself, as its users do, with a tidy go.mod
	@for m in $(MODULES); do (cd $$m && GOWORK=off go mod tidy -diff && GOWORK=off go build -o /dev/null ./... && GOWORK=off go vet ./...) || { echo "$$m: see above"; exit 1; }; done

.PHONY: check
check: vet standalone check-generated lint counted ## what CI runs beside the tests

bin/buf: tools/buf/go.mod tools/buf/go.sum
	@mkdir -p bin
	cd tools/buf && GOWORK=off go build -o ../../bin/buf github.com/bufbuild/buf/cmd/buf

bin/golangci-lint: tools/lint/go.mod tools/lint/go.sum
	@mkdir -p bin
	cd tools/lint && GOWORK=off go build -o ../../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint

bin/goreleaser: tools/goreleaser/go.mod tools/goreleaser/go.sum
	@mkdir -p bin
	cd tools/goreleaser && GOWORK=off go build -o ../../bin/goreleaser github.com/goreleaser/goreleaser/v2

bin/cyclonedx-gomod: tools/sbom/go.mod tools/sbom/go.sum
	@mkdir -p bin
	cd tools/sbom && GOWORK=off go build -o ../../bin/cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod

.PHONY: snapshot
snapshot: bin/goreleaser bin/cyclonedx-gomod ## build into dist/ what a release would hold; SNAPSHOT_PLATFORM=linux_amd64 for that alone
	@sh tools/snapshot.sh

.PHONY: check-release
check-release: bin/goreleaser bin/cyclonedx-gomod ## install releases of this commit on a fresh machine, as a user would
	@sh tools/check-release.sh

.PHONY: module-check
module-check: ## build the modules as others will get them, by the versions of tools/versions.txt
	cd tools/modules && GOWORK=off go run . -C ../.. check

.PHONY: module-tags
module-tags: ## tag the modules by the versions of tools/versions.txt; nothing is pushed
	cd tools/modules && GOWORK=off go run . -C ../.. tag

# A release is named by whoever makes it: the version that builds take from the last tag is not the next one.
.PHONY: release
release: build ## make a release of this repository with its own /release: VERSION=1.4.0, or VERSION=auto
	$(if $(filter command line,$(origin VERSION)),,$(error say which: make release VERSION=1.4.0))
	@sh tools/release.sh "$(VERSION)"

.PHONY: clean
clean: ## remove what was built
	rm -rf bin
