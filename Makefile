# The commands of this project. `make run` and `make test` install what they need on Debian 12, if it is missing.
SHELL := /bin/bash
.DEFAULT_GOAL := help
RELEASE := .build/release/offer-signer
# What `make compare` measures the service on: sqlite, or sqlite,postgres.
DATABASES ?= sqlite
# What `make leaks` runs.
TESTS ?= CryptographyTests|StorageTests|HTTPTests
# How long `make fuzz` tries each reader.
FUZZ_SECONDS ?= 20
comma := ,
# All addresses of libraries are looked up at the start, and can't be overwritten afterwards (-z now).
BUILD_RELEASE := swift build -c release --static-swift-stdlib -Xlinker -z -Xlinker now --product offer-signer

.PHONY: help setup setup-checks setup-bench setup-package build run test format lint leaks races docs linkage unsafe api faults faults-long fuzz deb package-test check bench compare tools clean

# What has no database in it, or, as the storage's own tests, both engines by itself. All else is run over each engine.
WITHOUT_DATABASE := ^(JSON|OfferDomain|Cryptography|HTTP|Storage)Tests\.|^EndToEndTests\.EndToEnd/(Fake|LogVerifierTests)

# What takes long under the thread sanitizer, and has one thread, or none of its own.
ONE_THREAD := EndToEndTests|JSONTests|OfferDomainTests|AppStoreReconciliationTests|AuditIndexTests|AuditQueryTests|AuthorizationTests|CustomerTableTests|GrantTableTests|IndexedEntryTests|IntroductoryOfferTableTests|LogReaderTests|MerkleProofTests|OfferRemovalTests

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup:
	@Scripts/setup build

setup-bench:
	@Scripts/setup bench

setup-checks:
	@Scripts/setup checks

setup-package:
	@Scripts/setup package

build: setup ## build the release binary
	$(BUILD_RELEASE)

run: build ## write the example into ./demo, if it is not there, and start the service on 127.0.0.1:8080
	@Scripts/run $(RELEASE)

test: setup-checks ## run all tests
	swift build --build-tests
	swift build --product offer-signer
	@Scripts/test '$(WITHOUT_DATABASE)'

format: ## format all Swift files in place
	swift format --in-place --recursive --parallel Sources Tests Package.swift

lint: ## check the formatting
	swift format lint --strict --recursive --parallel Sources Tests Package.swift

leaks: setup-checks ## look for leaks and misuse of memory in what wraps C; in everything with TESTS=. (half an hour)
	swift build --build-tests --sanitize=address --scratch-path .build-asan
	swift build --product offer-signer --sanitize=address --scratch-path .build-asan
	LSAN_OPTIONS=suppressions=$(CURDIR)/Scripts/leak-sanitizer.txt:print_suppressions=0 \
	  Scripts/run-tests .build-asan/tests.log --sanitize=address --scratch-path .build-asan --filter '$(TESTS)'

races: setup-checks ## look for data races
	swift build --build-tests --sanitize=thread --scratch-path .build-tsan
	TSAN_OPTIONS=suppressions=$(CURDIR)/Scripts/thread-sanitizer.txt \
	  Scripts/run-tests .build-tsan/tests.log --sanitize=thread --scratch-path .build-tsan \
	  --skip '$(ONE_THREAD)'

docs: setup ## build the reference from the doc comments; a broken link is an error
	@Scripts/docs

linkage: setup-checks build ## check that the release binary links what it should and nothing else
	@Scripts/linkage $(RELEASE)

unsafe: ## check that unsafe code lies only where it is reviewed
	@Scripts/unsafe

api: setup-checks build ## validate openapi.yaml, and check the running service against it (with what PyPI has)
	@Scripts/api $(RELEASE)

faults: setup-checks build ## kill the service, fail its system calls, fill its disk, and more; what is lost? (minutes)
	@timeout 1800 /usr/bin/python3 -B Tests/Faults $(RELEASE)

faults-long: setup-checks build ## the same for a night
	@/usr/bin/python3 -B Tests/Faults $(RELEASE) --long

fuzz: setup-checks ## try what reads HTTP, JSON, certificates and signed data with random input (FUZZ_SECONDS each)
	@Scripts/fuzz $(FUZZ_SECONDS)

deb: setup-package build ## build the Debian package into .build/package
	@debian/rules clean binary >.build/package.log 2>&1 || { tail -n 30 .build/package.log; false; }
	@ls .build/package/*.deb

package-test: setup-package build ## install, start, upgrade and remove the package on a clean Debian; try the Dockerfile's steps
	@Scripts/package-test $(RELEASE)
	@Scripts/container-check $(RELEASE)

check: lint unsafe tools fuzz test leaks races docs linkage api faults package-test ## everything

tools: setup-checks ## test the benchmarks themselves
	@Benchmarks/selftest

bench: setup-bench build ## measure (see docs/performance.md)
	@Benchmarks/run

compare: setup-bench build ## measure against Node, Go and Python, and how costs grow; write the documents (QUICK=--quick: less)
	@Benchmarks/compare $(QUICK) --database $(DATABASES)
	@Benchmarks/growth $(QUICK)
	@$(if $(findstring postgres,$(DATABASES)),Benchmarks/growth $(QUICK) --database postgres --only instances --instances 1$(comma)2)
	@Benchmarks/capacity --write

clean: ## remove what was built
	rm -rf .build .build-asan .build-tsan .build-docs docs/reference
