// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A key for HMAC-SHA256 with its keyed inner and outer states computed once.
///
/// Source: RFC 2104, FIPS 198-1. Any number of threads may use one.
package final class HMACKey: Sendable {
    /// The fewest bytes of a key: as many as the digest has, as RFC 2104 section 3 strongly advises.
    package static let minimumByteCount = 32

    private let contexts: ContextPool

    /// Prepares a key of at least 32 bytes.
    ///
    /// The secret itself is not kept, here nor in OpenSSL: it can go.
    package convenience init(_ secret: SecureBytes) throws(HMACKeyError) {
        try self.init(secret, minimumByteCount: Self.minimumByteCount)
    }

    /// The same for who says by themselves how short a secret may be.
    init(_ secret: SecureBytes, minimumByteCount: Int) throws(HMACKeyError) {
        guard secret.count >= minimumByteCount else { throw .tooShort(byteCount: secret.count) }
        do {
            contexts = try Self.contexts(keyedWith: secret)
        } catch {
            throw .openSSL(error)
        }
    }

    /// The message's HMAC-SHA256: 32 bytes.
    ///
    /// To compare one, use ``constantTimeEqual(_:_:)``.
    package func authenticationCode(for message: [UInt8]) -> [UInt8] {
        let code = unsafe contexts.withContext { context in
            var succeeded = false
            let code = unsafe SHA256Digest { target in
                succeeded = unsafe shim_hmac(context, message, message.count, target.baseAddress) == 1
            }
            return succeeded ? code.bytes : nil
        }
        guard let code else {
            // Only exhausted memory leads here, where Swift's own allocations stop the process too.
            preconditionFailure(OpenSSLError.drain("compute HMAC-SHA256").description)
        }
        return code
    }

    private static func contexts(keyedWith secret: SecureBytes) throws(OpenSSLError) -> ContextPool {
        let template = try unsafe secret.withBytes { secret throws(OpenSSLError) in
            let key = unsafe secret.bindMemory(to: UInt8.self)
            return try unsafe Owned(
                shim_hmac_sha256_keyed(key.baseAddress, key.count),
                freedBy: { unsafe shim_hmac_free($0) },
                while: "prepare HMAC"
            )
        }
        return unsafe ContextPool(
            template: template,
            duplicatedBy: { unsafe shim_hmac_copy($0) },
            freedBy: { unsafe shim_hmac_free($0) }
        )
    }
}

/// Why a secret can't be an HMAC key.
package enum HMACKeyError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooShort(byteCount: Int)
    case openSSL(OpenSSLError)

    /// What was found and expected; it shows nothing of the secret but its length.
    package var description: String {
        switch self {
        case .tooShort(let byteCount):
            "The secret has \(byteCount) bytes; at least \(HMACKey.minimumByteCount) are needed."
        case .openSSL(let error):
            error.description
        }
    }
}
