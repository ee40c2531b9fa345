// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc

/// A connection for another protocol than HTTP, made by libcurl with its checks of certificates; used by one thread.
@safe
package final class StreamConnection {
    private let handle: EasyHandle
    private let opener: SocketOpener
    private let socket: Int32

    /// Connects; blocks the thread for as long as the configuration allows.
    package init(_ configuration: StreamConfiguration) throws(StreamError) {
        signal(SIGPIPE, SIG_IGN)
        opener = SocketOpener(configuration.addresses)
        do throws(ClientError) {
            try CurlLibrary.start()
            handle = try EasyHandle()
            handle.configure(configuration)
            opener.attach(to: handle)
            try handle.check()
        } catch {
            throw .notConnected(error)
        }
        let code = unsafe curl_easy_perform(handle.pointer)
        var found: Int32 = -1
        unsafe shim_easy_get_socket(handle.pointer, &found)
        socket = found
        guard code == CURLE_OK, found >= 0 else { throw .notConnected(Self.error(code, of: handle, opener)) }
        shim_limit_silence(found, Self.silenceMilliseconds)
    }

    private static func error(_ code: CURLcode, of handle: EasyHandle, _ opener: SocketOpener) -> ClientError {
        if opener.hasRefusedAddress, code == CURLE_COULDNT_CONNECT { return .addressNotAllowed }
        if code == CURLE_OPERATION_TIMEDOUT { return .connectTimeout }
        return ClientError(code, handle.explanation(of: code))
    }

    /// How long sent bytes may stay unacknowledged.
    private static let silenceMilliseconds: UInt32 = 30_000
    /// One TLS record; after a partial write, libcurl expects the same bytes again.
    private static let mostBytesAtOnce = 16_384

    /// Sends all bytes, unless nothing of them can be sent for `stallMilliseconds`; blocks the thread.
    package func send(
        _ bytes: [UInt8],
        stallMilliseconds: Int64,
        isStopped: () -> Bool
    ) throws(StreamError) {
        var (start, progressAt) = (0, MonotonicClock.milliseconds)
        while start < bytes.count {
            let end = min(start + Self.mostBytesAtOnce, bytes.count)
            let sent = try sendSome(bytes[start..<end])
            if sent > 0 {
                start += sent
                progressAt = MonotonicClock.milliseconds
                continue
            }
            try discardInput()
            guard MonotonicClock.milliseconds - progressAt < stallMilliseconds else {
                throw .stalled(milliseconds: stallMilliseconds)
            }
            guard !isStopped() else { throw .stopped }
            shim_await_socket(socket, 1, 100)
        }
    }

    /// - Returns: How many were taken; 0 if none can be now.
    private func sendSome(_ bytes: ArraySlice<UInt8>) throws(StreamError) -> Int {
        var count = 0
        let code = unsafe bytes.withUnsafeBytes { buffer in
            unsafe curl_easy_send(handle.pointer, buffer.baseAddress, buffer.count, &count)
        }
        switch code {
        case CURLE_OK: return count
        case CURLE_AGAIN: return 0
        default: throw .broken(handle.explanation(of: code))
        }
    }

    /// Reads and drops what has arrived: if it stayed unread, closing the connection would reset it.
    ///
    /// - Throws: If the other side has ended the connection.
    package func discardInput() throws(StreamError) {
        for _ in 0..<64 {
            var (buffer, count) = ([UInt8](repeating: 0, count: 4096), 0)
            let code = unsafe buffer.withUnsafeMutableBytes { buffer in
                unsafe curl_easy_recv(handle.pointer, buffer.baseAddress, buffer.count, &count)
            }
            switch code {
            case CURLE_OK where count > 0: continue
            case CURLE_OK: throw .closed
            case CURLE_AGAIN: return
            default: throw .broken(handle.explanation(of: code))
            }
        }
    }

    /// Waits until something has arrived, or for that long.
    package func awaitInput(milliseconds: Int32) { shim_await_socket(socket, 0, milliseconds) }

    /// Whether the other side's system has everything that was sent.
    package var isAcknowledged: Bool { shim_unacknowledged_bytes(socket) == 0 }
}

extension EasyHandle {
    /// Sets what makes a connection and sends nothing.
    fileprivate func configure(_ configuration: StreamConfiguration) {
        set(CURLOPT_PROTOCOLS_STR, configuration.origin.scheme.rawValue)
        set(CURLOPT_PROXY, "")
        set(CURLOPT_NOPROXY, "*")
        set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        set(CURLOPT_URL, configuration.origin.description)
        set(CURLOPT_CONNECT_ONLY, true)
        // A look-up of the host's name that hangs must not hold up the end of the thread.
        set(CURLOPT_QUICK_EXIT, true)
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        // The names of HTTP are not what is spoken.
        set(CURLOPT_SSL_ENABLE_ALPN, false)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_SSL_VERIFYPEER, true)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        if let file = configuration.trustedCertificatesFile {
            set(CURLOPT_CAINFO, file)
            set(CURLOPT_CAPATH, nil)
        }
        if let certificate = configuration.clientCertificateFile, let key = configuration.clientKeyFile {
            set(CURLOPT_SSLCERT, certificate)
            set(CURLOPT_SSLKEY, key)
            // Else OpenSSL asks the terminal for the passphrase of an encrypted key.
            set(CURLOPT_KEYPASSWD, "")
        }
        set(CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeoutMilliseconds)
        set(CURLOPT_TCP_KEEPALIVE, true)
        set(CURLOPT_NOSIGNAL, true)
    }
}
