// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A client that sends just the bytes it is given to 127.0.0.1, and reads answers; it blocks.
///
/// Each read waits at most ``patience`` seconds, so a test can fail but not hang.
package final class RawHTTPClient {
    /// An answer, taken apart.
    package struct Answer: Hashable, Sendable {
        package var status: Int
        /// Lowercase names; of repeated fields, the last.
        package var headers: [String: String]
        package var body: String
    }

    /// Why an answer did not come.
    package enum Failure: Error, Hashable {
        case cannotConnect(errno: Int32)
        /// What had come when the connection ended, the time was over, or it made no sense.
        case noAnswer(received: String)
    }

    private let socket: Int32
    fileprivate var descriptor: Int32 { socket }
    private var received: [UInt8] = []
    private let patience: Int
    private var isOpen = true

    /// Connects from the address of that number in 127.0.0.0/16, which the server takes for a neighbour of its own.
    package init(port: UInt16, from host: UInt16 = 1, patience seconds: Int = 20) throws {
        patience = seconds
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        // A port that is chosen by then is taken for every destination, and there are fewer than ten thousand ports.
        guard unsafe host == 1 || Self.call(bind, socket, host, 0) == 0,
            unsafe Self.call(connect, socket, 1, port) == 0
        else {
            throw Failure.cannotConnect(errno: errno)
        }
        var wait = timeval(tv_sec: seconds, tv_usec: 0)
        unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
        var on: Int32 = 1
        unsafe setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        close()
    }

    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32,
        _ socket: Int32,
        _ host: UInt16,
        _ port: UInt16
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = (0x7F00_0000 | UInt32(host)).bigEndian
        return unsafe withUnsafePointer(to: address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe function(socket, address, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Sends all the bytes; false if the server has closed.
    @discardableResult
    package func send(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe Glibc.send(
                    socket,
                    bytes.baseAddress?.advanced(by: sent),
                    bytes.count - sent,
                    Int32(MSG_NOSIGNAL)
                )
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    @discardableResult
    package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Reads one answer, framed by its Content-Length or in chunks.
    ///
    /// Those to HEAD, and those with status 204 and 304, have no body.
    package func readAnswer(toHead: Bool = false) throws -> Answer {
        while true {
            if let answer = takeAnswer(toHead) { return answer }
            guard receive() > 0 else { throw Failure.noAnswer(received: String(decoding: received, as: UTF8.self)) }
        }
    }

    /// Reads until the server closes.
    ///
    /// - Returns: What came after the last answer that was read; `nil` if the server did not close in time.
    package func readToEnd() -> [UInt8]? {
        while true {
            let count = receive()
            if count == 0 || count < 0 && errno == ECONNRESET {
                defer { received = [] }
                return received
            }
            guard count > 0 else { return nil }
        }
    }

    /// Whether the server closes without sending another byte.
    package func isClosedByServer() -> Bool { readToEnd()?.isEmpty == true }

    /// Says that nothing more will be sent; answers can still be read.
    package func finishSending() {
        shutdown(socket, Int32(SHUT_WR))
    }

    package func close() {
        guard isOpen else { return }
        isOpen = false
        Glibc.close(socket)
    }

    /// Ends the connection with RST instead of FIN.
    package func reset() {
        var immediately = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &immediately, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    private func receive() -> Int {
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = unsafe recv(socket, &buffer, buffer.count, 0)
        if count > 0 { received += buffer.prefix(count) }
        return count
    }

    private func takeAnswer(_ toHead: Bool) -> Answer? {
        let end = Array("\r\n\r\n".utf8)
        guard let headEnd = received.indices.first(where: { received[$0...].starts(with: end) }) else { return nil }
        let lines = String(decoding: received[..<headEnd], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ", maxSplits: 2) ?? []
        guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
        }
        let hasBody = !toHead && status >= 200 && status != 204 && status != 304
        if hasBody, headers["transfer-encoding"] == "chunked" {
            guard let (body, end) = unchunked(from: headEnd + end.count) else { return nil }
            received.removeFirst(end)
            return Answer(status: status, headers: headers, body: String(decoding: body, as: UTF8.self))
        }
        let length = hasBody ? headers["content-length"].flatMap { Int($0) } ?? 0 : 0
        let bodyStart = headEnd + end.count
        guard received.count >= bodyStart + length else { return nil }
        let body = String(decoding: received[bodyStart..<(bodyStart + length)], as: UTF8.self)
        received.removeFirst(bodyStart + length)
        return Answer(status: status, headers: headers, body: body)
    }

    /// A body in chunks, without trailers, and where it ends; nil until all of it has come.
    private func unchunked(from start: Int) -> (body: [UInt8], end: Int)? {
        var (body, position): ([UInt8], Int) = ([], start)
        while let lineEnd = received[position...].firstIndex(of: 0x0D) {
            guard let size = Int(String(decoding: received[position..<lineEnd], as: UTF8.self), radix: 16),
                received.count >= lineEnd + 4 + size
            else { return nil }
            body += received[(lineEnd + 2)..<(lineEnd + 2 + size)]
            position = lineEnd + 4 + size
            if size == 0 { return (body, position) }
        }
        return nil
    }
}

extension RawHTTPClient {
    /// Whether the server has sent something that was not read yet, or has closed.
    package var hasInput: Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, 0) > 0
    }

    /// Whether the server sends RST before the time is over: it closed with bytes unread, which can lose an answer.
    package func isReset(within milliseconds: Int32) -> Bool {
        var waiting = pollfd(fd: descriptor, events: 0, revents: 0)
        guard unsafe poll(&waiting, 1, milliseconds) > 0 else { return false }
        return Int32(waiting.revents) & POLLERR != 0
    }
}
