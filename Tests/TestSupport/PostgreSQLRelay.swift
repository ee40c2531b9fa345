// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization

/// Relays between connections and the tests' PostgreSQL server, and counts what passes.
package final class PostgreSQLRelay: Sendable {
    /// What has passed since ``reset()``.
    package struct Counts: Hashable, Sendable {
        /// How often a connection has begun to send after it had received something.
        package var roundTrips = 0
        /// How many statements were carried out.
        package var statements = 0
        /// How many transactions were committed.
        package var commits = 0
    }

    private let cluster: PostgreSQLCluster
    private let folder: String
    private let listener: Int32
    private let counted: Counted

    /// Listens beside the server's socket.
    package init(_ cluster: PostgreSQLCluster) throws {
        self.cluster = cluster
        folder = cluster.folder + "-relay-" + UUID().uuidString.prefix(8)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        counted = Counted()
        guard unsafe Self.call(bind, listener, folder + Self.name) == 0, listen(listener, 16) == 0 else {
            throw ChildProcess.Failure("the relay can't listen: error \(errno)")
        }
        Thread.detachNewThread { [listener, counted, server = cluster.folder + Self.name] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                Self.connect(client, to: server, counted)
            }
        }
    }

    deinit {
        // Wakes the thread that accepts.
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// The address by which a schema is reached through here.
    package func address(ofSchema schema: String) -> String {
        let (own, servers) = (folder.replacing("/", with: "%2F"), cluster.folder.replacing("/", with: "%2F"))
        return cluster.address(parameters: "options=-csearch_path%3D\(schema)%2Csqlite")
            .replacing("@\(servers)/", with: "@\(own)/")
    }

    /// What has passed since ``reset()``.
    package var counts: Counts { counted.counts.withLock { $0 } }

    /// Counts from 0.
    package func reset() { counted.counts.withLock { $0 = Counts() } }

    private static let name = "/.s.PGSQL.5432"

    private static func connect(_ client: Int32, to server: String, _ counted: Counted) {
        let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard unsafe call(Glibc.connect, upstream, server) == 0 else {
            close(client)
            close(upstream)
            return
        }
        let link = Link(client, upstream, counted)
        Thread.detachNewThread { link.forward(isQuestion: true) }
        Thread.detachNewThread { link.forward(isQuestion: false) }
    }

    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32,
        _ socket: Int32,
        _ path: String
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
            unsafe bytes.copyBytes(from: path.utf8.prefix(bytes.count - 1))
        }
        return unsafe withUnsafePointer(to: address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe function(socket, address, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

/// What all connections of a relay count together.
private final class Counted: Sendable {
    let counts = Mutex(PostgreSQLRelay.Counts())
}

/// One connection, in both directions; closed when both have ended.
private final class Link: Sendable {
    private struct State {
        var isAsking = false
        /// The first message has no type.
        var hasBegun = false
        var (questions, answers): ([UInt8], [UInt8]) = ([], [])
    }

    private let (client, server): (Int32, Int32)
    private let counted: Counted
    private let state = Mutex(State())

    init(_ client: Int32, _ server: Int32, _ counted: Counted) {
        (self.client, self.server, self.counted) = (client, server, counted)
    }

    deinit {
        close(client)
        close(server)
    }

    func forward(isQuestion: Bool) {
        let (source, target) = isQuestion ? (client, server) : (server, client)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = unsafe read(source, &buffer, buffer.count), count > 0 {
            note(Array(buffer[..<count]), isQuestion)
            var sent = 0
            while sent < count {
                let more = unsafe send(target, Array(buffer[sent..<count]), count - sent, Int32(MSG_NOSIGNAL))
                guard more > 0 else { return }
                sent += more
            }
        }
        shutdown(target, Int32(SHUT_WR))
    }

    private func note(_ bytes: [UInt8], _ isQuestion: Bool) {
        var found = PostgreSQLRelay.Counts()
        state.withLock { state in
            if isQuestion, !state.isAsking { found.roundTrips += 1 }
            state.isAsking = isQuestion
            if isQuestion { state.questions += bytes } else { state.answers += bytes }
            if isQuestion, !state.hasBegun, let length = Self.length(of: state.questions[...]) {
                state.questions.removeFirst(min(length, state.questions.count))
                state.hasBegun = true
            }
            if isQuestion {
                Self.eachMessage(&state.questions) { if $0.first == UInt8(ascii: "E") { found.statements += 1 } }
            } else {
                let commit = Array("C\0\0\0\u{B}COMMIT\0".utf8)
                Self.eachMessage(&state.answers) { if $0.elementsEqual(commit) { found.commits += 1 } }
            }
        }
        counted.counts.withLock { counts in
            counts.roundTrips += found.roundTrips
            counts.statements += found.statements
            counts.commits += found.commits
        }
    }

    /// The first four bytes as a number.
    private static func length(of bytes: ArraySlice<UInt8>) -> Int? {
        bytes.count < 4 ? nil : bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }

    /// Takes whole messages from the beginning.
    private static func eachMessage(_ bytes: inout [UInt8], _ body: (ArraySlice<UInt8>) -> Void) {
        var start = 0
        while let length = length(of: bytes[start...].dropFirst()), start + 1 + length <= bytes.count {
            body(bytes[start..<start + 1 + length])
            start += 1 + length
        }
        bytes.removeFirst(start)
    }
}
