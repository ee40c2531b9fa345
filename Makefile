# The commands of this project. `make run` and `make test` install what they need on Debian 12, if it is missing.
SHELL := /bin/bash
.DEFAULT_GOAL := help
RELEASE := .build/release/offer-signer
# What `make compare` measures the service on: sqlite, or sqlite,postgres.
DATABASES ?= sqlite
# How long `make fuzz` tries each reader.
FUZZ_SECONDS ?= 20
# Which faults `make faults` tries: all of them, or --only and some of their names.
FAULTS ?=
comma := ,
ASAN := TEST_WIDTH=3 LSAN_OPTIONS=suppressions=$(CURDIR)/Scripts/leak-sanitizer.txt:print_suppressions=0
TSAN := TEST_WIDTH=3 TSAN_OPTIONS=suppressions=$(CURDIR)/Scripts/thread-sanitizer.txt
# All addresses of libraries are looked up at the start, and can't be overwritten afterwards (-z now).
BUILD_RELEASE := swift build -c release --disable-local-rpath --static-swift-stdlib -Xlinker -z -Xlinker now --product offer-signer

# A module that is imported and not declared builds or not, by the order of the build: that is an error.
BUILD_TESTS := swift build --build-tests --explicit-target-dependency-import-check error

# Tests that the check ring adds to `make test`: programs that stand in for the stores, the verifiers' own, all of the console.
CHECK_TESTS := ^EndToEndTests\.EndToEnd/(Fake|LogVerifierTests|ConsoleTests)
# Tests without a database, or that run over both engines by themselves: a second run over PostgreSQL adds nothing.
WITHOUT_DATABASE := ^(JSON|OfferDomain|Cryptography|SignatureDiagnosis|ServiceRuntime|TransparencyLog|Configuration|HTTP|Storage)Tests\.|^EndToEndTests\.EndToEnd/(Fake|LogVerifierTests)
# Tests of code with threads of its own: what the thread sanitizer is good at.
THREADED := ^(HTTPTests|StorageTests|ServiceRuntimeTests)\.|^OfferServiceTests\.(Committer|Gathering|AskingThread|SharedCommitter|KeyUseGuard|Membership|Reloading|NewEntryFeed|SealOrder|Cap|StoreSharing)Tests

.PHONY: help setup setup-checks setup-bench setup-package setup-docs setup-failover build run test test-check format lint leaks leaks-long races races-long optimized docs linkage unsafe api swift-client other-sdks client-certificates identity-provider app-attest faults faults-long failover fuzz deb image package-test check nightly bench instructions compare tools clean

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

setup-docs:
	@Scripts/setup docs

setup-failover:
	@Scripts/setup failover

build: setup ## build the release binary
	$(BUILD_RELEASE)

run: build ## write the example into ./demo, if it is not there, and start the service on 127.0.0.1:8080
	@Scripts/run $(RELEASE)

test: setup-checks ## run the tests that show whether the product works
	$(BUILD_TESTS)
	@Scripts/test .build/test-logs

test-check: setup-checks ## run the tests that only the check ring has
	$(BUILD_TESTS)
	OFFER_SIGNER_TEST_RING=check TEST_WIDTH=1 Scripts/run-tests .build/test-logs/check.log --filter '$(CHECK_TESTS)'

format: ## format all Swift files in place
	swift format --in-place --recursive --parallel Sources Tests Package.swift Clients

lint: ## check the formatting, functions and files, doc comments and their links, and the order of folders
	swift format lint --strict --recursive --parallel Sources Tests Package.swift Clients
	@/usr/bin/python3 -B Scripts/check-functions --self-test
	@Scripts/failures --self-test
	@/usr/bin/python3 -B Scripts/check-functions
	@/usr/bin/python3 -B Scripts/structure --check

leaks: setup-checks ## run the tests of the targets that wrap C under the address sanitizer
	OFFER_SIGNER_TARGETS=wrappers swift build --build-tests --sanitize=address --scratch-path .build-asan
	$(ASAN) OFFER_SIGNER_TARGETS=wrappers Scripts/run-tests .build-asan/tests.log --sanitize=address --scratch-path .build-asan

leaks-long: setup-checks ## run all tests under the address sanitizer, the service included (half an hour)
	swift build --build-tests --sanitize=address --scratch-path .build-asan-long
	$(ASAN) Scripts/run-tests .build-asan-long/tests.log --sanitize=address --scratch-path .build-asan-long

races: setup-checks ## run the tests of code that has threads under the thread sanitizer
	swift build --build-tests --sanitize=thread --scratch-path .build-tsan
	$(TSAN) Scripts/run-tests .build-tsan/tests.log --sanitize=thread --scratch-path .build-tsan --filter '$(THREADED)'

races-long: setup-checks ## run all tests but the end-to-end ones under the thread sanitizer
	swift build --build-tests --sanitize=thread --scratch-path .build-tsan
	$(TSAN) Scripts/run-tests .build-tsan/tests.log --sanitize=thread --scratch-path .build-tsan --skip '^EndToEndTests'

optimized: setup-checks ## run all tests as the release build is compiled (half an hour)
	swift build --build-tests -c release -Xswiftc -enable-testing --scratch-path .build-optimized
	Scripts/run-tests .build-optimized/tests.log -c release --scratch-path .build-optimized --skip '^EndToEndTests'

docs: setup-docs build ## check the documents (links, tables, words, README's commands), and build the reference
	@Scripts/documents --program $(RELEASE)
	@Scripts/docs

linkage: setup-checks build ## check that the release binary links what it should and nothing else
	@Scripts/linkage $(RELEASE)

unsafe: ## check that unsafe code lies only where it is reviewed
	@Scripts/unsafe

api: setup-checks build ## validate openapi.yaml, generate clients, and check the running service against it (with what PyPI has)
	@Scripts/api $(RELEASE)

swift-client: setup-checks build ## build and test the Swift package in Clients/Swift, against the running service
	@Scripts/swift-client $(RELEASE)

other-sdks: setup-checks build ## try the documents' nginx configuration: other SDKs' calls here, all else to the vendor
	@/usr/bin/python3 -B Tests/OtherSDKs $(RELEASE)

client-certificates: setup-checks build ## try the documents' nginx and HAProxy configuration for client certificates, and break it
	@/usr/bin/python3 -B Tests/ClientCertificates $(RELEASE)

identity-provider: setup-checks build ## let an app ask with tokens of identity providers that Authlib makes (with what PyPI has)
	@Scripts/identity-provider $(RELEASE)

app-attest: setup-checks build ## let an app ask with App Attest from devices that cryptography and cbor2 make (with what PyPI has)
	@Scripts/app-attest $(RELEASE)

faults: setup-checks build ## kill the service, fail its system calls, fill its disk, and more; what is lost? (minutes)
	@timeout 1800 /usr/bin/python3 -B Tests/Faults $(RELEASE) $(FAULTS)

faults-long: setup-checks setup-failover build ## the same for a night, and automatic failover
	@/usr/bin/python3 -B Tests/Faults $(RELEASE) --long

failover: setup-failover build ## let Patroni fail over by itself under load: each event by each way to connect (10 minutes)
	@timeout 3600 /usr/bin/python3 -B Tests/Faults $(RELEASE) --only patroni

fuzz: setup-checks ## try what reads HTTP, JSON, certificates, signed data, tokens, attestations and reports of refused signatures with random input (FUZZ_SECONDS each)
	@Scripts/fuzz $(FUZZ_SECONDS)

deb: setup-package build ## build the Debian package into .build/package
	@debian/rules clean binary >.build/package.log 2>&1 || { tail -n 30 .build/package.log; false; }
	@ls .build/package/*.deb

image: setup-package build ## make the container image without an engine, into .build/offer-signer-image.tar
	@Scripts/image $(RELEASE) .build/offer-signer-image.tar

package-test: setup-package build ## install, start, upgrade and remove the package on a clean Debian; make the image and run it
	@Scripts/package-test $(RELEASE)
	@Scripts/container-check $(RELEASE)
	@Scripts/image $(RELEASE) .build/offer-signer-image.tar
	@Scripts/image-test .build/offer-signer-image.tar

check: lint unsafe tools fuzz linkage docs api swift-client other-sdks client-certificates identity-provider app-attest leaks faults package-test races test-check test ## run every check that a change must pass

nightly: ## run the long forms of the checks (hours)
	@Scripts/nightly '$(WITHOUT_DATABASE)'

instructions: setup-bench build ## count the instructions of a signature; more than Benchmarks/thresholds.json is an error
	@Benchmarks/instructions --at-most

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
	rm -rf Clients/Swift/.build .build .build-asan .build-asan-long .build-tsan .build-docs docs/reference
