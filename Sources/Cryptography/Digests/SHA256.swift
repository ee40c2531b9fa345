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
            // Data can't cause this: the program is never built for an OpenSSL without SHA-256.
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

    /// The digest of one byte and the bytes after it, as leaves of a Merkle tree are hashed.
    ///
    /// Nothing is copied together first. Any thread may call this.
    package static func digest(of first: UInt8, then bytes: [UInt8]) -> SHA256Digest {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe digest { context in
                unsafe update(context, first) && EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
            }
        }
    }

    /// The digest of one byte and two digests after it, as nodes of a Merkle tree are hashed.
    ///
    /// Any thread may call this.
    package static func digest(of first: UInt8, then left: SHA256Digest, _ right: SHA256Digest) -> SHA256Digest {
        unsafe digest { context in
            unsafe update(context, first)
                && left.withBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 }
                && right.withBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 }
        }
    }

    static func digest(of bytes: UnsafeRawBufferPointer) -> SHA256Digest {
        unsafe digest { context in unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1 }
    }

    private static func update(_ context: OpaquePointer, _ byte: UInt8) -> Bool {
        var byte = byte
        return unsafe EVP_DigestUpdate(context, &byte, 1) == 1
    }

    /// The digest of what `update` gives to the context; it says whether that went well.
    private static func digest(_ update: (OpaquePointer) -> Bool) -> SHA256Digest {
        let digest = unsafe contexts.withContext { context in
            var succeeded = false
            let digest = unsafe SHA256Digest { target in
                succeeded =
                    unsafe EVP_DigestInit_ex2(context, algorithm, nil) == 1
                    && update(context)
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
