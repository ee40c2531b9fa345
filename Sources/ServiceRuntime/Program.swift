// SPDX-License-Identifier: Apache-2.0

/// What the program is called.
package enum Program {
    /// The version that `--version` and the record of each start name.
    package static let version = "0.1.0"
    /// What requests to stores and identity providers name.
    package static let userAgent = "offer-signer/\(version)"
}
