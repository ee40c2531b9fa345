// SPDX-License-Identifier: Apache-2.0

/// What was signed, and the certificates that led to our root.
package struct VerifiedSignedData: Sendable {
    /// The bytes of the payload, as they were signed; UTF-8 JSON if the signer keeps to its word, but not looked into.
    package let payload: [UInt8]

    /// The chain whose leaf signed it; leaf and intermediate may have been revoked, which only an OCSP responder knows.
    package let chain: VerifiedChain
}
