# One command each for what a developer does; `make` lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help build test check conformance clients soak bench figures matrix timings demo clean testbed format lint vulncheck race fuzz

# Two packages at a time: each may run a node of 0.6 GB.
GOTEST := go test -count=1 -p 2
FUZZTIME ?= 10s
SOAKTIME ?= 10m
BENCHCOUNT ?= 5
# 0: as many as each part of the benchmark needs.
BENCHROUNDS ?= 0
# ONCE=1 lets the demo end by itself, with exit code 0 only if all answers were right.
ONCE ?=

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build bin/guard
	@echo "build: bin/guard"
	go build -trimpath -o bin/guard ./cmd/guard

test: testbed ## all tests, those against real nodes among them
	go vet ./...
	@echo "test: all packages, with nodes started by the tests that ask for them"
	$(GOTEST) -timeout 40m ./...

check: format lint vulncheck testbed race fuzz ## the gate: format, lint, vulnerabilities, race tests, fuzzing, benchmarks once
	@echo "check: each benchmark once"
	go test -run '^$$' -bench . -benchtime 1x -p 1 -timeout 20m ./...

conformance: testbed ## the engines' own REST suites through guard; no answer may differ (20 to 60 minutes)
	go test -count=1 -timeout 4h -v -parallel 2 -run "^TestSuites$$" ./test/conformance -whole

clients: testbed ## real clients in four languages, and the table of docs/clients.md (30 to 90 minutes)
	go test -count=1 -timeout 4h -v -run "^TestClients$$" ./test/clients -whole -update

soak: testbed ## mixed traffic while policies change and nodes die, with -race (SOAKTIME=10m)
	@command -v "$$(go env CC)" >/dev/null || { echo "soak: the race detector needs a C compiler; install gcc"; exit 1; }
	go test -count=1 -timeout 2h -v ./test/soak -duration $(SOAKTIME)

bench: testbed ## guard beside other proxies and the plugin, its memory, its plans (60 minutes)
	go run ./bench -rounds $(BENCHROUNDS)

figures: testbed ## the same, written into docs/benchmarks.md with its plots
	go run ./bench -rounds $(BENCHROUNDS) -document

matrix: testbed ## the plans and the real nodes alone, written into that page (20 minutes)
	go run ./bench -only matrix,cluster -rounds $(BENCHROUNDS) -document

timings: ## all Go benchmarks, of single functions and packages (BENCHCOUNT=5)
	go test -run '^$$' -bench . -benchmem -count $(BENCHCOUNT) -p 1 -timeout 60m ./...

# Run as a program and not by `go run`, which calls being interrupted an error that
# make would report. make itself ends by the signal (130 in a shell), as it always does.
demo: ## guard in front of a real node, until Ctrl-C (ONCE=1: until answers are checked)
	@echo "demo: building the demo" >&2
	@go build -trimpath -o bin/demo ./test/demo
	@ONCE=$(ONCE) bin/demo

clean: ## remove what was built; the nodes stay in their cache
	rm -rf bin coverage.out

# The targets below are steps of those above.

testbed:
	@echo "testbed: every kind of node, from the cache or fetched"
	@go run ./test/testbed/cmd/testbed fetch all

format:
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not formatted (gofmt -w would mend it):"; echo "$$unformatted"; exit 1; fi

# ST1005 is left out: some of our errors are the cluster's own sentences, word for word.
lint:
	go vet ./...
	@echo "lint: staticcheck"
	go run $(STATICCHECK) -checks inherit,-ST1005 ./...

# The database of vulnerabilities lies on the web. Where that can't be reached
# nothing is known, which is said and is no failure; a finding is one.
vulncheck:
	@echo "vulncheck: govulncheck"
	@if ! found=$$(go run $(GOVULNCHECK) ./... 2>&1); then \
		if grep -qE 'fetching vulnerabilities|dial tcp|no such host|i/o timeout' <<<"$$found"; then \
			echo "vulncheck: NOT DONE, the database can't be reached:"; tail -n 3 <<<"$$found"; \
		else echo "$$found"; exit 1; fi; \
	else tail -n 1 <<<"$$found"; fi

race:
	@command -v "$$(go env CC)" >/dev/null || { echo "race: the race detector needs a C compiler; install gcc"; exit 1; }
	@echo "race: all tests with the race detector, in random order"
	$(GOTEST) -race -shuffle=on -timeout 40m ./...

# Every fuzz target of the repository, one after the other. Go's fuzzer sometimes
# reports its own deadline as a failure (golang/go#75804), on a busy machine often:
# without a failing input the target is tried again, five times in all.
fuzz:
	@try() { go test -run '^$$' -fuzz "^$$2\$$" -fuzztime $(FUZZTIME) "$$1" </dev/null 2>&1; }; \
	flake() { grep -q 'context deadline exceeded' <<<"$$1" && ! grep -q 'Failing input' <<<"$$1"; }; \
	grep -rlE --include='*_test.go' '^func Fuzz\w+' . | xargs -rn1 dirname | sort -u | while read -r dir; do \
		for target in $$(grep -hoE '^func Fuzz\w+' "$$dir"/*_test.go | cut -d ' ' -f 2); do \
			echo "fuzz: $$dir $$target for $(FUZZTIME)"; \
			for left in 4 3 2 1 0; do \
				if said=$$(try "$$dir" "$$target"); then break; fi; \
				if [ $$left = 0 ] || ! flake "$$said"; then echo "$$said"; exit 1; fi; \
			done; \
		done; \
	done
