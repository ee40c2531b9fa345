// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A server on 127.0.0.1 that does to each connection just what a test says, right or wrong; without TLS.
final class ScriptedServer: Sendable {
    /// One accepted connection; its calls block.
    struct Peer: Sendable {
        let socket: Int32
        /// How many connections came before.
        let index: Int

        /// Reads to the end of a head, and a body after it if it has a length; `nil` if the client closed.
        func readRequest() -> String? {
            var received: [UInt8] = []
            var byte: UInt8 = 0
            while !received.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                guard unsafe recv(socket, &byte, 1, 0) == 1 else { return nil }
                received.append(byte)
            }
            let head = String(decoding: received, as: UTF8.self)
            let length = head.lowercased().components(after: "content-length: ").flatMap { Int($0) } ?? 0
            for _ in 0..<length where unsafe recv(socket, &byte, 1, 0) == 1 { received.append(byte) }
            return String(decoding: received, as: UTF8.self)
        }

        /// False once the client has closed.
        @discardableResult
        func write(_ text: String) -> Bool { write(Array(text.utf8)) }

        @discardableResult
        func write(_ bytes: [UInt8]) -> Bool {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = unsafe rest.withUnsafeBytes {
                    unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }

        /// Answers with status 200 and that body.
        func answer(_ body: String) {
            write("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }

        /// Waits until the client closes, or the server ends.
        func waitForClose() {
            var bytes = [UInt8](repeating: 0, count: 4096)
            while unsafe recv(socket, &bytes, bytes.count, 0) > 0 {}
        }
    }

    let port: UInt16
    private let listener: Int32
    private let state = Mutex(State())

    private struct State {
        var sockets: Set<Int32> = []
        var accepted = 0
        var closedByClient = 0
    }

    var accepted: Int { state.withLock { $0.accepted } }
    /// How many connections are done with.
    var closed: Int { state.withLock { $0.closedByClient } }

    init(_ script: @escaping @Sendable (Peer) -> Void) {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        unsafe withUnsafeMutablePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, length)
                listen(listener, 512)
                unsafe getsockname(listener, address, &length)
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        Thread.start { [self] in
            while case let socket = accept(listener, nil, nil), socket >= 0 { serve(socket, script) }
        }
    }

    private func serve(_ socket: Int32, _ script: @escaping @Sendable (Peer) -> Void) {
        let index = state.withLock { state in
            state.sockets.insert(socket)
            state.accepted += 1
            return state.accepted - 1
        }
        Thread.start { [self] in
            script(Peer(socket: socket, index: index))
            state.withLock { state in
                if state.sockets.remove(socket) != nil { close(socket) }
                state.closedByClient += 1
            }
        }
    }

    /// Ends all connections and accepts no more.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        state.withLock { state in
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    deinit {
        close(listener)
    }
}

/// Threads of their own: a script blocks as long as its test wants.
private enum Thread {
    static func start(_ body: @escaping @Sendable () -> Void) {
        let box = unsafe Unmanaged.passRetained(Box(body: body)).toOpaque()
        var thread = pthread_t()
        unsafe pthread_create(
            &thread,
            nil,
            { box in
                guard let box = unsafe box else { return nil }
                unsafe Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body()
                return nil
            },
            box
        )
        pthread_detach(thread)
    }

    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

extension String {
    /// The rest of the line after that text.
    fileprivate func components(after text: String) -> Substring? {
        guard let range = firstRange(of: text) else { return nil }
        return self[range.upperBound...].prefix { $0 != "\r\n" }
    }
}
