// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Glibc

/// A certificate chain, its key, and the rules of every TLS connection made from them: version 1.3, nothing older.
///
/// `@unchecked Sendable`: nothing changes an `SSL_CTX` after `init`, and OpenSSL lets threads make connections from a
/// shared one. Connections keep it alive by OpenSSL's own count, so it may be replaced while they last.
@safe
final class TLSContext: @unchecked Sendable {
    private let context: OpaquePointer

    /// Reads both files whole; either all of it is usable or it throws.
    init(_ configuration: TLSConfiguration) throws(ServerError) {
        ERR_clear_error()
        guard let context = unsafe SSL_CTX_new(TLS_server_method()) else {
            throw .cannotPrepare(operation: "start TLS", reason: Self.drainErrors())
        }
        unsafe self.context = context
        // Macros in <openssl/ssl.h>: SSL_CTX_set_min_proto_version, SSL_CTX_set_mode and SSL_CTX_set_read_ahead.
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_3_VERSION), nil)
        // Released buffers save 34 kB for each idle connection; the others let a write that the socket did not take whole
        // go on from a copy of the rest.
        let modes = SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(modes), nil)
        // A record's head and body with one call of the system.
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_READ_AHEAD, 1, nil)
        unsafe SSL_CTX_set_msg_callback(context, messageHasPassed)
        // Without this, OpenSSL asks the terminal for the passphrase of an encrypted key.
        unsafe SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in 0 }
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_CERT_LIST, Self.maximumCertificateBytes, nil)
        // Replaces OpenSSL's search for a chain, which an unauthenticated client could make long. OpenSSL still checks
        // that the client has the key.
        unsafe SSL_CTX_set_cert_verify_callback(context, { _, _ in 1 }, nil)
        try read(configuration)
    }

    deinit {
        unsafe SSL_CTX_free(context)
    }

    private func read(_ configuration: TLSConfiguration) throws(ServerError) {
        let (chain, key) = (configuration.certificateChainFile, configuration.privateKeyFile)
        guard unsafe SSL_CTX_use_certificate_chain_file(context, chain) == 1 else {
            throw .certificateUnreadable(path: chain, reason: Self.drainErrors())
        }
        if unsafe SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1 {
            let reason = Self.drainErrors()
            // OpenSSL compares the key with the certificate already when it reads it.
            guard !reason.contains("mismatch") else {
                throw .privateKeyDoesNotMatch(certificatePath: chain, privateKeyPath: key)
            }
            throw .privateKeyUnreadable(path: key, reason: reason)
        }
        guard unsafe SSL_CTX_check_private_key(context) == 1 else {
            _ = Self.drainErrors()
            throw .privateKeyDoesNotMatch(certificatePath: chain, privateKeyPath: key)
        }
    }

    /// Until when the certificate is valid, in seconds since 1970 UTC; `nil` if it does not say so.
    var expiry: Int64? {
        guard let certificate = unsafe SSL_CTX_get0_certificate(context),
            let time = unsafe X509_get0_notAfter(certificate)
        else { return nil }
        var seconds: Int64 = 0
        return unsafe shim_unix_seconds(time, &seconds) == 1 ? seconds : nil
    }

    /// A new connection's state, which the caller owns; `nil` when memory is short.
    ///
    /// A client that is asked for a certificate may show one or none. It has to prove that it has the certificate's key;
    /// whether the certificate is known is for the responder to decide.
    func makeConnection(asksForCertificate: Bool) -> OpaquePointer? {
        guard let session = unsafe SSL_new(context) else { return nil }
        guard asksForCertificate else { return unsafe session }
        unsafe SSL_set_verify(session, SSL_VERIFY_PEER, nil)
        // A session that began without the question must not be resumed: the client would never be asked.
        var mark: UInt8 = 1
        guard unsafe SSL_set_session_id_context(session, &mark, 1) == 1 else {
            unsafe SSL_free(session)
            return nil
        }
        return unsafe session
    }

    /// Limit of a client's chain: enough for several certificates with RSA keys, yet little memory per connection.
    private static let maximumCertificateBytes = 16_384

    /// Empties this thread's queue of OpenSSL errors into words, oldest first, each once.
    private static func drainErrors() -> String {
        var reasons: [String] = []
        while case let code = ERR_get_error(), code != 0 {
            let reason = reasonText(code)
            // OpenSSL's name for “what the system said before this”.
            if !reasons.contains(reason), reason != "system lib" { reasons.append(reason) }
        }
        return reasons.joined(separator: ", ")
    }

    private static func reasonText(_ code: UInt) -> String {
        // A macro in <openssl/err.h>: ERR_SYSTEM_ERROR.
        let systemErrorFlag: UInt = 1 << 31
        guard code & systemErrorFlag == 0 else {
            return unsafe String(cString: strerror(Int32(code & ~systemErrorFlag)))
        }
        return unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }
}

/// One after 16 million records is enough to keep a key safe (RFC 8446, section 5.5).
private let mostKeyUpdates = 32

/// Counts how often a client changes its key; too many changes count as the end of its input.
///
/// OpenSSL keeps reading while only key changes arrive. An endless stream of them would block the whole event loop.
private let messageHasPassed:
    @convention(c) (Int32, Int32, Int32, UnsafeRawPointer?, Int, OpaquePointer?, UnsafeMutableRawPointer?) -> Void = {
        isSent,
        _,
        type,
        bytes,
        count,
        session,
        _ in
        guard isSent == 0, type == SSL3_RT_HANDSHAKE, count > 0, let bytes = unsafe bytes, let session = unsafe session,
            unsafe Int32(bytes.load(as: UInt8.self)) == SSL3_MT_KEY_UPDATE
        else { return }
        // A macro in <openssl/ssl.h>: SSL_get_app_data. The number is kept in place of an address.
        let updates = Int(bitPattern: unsafe SSL_get_ex_data(session, 0)) + 1
        unsafe SSL_set_ex_data(session, 0, UnsafeMutableRawPointer(bitPattern: updates))
        if updates > mostKeyUpdates { unsafe SSL_set_shutdown(session, SSL_RECEIVED_SHUTDOWN) }
    }
