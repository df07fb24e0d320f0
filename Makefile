# What one does with Remint. `make demo` and `make test` install what they need and run on a fresh Debian machine with a
# Swift toolchain.

SHELL := /bin/bash
.DEFAULT_GOAL := help
SWIFT ?= swift
LIBRARIES := librdkafka-dev libssl-dev pkg-config
TEST_TOOLS := kcat openssl
# A module may import only what the manifest says it depends on.
BUILD_FLAGS := --explicit-target-dependency-import-check error
SOURCES := Package.swift Sources Tests adapters

.PHONY: help setup setup-tests build demo test test-broker instructions bench-peers check lint format release clean

help: ## List what there is.
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

demo: setup ## Build, then show the worker at work on an embedded broker.
	$(SWIFT) build $(BUILD_FLAGS) --product remint
	.build/debug/remint demo

# In three runs: Kafka's tests and the worker's start so many clients and servers that they want the machine to themselves.
test: setup setup-tests ## Build and run every test.
	$(SWIFT) build $(BUILD_FLAGS) --build-tests
	$(SWIFT) test --skip-build --skip 'KafkaTests|WorkerTests'
	$(SWIFT) test --skip-build --filter KafkaTests
	$(SWIFT) test --skip-build --filter WorkerTests

# With the release build: latency and throughput are measured here.
test-broker: setup setup-tests release ## Run the tests that want a real cluster: REMINT_TEST_BROKERS=host:port make test-broker
	@test -n "$$REMINT_TEST_BROKERS" || { echo 'name the cluster: REMINT_TEST_BROKERS=host:port make test-broker' >&2; exit 2; }
	$(SWIFT) build $(BUILD_FLAGS) --build-tests
	REMINT_TEST_PROGRAM=.build/release/remint $(SWIFT) test --skip-build --filter BrokerTests

instructions: setup ## Count the instructions of a token and of an event against Tests/Benchmarks/instructions.
	@.ci/setup valgrind openssl binutils
	$(SWIFT) build $(BUILD_FLAGS) --configuration release --product instructions
	.ci/instructions

bench-peers: setup release ## Remint beside jwt-kit and, with REMINT_TEST_BROKERS=host:port, beside Python and librdkafka alone.
	$(SWIFT) build --configuration release --package-path Tests/Benchmarks
	Tests/Benchmarks/compare.py mint
	test -z "$$REMINT_TEST_BROKERS" || Tests/Benchmarks/compare.py worker --subjects remint,peer,relay --brokers "$$REMINT_TEST_BROKERS"

check: lint build demo test instructions ## Everything CI runs: format, warnings as errors, demo, tests, instructions.

build: setup ## Build everything, tests included; a warning is an error.
	$(SWIFT) build $(BUILD_FLAGS) --build-tests

release: setup ## Build the program for production, in .build/release.
	$(SWIFT) build $(BUILD_FLAGS) --configuration release --product remint

lint: ## Check the format.
	$(SWIFT) format lint --strict --recursive $(SOURCES)

format: ## Bring every source file into the format.
	$(SWIFT) format --in-place --recursive $(SOURCES)

clean: ## Remove what was built.
	$(SWIFT) package clean

setup: ## Install the C libraries where they are missing.
	@.ci/setup $(LIBRARIES)

setup-tests: ## Install the tools the tests talk to where they are missing.
	@.ci/setup $(TEST_TOOLS)
