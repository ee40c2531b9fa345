// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Glibc

/// A connected socket that never blocks, and the TLS session on it if there is one.
///
/// Belongs to one ``Connection``, which calls ``close()`` once, last.
@safe
struct ConnectionSocket {
    enum Reception: Hashable {
        /// The buffer holds that many bytes; `areAll` says whether they are all that had arrived.
        case bytes(Int, areAll: Bool)
        /// Nothing more has come.
        case nothing
        /// The client will send no more.
        case end
        case failed
    }

    enum Transmission: Hashable {
        case sent(Int)
        /// The system takes no more now.
        case full
        case failed
    }

    private let socket: Int32
    private let session: OpaquePointer?

    /// Plain TCP.
    init(_ socket: Int32) {
        self.socket = socket
        unsafe session = nil
    }

    /// TLS, to be agreed on in the course of ``receive(into:)``; `nil` when memory is short, and then the socket is still
    /// the caller's.
    init?(_ socket: Int32, _ context: TLSContext, asksForCertificate: Bool) {
        guard let session = unsafe context.makeConnection(asksForCertificate: asksForCertificate) else { return nil }
        guard unsafe SSL_set_fd(session, socket) == 1 else {
            unsafe SSL_free(session)
            return nil
        }
        unsafe SSL_set_accept_state(session)
        self.socket = socket
        unsafe self.session = session
    }

    var isTLS: Bool { unsafe session != nil }

    /// Whether TLS is agreed on; true without TLS.
    var handshakeIsComplete: Bool {
        guard let session = unsafe session else { return true }
        return unsafe SSL_is_init_finished(session) == 1
    }

    /// SHA-256 of the DER of the client's certificate; `nil` if it showed none.
    ///
    /// A resumed session has the certificate of the session that it resumes.
    var certificateDigest: [UInt8]? {
        guard let session = unsafe session, let certificate = unsafe SSL_get0_peer_certificate(session) else {
            return nil
        }
        var count: UInt32 = 0
        let digest = unsafe [UInt8](unsafeUninitializedCapacity: 32) { bytes, length in
            let isMade = unsafe X509_digest(certificate, EVP_sha256(), bytes.baseAddress, &count) == 1
            length = isMade ? Int(count) : 0
        }
        return digest.isEmpty ? nil : digest
    }

    /// Puts what has come, as far as there is room, at the beginning of the buffer.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Reception {
        guard let session = unsafe session else { return unsafe receivePlain(into: buffer) }
        var count = 0
        ERR_clear_error()
        let isRead = unsafe SSL_read_ex(session, buffer.baseAddress, buffer.count, &count) == 1
        guard !isRead else { return .bytes(count, areAll: false) }
        switch unsafe SSL_get_error(session, 0) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .nothing
        case SSL_ERROR_ZERO_RETURN: return .end
        default:
            // Errors left in the thread's queue would be attributed to another connection.
            ERR_clear_error()
            return .failed
        }
    }

    private func receivePlain(into buffer: UnsafeMutableRawBufferPointer) -> Reception {
        while true {
            let count = unsafe recv(socket, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count, areAll: count < buffer.count) }
            if count == 0 { return .end }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .nothing
            default: return .failed
            }
        }
    }

    /// Sends the beginning of `bytes`, which must not be empty.
    ///
    /// After ``Transmission/full``, the caller must pass the same bytes again before any others: TLS requires that.
    func send(_ bytes: RawSpan) -> Transmission {
        guard let session = unsafe session else { return sendPlain(bytes) }
        var count = 0
        ERR_clear_error()
        let isSent = unsafe bytes.withUnsafeBytes { bytes in
            unsafe SSL_write_ex(session, bytes.baseAddress, bytes.count, &count) == 1
        }
        guard !isSent else { return .sent(count) }
        switch unsafe SSL_get_error(session, 0) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .full
        default:
            ERR_clear_error()
            return .failed
        }
    }

    private func sendPlain(_ bytes: RawSpan) -> Transmission {
        while true {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 { return .sent(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .full
            default: return .failed
            }
        }
    }

    /// Says that nothing more will be sent.
    func finishSending() {
        sayGoodbye()
        shutdown(socket, Int32(SHUT_WR))
    }

    /// Sends TLS's close notification; nothing depends on its arrival.
    private func sayGoodbye() {
        guard let session = unsafe session, handshakeIsComplete else { return }
        unsafe SSL_shutdown(session)
        ERR_clear_error()
    }

    /// Closes the socket; a TLS session says goodbye first unless it has failed.
    func close(hasFailed: Bool) {
        if !hasFailed { sayGoodbye() }
        if let session = unsafe session { unsafe SSL_free(session) }
        Glibc.close(socket)
    }
}
