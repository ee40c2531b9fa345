// SPDX-License-Identifier: Apache-2.0

/// The library that the app buys with.
///
/// The service records it with the signature. Its metrics then show which version's purchases fail. Each text may have 64
/// printable ASCII characters.
public struct ReportedClient: Encodable, Hashable, Sendable {
    public var library: String?
    public var version: String?
    /// The system and its version, such as `iOS 26.1`.
    public var os: String?
    /// 1 or 2.
    public var storeKit: Int?

    public init(library: String? = nil, version: String? = nil, os: String? = nil, storeKit: Int? = nil) {
        self.library = library
        self.version = version
        self.os = os
        self.storeKit = storeKit
    }
}
