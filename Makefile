# The one door: `make help` lists what there is.
#
# Everything is set up on first use and reused afterwards: Python packages in
# .venv, libtorch in .libtorch, compiled code in target.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory
# Steps share cargo's and pip's locks: side by side they would only wait.
.NOTPARALLEL:

PYTHON ?= python3
# Targets are named relative to this folder, whose own name may hold spaces.
STAMPS := .venv/stamps
BIN := .venv/bin
# Those libraries need another Gymnasium, and all of PyTorch.
ECOSYSTEM := .venv-ecosystem
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# A run of CI must not touch the lock file.
LOCKED := $(if $(CI),--locked)

# Terminals, shells and other tools set these for their own use: only the words
# after `make` count.
ifneq ($(origin COLUMNS),command line)
override COLUMNS :=
endif
ifneq ($(origin OUT),command line)
override OUT :=
endif
ifneq ($(origin SECONDS),command line)
override SECONDS :=
endif
unexport COLUMNS LEARNER OUT VARIANT MINUTES SEED SECONDS PEERS BOARDS

# ---- libtorch: the user's own, all of PyTorch (CUDA=1), or the lean set-up

TORCH_SETUP := $(BIN)/python python/tools/libtorch.py
ifneq ($(strip $(LIBTORCH)),)
TORCH_ENV := LIBTORCH="$(shell cd '$(LIBTORCH)' 2>/dev/null && pwd)"
TORCH_READY := $(TORCH_SETUP) check '$(LIBTORCH)'
else ifneq ($(filter-out 0,$(CUDA)),)
TORCH_ENV := LIBTORCH_USE_PYTORCH=1
TORCH_READY := $(TORCH_SETUP) setup-python
TORCH_LINKED := $(TORCH_SETUP) check-cuda
else
# .cargo/config.toml names the folder.
TORCH_ENV :=
TORCH_READY := $(TORCH_SETUP) setup .libtorch
endif
unexport LIBTORCH LIBTORCH_USE_PYTORCH
# The same environment for every call that compiles the trainer, so that none
# rebuilds what another has built.
TRAIN_CARGO := env VIRTUAL_ENV="$(CURDIR)/.venv" PATH="$(CURDIR)/$(BIN):$$PATH" $(TORCH_ENV) cargo
# The programs are called by path: another one of that name may be on PATH.
TARGET := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)
PYTHON_CARGO := env PYO3_PYTHON="$(CURDIR)/$(BIN)/python" cargo

# ---- doors

.PHONY: help train build libtorch test test-core test-rust test-train test-python test-browser test-ecosystem \
	fmt fmt-check lint lint-rust lint-python docs pages digest differential bench bench-instructions \
	notebooks notebooks-full ci clean distclean

help: ## list the doors
	@echo 'make DOOR, where DOOR is one of'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 22
	@echo 'train takes LEARNER=value VARIANT=en-dodoi COLUMNS=6 MINUTES=5 SEED=0 OUT=FOLDER (these are the defaults);'
	@echo 'train, test, lint and docs take CUDA=1 or LIBTORCH=FOLDER;'
	@echo 'bench takes SECONDS=0.15 for each figure, BOARDS="2x6 2x50" and PEERS=1 (installs the other simulators)'

# En Dodoi is trained on 2x6 unless told otherwise; the other variants on their own size.
SIZE = $(or $(COLUMNS),$(if $(filter-out en-dodoi,$(VARIANT)),,6))

train: build trainer ## set everything up, train an agent and show how well it plays
	@ENDODOI_TRAIN="$(TARGET)/release/endodoi-train" $(BIN)/endodoi train \
		$(if $(LEARNER),--learner '$(LEARNER)') $(if $(VARIANT),--variant '$(VARIANT)') $(if $(SIZE),--columns '$(SIZE)') \
		$(if $(MINUTES),--minutes '$(MINUTES)') $(if $(SEED),--seed '$(SEED)') $(if $(OUT),--out '$(OUT)')

test: test-rust test-train test-python ## run every test, those of the trainer included
	@echo 'all tests passed'

test-core: test-rust ## run the Rust and Python tests that need no torch
	@$(MAKE) test-python MARK='not train'
	@echo 'all tests of the core passed'

test-ecosystem: $(ECOSYSTEM)/stamps/ready libtorch ## use SB3, RLlib, TorchRL, PyTorch and Ray, in a set-up of their own
	@$(TRAIN_CARGO) build $(LOCKED) --features train --bin endodoi-train
	ENDODOI_TRAIN="$(TARGET)/debug/endodoi-train" $(ECOSYSTEM)/bin/python -m pytest -W default --disable-warnings tests/python/ecosystem

test-browser: $(STAMPS)/browser ## try the replays and the game in the browser with Chromium and chromedriver
	$(BIN)/pytest -m browser tests/python/test_browser.py

build: $(STAMPS)/build ## build the package into .venv, with the command endodoi
	@echo 'built: .venv/bin/endodoi and the Python package endodoi in .venv'

fmt: $(STAMPS)/checks ## format the Rust and Python sources
	cargo fmt
	$(BIN)/ruff check --quiet --fix-only --select I .
	$(BIN)/ruff format .

lint: lint-rust lint-python ## check sources, types and stubs; every warning is an error

docs: libtorch $(STAMPS)/checks ## build the reference of Rust and Python, check the pages; every warning is an error
	RUSTDOCFLAGS='-D warnings' cargo doc $(LOCKED) --no-deps --lib
	RUSTDOCFLAGS='-D warnings' $(PYTHON_CARGO) doc $(LOCKED) --no-deps --lib --features python
	RUSTDOCFLAGS='-D warnings' $(TRAIN_CARGO) doc $(LOCKED) --no-deps --lib --features train
	$(BIN)/python python/tools/reference.py
	$(BIN)/python python/tools/pages.py --check
	$(BIN)/python python/tools/solved.py --check
	$(BIN)/python python/tools/study_page.py --check
	$(BIN)/python python/tools/agent_page.py --check
	$(BIN)/python python/tools/benchmark_page.py --check
	$(BIN)/python python/tools/links.py

pages: $(STAMPS)/build ## write the pages of environments, solved boards, studies, agents and the benchmark
	$(BIN)/python python/tools/pages.py
	$(BIN)/python python/tools/solved.py
	$(BIN)/python python/tools/study_page.py
	$(BIN)/python python/tools/agent_page.py
	$(BIN)/python python/tools/benchmark_page.py

digest: rust ## play the fixed games and compare their hash with the recorded one
	cargo test $(LOCKED) --test digest -- --nocapture

differential: rust ## play a million random games with every set of instructions and compare them
	cargo test $(LOCKED) --test instructions -- --include-ignored --nocapture

# What is measured from Python is the package as built from these sources.
BENCH_FLAGS = $(if $(SECONDS),--seconds $(SECONDS)) $(if $(BOARDS),--boards $(BOARDS)) \
	$(if $(filter-out 0,$(PEERS)),--peers yes)

bench: $(STAMPS)/build $(if $(filter-out 0,$(PEERS)),$(STAMPS)/peers) ## measure games and steps: one table, and target/bench.json
	@$(BIN)/python tests/benches/bench.py $(BENCH_FLAGS)

bench-instructions: $(STAMPS)/venv rust ## count the instructions of a ply and a lap with Callgrind
	@$(BIN)/python tests/benches/counts.py $(if $(BOARDS),--boards $(BOARDS))

# The trainer that the tests have built, if they have; else the one there is, or none.
TEST_TRAINER = $(if $(wildcard $(TARGET)/debug/endodoi-train),ENDODOI_TRAIN="$(TARGET)/debug/endodoi-train")

notebooks: $(STAMPS)/checks ## run the notebooks in small
	@$(TEST_TRAINER) $(BIN)/python python/tools/notebooks.py

notebooks-full: $(STAMPS)/checks ## run the notebooks in full and store what they show
	@$(BIN)/python python/tools/notebooks.py --write

ci: fmt-check lint docs digest test notebooks differential browser-where-it-is ecosystem-where-it-fits ## do what must pass before a change lands
	@echo 'everything passed'

clean: ## remove what was compiled; .venv and .libtorch stay (distclean removes them too)
	cargo clean
	rm -rf .mypy_cache .pytest_cache .ruff_cache $(STAMPS)/browser $(STAMPS)/build $(STAMPS)/checks \
		$(ECOSYSTEM)/stamps/ready

distclean: clean
	rm -rf .venv $(ECOSYSTEM) .libtorch .libtorch.partial .libtorch.lock

# ---- parts of the doors

.PHONY: rust compiler trainer browser-where-it-is ecosystem-where-it-fits

rust:
	@cargo --version >/dev/null 2>&1 || { \
		echo 'error: cargo was not found; install Rust 1.89 or later, for instance with rustup' >&2; exit 1; }

compiler:
	@c++ --version >/dev/null 2>&1 || { \
		echo 'error: the trainer needs a C++17 compiler: install g++ or clang' >&2; exit 1; }

test-rust: rust
	cargo test $(LOCKED)

test-train: libtorch
	$(TRAIN_CARGO) test $(LOCKED) --features train --lib --test 'train_*'

test-python: $(STAMPS)/checks
	ENDODOI_TRAIN="$(TARGET)/debug/endodoi-train" $(BIN)/pytest $(if $(MARK),-m '$(MARK)')

fmt-check: $(STAMPS)/checks rust
	cargo fmt --check
	$(BIN)/ruff format --check .

lint-rust: libtorch
	cargo clippy $(LOCKED) --all-targets -- -D warnings
	$(PYTHON_CARGO) clippy $(LOCKED) --all-targets --features python -- -D warnings
	$(TRAIN_CARGO) clippy $(LOCKED) --all-targets --features train -- -D warnings

lint-python: $(STAMPS)/checks
	$(BIN)/ruff check .
	$(BIN)/mypy python/endodoi python/tools tests/benches tests/python
	MYPYPATH=python $(BIN)/stubtest endodoi._core

libtorch: rust compiler $(STAMPS)/venv ## set up libtorch, for plain cargo commands with --features train
	@$(TORCH_READY)

trainer: libtorch
	@$(TRAIN_CARGO) build $(LOCKED) --release --features train --bin endodoi-train
	@$(if $(TORCH_LINKED),$(TORCH_LINKED) "$(TARGET)/release/endodoi-train")

browser-where-it-is:
	@if command -v chromedriver >/dev/null; then \
		$(MAKE) test-browser; \
	else \
		echo 'left out: make test-browser needs Chromium and chromedriver'; \
	fi

# ---- set-up of .venv: one stamp for each step, renewed when its inputs change

$(STAMPS)/venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
		echo 'error: Python 3.10 or later is needed; name one with PYTHON=' >&2; exit 1; }
	@echo 'creating .venv'
	@$(PYTHON) -m venv .venv || { \
		echo 'error: no virtual environment; on Debian and Ubuntu install python3-venv' >&2; exit 1; }
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
		echo 'error: .venv is of an older Python than 3.10; remove it' >&2; exit 1; }
	@$(PIP) install --upgrade 'pip>=25.1'
	@mkdir -p $(STAMPS) && touch $@

# The trainer is no part of the extension module.
CORE_SOURCES := Cargo.toml build.rs pyproject.toml $(wildcard Cargo.lock) \
	$(shell find src -name '*.rs' -not -path 'src/train/*' -not -path 'src/bin/*' 2>/dev/null)

# Another make in the same folder waits where the system can make it wait.
ONE_AT_A_TIME := $(if $(shell command -v flock 2>/dev/null),flock $(STAMPS)/lock)

DEVELOP := env PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 VIRTUAL_ENV="$(CURDIR)/.venv" \
	$(ONE_AT_A_TIME) $(BIN)/maturin develop $(LOCKED) --release --extras arrow,completion,pettingzoo,plot

# The stamp is of the moment before the build: a source edited meanwhile is newer.
$(STAMPS)/build: $(CORE_SOURCES) $(STAMPS)/maturin
	@echo 'building the package'
	@touch $@.$$PPID
	@$(DEVELOP)
	@mv $@.$$PPID $@

$(STAMPS)/maturin: pyproject.toml | rust $(STAMPS)/venv
	@$(PIP) install 'maturin>=1.10,<2'
	@touch $@

$(STAMPS)/peers: pyproject.toml $(STAMPS)/build
	@echo 'installing the simulators to compare with'
	@$(DEVELOP),bench
	@touch $@

$(STAMPS)/checks: pyproject.toml $(STAMPS)/build
	@echo 'installing the tools of the checks'
	@$(PIP) install --group checks
	@touch $@

$(STAMPS)/browser: pyproject.toml $(STAMPS)/build
	@$(PIP) install --group browser
	@touch $@

# ---- set-up of .venv-ecosystem: it shares the compiled package with .venv

# PyTorch alone fills 5 GB, and as much again while it is unpacked.
ECOSYSTEM_GB := 12

ecosystem-where-it-fits:
	@free=$$(df -Pk . "$${TMPDIR:-/tmp}" | awk 'NR > 1 {print int($$4 / 1048576)}' | sort -n | head -1); \
	if [ -e $(ECOSYSTEM)/stamps/ready ] || [ "$$free" -ge $(ECOSYSTEM_GB) ]; then \
		$(MAKE) test-ecosystem; \
	else \
		echo "left out: make test-ecosystem needs $(ECOSYSTEM_GB) GB of free disk for its set-up, here are $$free GB"; \
	fi

$(ECOSYSTEM)/stamps/venv: | $(STAMPS)/venv
	@echo 'creating $(ECOSYSTEM)'
	@$(BIN)/python -m venv $(ECOSYSTEM)
	@$(ECOSYSTEM)/bin/python -m pip --disable-pip-version-check --quiet install --upgrade 'pip>=25.1'
	@mkdir -p $(@D) && touch $@

$(ECOSYSTEM)/stamps/ready: pyproject.toml $(STAMPS)/build $(ECOSYSTEM)/stamps/venv
	@echo 'installing the libraries that use the environments, PyTorch among them (5.5 GB)'
	@$(ECOSYSTEM)/bin/python -m pip --disable-pip-version-check --quiet --no-cache-dir install --group ecosystem
	@PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 VIRTUAL_ENV="$(CURDIR)/$(ECOSYSTEM)" \
		$(ONE_AT_A_TIME) $(BIN)/maturin develop $(LOCKED) --release \
		--extras pettingzoo,ray,rllib,sb3,torch,torchrl
	@touch $@
