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
    /// The secret itself is not kept.
    package init(_ secret: SecureBytes) throws(HMACKeyError) {
        guard secret.count >= Self.minimumByteCount else { throw .tooShort(byteCount: secret.count) }
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
                var count = 0
                // No key given: the states prepared from it are taken up again.
                succeeded =
                    unsafe EVP_MAC_init(context, nil, 0, nil) == 1
                    && EVP_MAC_update(context, message, message.count) == 1
                    && EVP_MAC_final(context, target.baseAddress, &count, target.count) == 1
                    && count == target.count
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
        let algorithm = try unsafe Owned(
            EVP_MAC_fetch(nil, "HMAC", nil),
            freedBy: { unsafe EVP_MAC_free($0) },
            while: "find HMAC"
        )
        let template = try unsafe Owned(
            EVP_MAC_CTX_new(algorithm.pointer),
            freedBy: { unsafe EVP_MAC_CTX_free($0) },
            while: "prepare HMAC"
        )
        let succeeded = unsafe secret.withBytes { secret in
            let key = unsafe secret.bindMemory(to: UInt8.self)
            return unsafe shim_keyed_hmac_sha256(template.pointer, key.baseAddress, key.count) == 1
        }
        guard succeeded else { throw .drain("prepare HMAC") }
        return unsafe ContextPool(
            template: template,
            duplicatedBy: { unsafe EVP_MAC_CTX_dup($0) },
            freedBy: { unsafe EVP_MAC_CTX_free($0) }
        )
    }
}

/// Why a secret can't be an HMAC key.
package enum HMACKeyError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooShort(byteCount: Int)
    case openSSL(OpenSSLError)

    package var description: String {
        switch self {
        case .tooShort(let byteCount):
            "The secret has \(byteCount) bytes; at least \(HMACKey.minimumByteCount) are needed."
        case .openSSL(let error):
            error.description
        }
    }
}
