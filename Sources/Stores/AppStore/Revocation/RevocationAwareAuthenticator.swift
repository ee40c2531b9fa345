// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// Accepts signed data if its signature and its chain are valid and none of its certificates has been revoked.
///
/// Responders are asked only about chains that verified a signature. So only the App Store can make the service call a
/// responder.
package struct RevocationAwareAuthenticator: SignedDataAuthenticator {
    private let verifier: SignedDataVerifier
    private let monitor: RevocationMonitor

    package init(_ verifier: SignedDataVerifier, _ monitor: RevocationMonitor) {
        self.verifier = verifier
        self.monitor = monitor
    }

    /// Verifies signature and chain first, then checks whether a certificate is revoked.
    package func payload(
        of jws: [UInt8],
        at unixSeconds: Int64,
        maximumBytes: Int
    ) throws(SignedDataError) -> [UInt8] {
        let verified = try verifier.verify(jws, at: unixSeconds, maximumBytes: maximumBytes)
        try monitor.check(verified.chain, at: unixSeconds)
        return verified.payload
    }

    package func remembersChain(of jws: [UInt8], maximumBytes: Int) -> Bool {
        verifier.remembersChain(of: jws, maximumBytes: maximumBytes)
    }
}
