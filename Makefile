# leadlight: every chore of the house. `make` alone lists them.
# Whatever is longer than a few lines is a script under .ci/.

GO       ?= go
BIN      := bin/leadlight
PROGRAMS := ./cmd/leadlight ./cmd/leadlightd ./cmd/leadlight-backend-kitty
# The longest first: the others fill the time beside them.
PKG      ?= ./integration ./cmd/leadlight ./...
COUNT    ?=
JSON     ?=
VET      ?=
FUZZTIME ?= 5s
SOAKTIME ?= 5m
DIR      ?= .
HOUSE    ?= yes

# The race detector needs a C compiler on Linux. `make test` uses it where it can;
# `make test RACE=` goes without, `make race` insists.
RACE ?= $(shell .ci/can-race && echo -race)

# Under the race detector a program sleeps for a second at its end, unless it is told not to.
export GORACE ?= atexit_sleep_ms=0

# Most tests wait for programs: more of them at a time than there are processors, and
# of packages, too.
GOTEST = $(GO) test -parallel 6 -p $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) $(RACE) $(if $(COUNT),-count=$(COUNT)) $(if $(VET),-vet=$(VET)) -timeout 15m

.DEFAULT_GOAL := help
.PHONY: help setup build install uninstall demo demo-machines machines pictures test race fuzz conformance integration cases interop \
	bench bench-machines soak lint cross man dist judged ci clean

help: ## list what make can do here
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' Makefile

setup: ## fetch the modules and tmux, or say the one line to run
	@.ci/setup

build: ## build the programs into bin/, static binaries
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/ $(PROGRAMS)

install: ## put what build made under PREFIX (/usr/local), with man pages and completions; DESTDIR= for packagers
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" .ci/install

uninstall: ## take away what install put there
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" .ci/install --remove

machines: bin/nats-server ## build the engine that the tests of teams on an engine start

bin/nats-server: go.mod
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -trimpath -o $@ github.com/nats-io/nats-server/v2
	@touch $@

pictures: ## draw the pictures of the docs anew, from a real run
	@.ci/pictures

demo: ## a team of five checks this repository (or DIR=folder) and leaves nothing behind
	@.ci/demo "$(DIR)"

demo-machines: machines build ## a team over three machines that share an engine, while parts of it are killed
	@.ci/demo-machines

test: setup ## run all tests, with the race detector where there is a C compiler
	@$(if $(RACE),,echo "make: no C compiler: the race detector is off")
	$(GOTEST) $(if $(JSON),-json) $(PKG)

race: setup ## run all tests with the race detector, nothing from the cache
	$(GO) test -race -count=1 -timeout 20m $(PKG)

fuzz: setup ## run every fuzz target for FUZZTIME (5s) each
	@.ci/fuzz "$(FUZZTIME)"

conformance: setup ## run the suites that every store and every backend must pass
	$(GOTEST) ./backend/... ./teams/store/...

integration: setup ## run the proofs against real terminals and processes, and the house rules
	$(GOTEST) ./integration/...

cases: setup ## run the acceptance cases, one line each, then the checklist
	@$(GO) run ./integration/cases

interop: setup ## proof against the real agents from npm, RUNS times (1); AGENTS=codex,claude: some; INTEROP=latest: the newest
	@.ci/interop $(or $(RUNS),1)

bench: setup machines ## run every benchmark, floor and product in the same run
	@.ci/bench

bench-machines: setup machines ## 3, 30 and 300 teammates over three machines: memory, bytes a second
	$(GO) test -run '^$$' -bench MachinesGrow -benchtime 1x -timeout 30m ./integration

soak: setup ## run the long tests for SOAKTIME (5m) each
	LEADLIGHT_SOAK=$(SOAKTIME) $(GO) test -count=1 -timeout 2h -run Soak -v $(PKG)

lint: ## format, vet, staticcheck, known vulnerabilities, layers and the other house rules
	@.ci/lint $(if $(HOUSE),,--without-house)

# vet compiles what it imports and checks the types of the rest, tests included: a build
# proves no more. No file here is for one processor only, so macOS is looked at on one;
# make dist builds all four. Whether it compiles is asked, not how fast it would be.
cross: ## vet for macOS, build for linux/arm64
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) vet -gcflags='all=-N -l' ./...
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $(GO) build -gcflags='all=-N -l' ./...

man: build ## write the man pages to bin/man
	@mkdir -p bin/man
	$(BIN) man bin/man

dist: ## make a release in dist/: archives, packages, formula, SBOM, checksums
	@.ci/dist

ci: ## all that a change must pass; every test runs anew
	@$(MAKE) --no-print-directory demo lint cross judged HOUSE=
	@$(MAKE) --no-print-directory fuzz FUZZTIME=2s

# lint has vetted the tests already; the house rules are tests.
judged: ## run all tests anew, and say how the acceptance cases stand
	@$(MAKE) --no-print-directory test COUNT=1 JSON=1 VET=off | $(GO) run ./integration/cases -read

clean: ## remove what make made
	rm -rf bin dist
