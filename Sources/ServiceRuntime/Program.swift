// SPDX-License-Identifier: Apache-2.0

/// The name and version of the program.
package enum Program {
    /// The version that `--version` and the record of each start name.
    package static let version = "0.1.0"
    /// The `User-Agent` of requests to stores and identity providers.
    package static let userAgent = "offer-signer/\(version)"
}
