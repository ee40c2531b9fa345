// SPDX-License-Identifier: Apache-2.0
import Dispatch
import HTTP
import Synchronization
import TestSupport

/// Answers by a closure, and remembers the paths it was asked for.
final class RecordingResponder: Responder {
    private let seen = Mutex<[String]>([])
    var paths: [String] { seen.withLock { $0 } }
    private let body: @Sendable (Request) async -> Response

    init(_ body: @escaping @Sendable (Request) async -> Response = RecordingResponder.echo) {
        self.body = body
    }

    func respond(to request: Request) async -> Response {
        seen.withLock { $0.append(String(decoding: request.path, as: UTF8.self)) }
        return await body(request)
    }

    /// A responder that treats some clients as authenticated.
    static func knowing(_ isKnown: @escaping @Sendable (Request) -> Bool) -> RecordingResponder {
        RecordingResponder { request in
            var response = await echo(request)
            response.isToKnownClient = isKnown(request)
            return response
        }
    }

    /// Says what it understood, in one line.
    @Sendable
    static func echo(_ request: Request) async -> Response {
        let query = request.query.map { "?" + String(decoding: $0, as: UTF8.self) } ?? ""
        let target = String(decoding: request.path, as: UTF8.self) + query
        return Response(
            status: 200,
            headers: [("Content-Type", "text/plain")],
            body: Array("\(request.method.name) \(target) \(String(decoding: request.body, as: UTF8.self))".utf8)
        )
    }
}

/// A thread for a test that blocks: Swift's own few threads are what the responders' sleeps need to end.
private final class BlockingThread: TaskExecutor {
    private let queue = DispatchQueue(label: "blocking test", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Runs `body` where it may block.
func mayBlock(_ body: () async throws -> Void) async throws {
    try await withTaskExecutorPreference(BlockingThread(), operation: body)
}

/// Runs `body` beside a server, and stops the server however `body` ends.
func withServer(
    _ configuration: ServerConfiguration = ServerConfiguration(loops: 1),
    _ responder: any Responder = RecordingResponder(),
    _ body: (Server) async throws -> Void
) async throws {
    let server = try Server(configuration, responder: responder)
    try server.start()
    do {
        try await mayBlock { try await body(server) }
    } catch {
        await server.stop()
        throw error
    }
    await server.stop()
}

/// A gate that tasks wait at until it is opened.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// Waits until something is so, at most 20 seconds.
func eventually(_ isSo: () throws -> Bool) async throws -> Bool {
    for _ in 0..<2000 {
        if try isSo() { return true }
        try await Task.sleep(for: .milliseconds(10))
    }
    return false
}

/// A request with a body, or with none.
func request(_ method: String = "GET", _ target: String = "/", _ fields: String = "", body: String? = nil) -> String {
    let length = body.map { "Content-Length: \($0.utf8.count)\r\n" } ?? ""
    return "\(method) \(target) HTTP/1.1\r\nHost: a\r\n\(length)\(fields)\r\n\(body ?? "")"
}
