// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A file of certificates that libraries read by themselves, from its path.
package enum CertificateFile {
    private static let operation = "read certificates"

    /// Checks that OpenSSL, and so the code that calls stores through it, can use the file: PEM, other text between.
    ///
    /// - Throws: OpenSSL's reasons if the file can't be read, has no certificate, or has a malformed one.
    package static func check(path: String) throws(OpenSSLError) {
        let store = try unsafe Owned(
            X509_STORE_new(),
            freedBy: { unsafe X509_STORE_free($0) },
            while: operation
        )
        guard unsafe X509_STORE_load_file(store.pointer, path) == 1 else { throw .drain(operation) }
        // What it passes over, as the end of the file, leaves something in the queue.
        OpenSSLError.forget()
    }
}
