// swift-tools-version:6.0
// SPDX-License-Identifier: Apache-2.0
import PackageDescription

let package = Package(
    name: "OfferSignerClient",
    platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v8)],
    products: [.library(name: "OfferSignerClient", targets: ["OfferSignerClient"])],
    targets: [
        .target(name: "OfferSignerClient"),
        .testTarget(name: "OfferSignerClientTests", dependencies: ["OfferSignerClient"]),
    ]
)

// Linux has no StoreKit. With this variable a module of the same name and signatures takes its place, so that what hands
// offers to StoreKit is compiled and tested there too. An app never sets it.
if Context.environment["STOREKIT_STUB"] != nil {
    for target in package.targets { target.dependencies.append("StoreKit") }
    // The others are for the documents' snippets alone.
    for name in ["StoreKit", "DeviceCheck", "CryptoKit", "AuthenticationServices"] {
        package.targets.append(.target(name: name, path: "Stubs/\(name)"))
    }
}
