// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// SHA-256.
///
/// Source: FIPS 180-4.
package enum SHA256 {
    /// OpenSSL's SHA-256, looked up once: a lookup costs more than a short digest.
    ///
    /// Never freed; it lives as long as the process. `nonisolated(unsafe)`: OpenSSL's algorithm objects are read-only.
    nonisolated(unsafe) static let algorithm: OpaquePointer = {
        guard let found = unsafe EVP_MD_fetch(nil, "SHA256", nil) else {
            // Not for data to cause: an OpenSSL without SHA-256 is not one that this program is built for.
            preconditionFailure(OpenSSLError.drain("find SHA-256").description)
        }
        return unsafe found
    }()

    private static let contexts: ContextPool = {
        do throws(OpenSSLError) {
            return try makeContexts()
        } catch {
            preconditionFailure(error.description)
        }
    }()

    /// The digest of the bytes.
    ///
    /// Any thread may call this.
    package static func digest(of bytes: [UInt8]) -> SHA256Digest {
        unsafe bytes.withUnsafeBytes { unsafe digest(of: $0) }
    }

    /// The digest of the bytes.
    ///
    /// Any thread may call this.
    package static func digest(of bytes: ArraySlice<UInt8>) -> SHA256Digest {
        unsafe bytes.withUnsafeBytes { unsafe digest(of: $0) }
    }

    static func digest(of bytes: UnsafeRawBufferPointer) -> SHA256Digest {
        let digest = unsafe contexts.withContext { context in
            var succeeded = false
            let digest = unsafe SHA256Digest { target in
                succeeded =
                    unsafe EVP_DigestInit_ex2(context, algorithm, nil) == 1
                    && EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
                    && EVP_DigestFinal_ex(context, target.baseAddress, nil) == 1
            }
            return succeeded ? digest : nil
        }
        guard let digest else {
            // Only exhausted memory leads here, where Swift's own allocations stop the process too.
            preconditionFailure(OpenSSLError.drain("compute SHA-256").description)
        }
        return digest
    }

    private static func makeContexts() throws(OpenSSLError) -> ContextPool {
        let template = try unsafe Owned(
            EVP_MD_CTX_new(),
            freedBy: { unsafe EVP_MD_CTX_free($0) },
            while: "prepare SHA-256"
        )
        guard unsafe EVP_DigestInit_ex2(template.pointer, algorithm, nil) == 1 else { throw .drain("prepare SHA-256") }
        return unsafe ContextPool(
            template: template,
            duplicatedBy: { unsafe copy($0) },
            freedBy: { unsafe EVP_MD_CTX_free($0) }
        )
    }

    private static func copy(_ context: OpaquePointer) -> OpaquePointer? {
        guard let made = unsafe EVP_MD_CTX_new() else { return nil }
        guard unsafe EVP_MD_CTX_copy_ex(made, context) == 1 else {
            unsafe EVP_MD_CTX_free(made)
            return nil
        }
        return unsafe made
    }
}
