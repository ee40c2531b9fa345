// swift-tools-version:6.2
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let package = Package(
    name: "offer-signer",
    targets: [
        // C libraries as Swift sees them: a module map and one header each, from Debian's packages.
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        // Only its header, from libpq-dev: the library is loaded when it is needed, and never linked to.
        .systemLibrary(name: "CLibPQ", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CLibEvent", pkgConfig: "libevent_core", providers: [.apt(["libevent-dev"])]),

        // The console, openapi.yaml and the example, as bytes of the program.
        .target(name: "CEmbeddedFiles"),

        // Arrows point one way, and the targets in the middle do not know each other.
        .target(name: "JSON"),
        .target(name: "OfferDomain"),
        // A JWS has a header in JSON, so the reader of JSON lies below.
        .target(
            name: "Cryptography",
            dependencies: ["COpenSSL", "CLinux", "JSON"],
            resources: [.embedInCode("Resources")]
        ),
        .target(name: "Storage", dependencies: ["CSQLite", "CLibPQ"]),
        .target(name: "HTTP", dependencies: ["CLibEvent", "CCurl", "COpenSSL", "CLinux"]),
        // Finds out why a signature was refused, without a service and without a private key.
        .target(name: "SignatureDiagnosis", dependencies: ["JSON", "OfferDomain", "Cryptography"]),
        // What every part of the service runs on: time, threads, log lines, metrics, files.
        .target(
            name: "ServiceRuntime",
            dependencies: ["JSON", "OfferDomain", "Cryptography", "HTTP", "CLinux", "CEmbeddedFiles"]
        ),
        // An append-only log that proves its history: Merkle tree, signed checkpoints, witnesses, verification.
        .target(
            name: "TransparencyLog",
            dependencies: ["JSON", "OfferDomain", "Cryptography", "Storage", "HTTP", "ServiceRuntime"]
        ),
        // What operators write: settings, catalog, keys, callers, receivers of events; read, checked and typed.
        .target(
            name: "Configuration",
            dependencies: [
                "JSON", "OfferDomain", "Cryptography", "Storage", "HTTP", "ServiceRuntime", "TransparencyLog",
            ]
        ),
        // What is decided and recorded, in one transaction: grants, purchases, customers, keys' states, the audit log's entries.
        .target(
            name: "Ledger",
            dependencies: [
                "JSON", "OfferDomain", "Cryptography", "Storage", "ServiceRuntime", "TransparencyLog", "Configuration",
            ]
        ),
        // What is asked of the App Store and Google Play, and what they send: verified, and filed as evidence.
        .target(
            name: "Stores",
            dependencies: [
                "JSON", "OfferDomain", "Cryptography", "HTTP", "ServiceRuntime", "Configuration", "Ledger",
            ]
        ),
        .target(
            name: "OfferService",
            dependencies: [
                "JSON", "OfferDomain", "Cryptography", "Storage", "HTTP", "SignatureDiagnosis", "ServiceRuntime",
                "TransparencyLog", "Configuration", "Ledger", "Stores", "CLinux",
            ],
            exclude: ["Console/Assets"]
        ),
        .executableTarget(
            name: "offer-signer",
            dependencies: [
                "JSON", "OfferDomain", "Cryptography", "Storage", "HTTP", "ServiceRuntime", "TransparencyLog",
                "Configuration", "Ledger", "Stores", "OfferService", "SignatureDiagnosis",
            ]
        ),

        .target(name: "TestSupport", path: "Tests/TestSupport"),
        .testTarget(name: "JSONTests", dependencies: ["JSON", "TestSupport"]),
        .testTarget(name: "OfferDomainTests", dependencies: ["OfferDomain", "TestSupport"]),
        .testTarget(
            name: "CryptographyTests",
            dependencies: ["Cryptography", "JSON", "TestSupport"],
            exclude: ["Wycheproof"]
        ),
        .testTarget(name: "StorageTests", dependencies: ["Storage", "TestSupport"]),
        .testTarget(name: "HTTPTests", dependencies: ["HTTP", "TestSupport"]),
        .testTarget(
            name: "SignatureDiagnosisTests",
            dependencies: ["SignatureDiagnosis", "Cryptography", "JSON", "OfferDomain", "TestSupport"]
        ),
        .testTarget(name: "ServiceRuntimeTests", dependencies: ["ServiceRuntime", "OfferDomain", "TestSupport"]),
        .testTarget(
            name: "TransparencyLogTests",
            dependencies: ["TransparencyLog", "Cryptography", "OfferDomain", "TestSupport"]
        ),
        .testTarget(
            name: "ConfigurationTests",
            dependencies: ["Configuration", "Cryptography", "HTTP", "OfferDomain", "TestSupport"]
        ),
        .testTarget(
            name: "OfferServiceTests",
            dependencies: [
                "OfferService", "JSON", "OfferDomain", "Cryptography", "Storage", "HTTP", "ServiceRuntime",
                "TransparencyLog", "Configuration", "Ledger", "Stores", "TestSupport",
            ]
        ),
        .testTarget(name: "EndToEndTests", dependencies: ["TestSupport"], exclude: ["Checkers"]),
    ],
    swiftLanguageModes: [.v6]
)

// `make leaks` needs the targets that wrap C and their tests alone; to compile the rest under a sanitizer takes minutes.
if Context.environment["OFFER_SIGNER_TARGETS"] == "wrappers" {
    let wrappers: Set = ["JSON", "Cryptography", "Storage", "HTTP", "TestSupport"]
    package.targets.removeAll { target in
        target.type != .system && !wrappers.contains(target.name.replacing("Tests", with: ""))
    }
}

// One set of rules for every target, so that no target can quietly opt out.
for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .treatAllWarnings(as: .error),
        .strictMemorySafety(),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0335-existential-any.md
        .enableUpcomingFeature("ExistentialAny"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0409-access-level-on-imports.md
        .enableUpcomingFeature("InternalImportsByDefault"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0444-member-import-visibility.md
        .enableUpcomingFeature("MemberImportVisibility"),
        // https://github.com/swiftlang/swift-evolution/blob/main/proposals/0461-async-function-isolation.md
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]
}
