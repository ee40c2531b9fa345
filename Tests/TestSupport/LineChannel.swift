// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// Two named pipes to a child process that answers each line on its standard input with one on its standard output.
///
/// The child's input ends when this goes, or when the process that holds it dies however it may.
final class LineChannel: Sendable {
    /// To be given to the child as its input and its output.
    let inputPath, outputPath: String
    private let state: Mutex<State>

    private struct State {
        var input, output: Int32
        var received: [UInt8] = []
    }

    init(in directory: TemporaryDirectory) throws {
        inputPath = directory.path(of: "to-child")
        outputPath = directory.path(of: "from-child")
        // Opened for both ways, so that neither side has to wait for the other to open.
        state = try Mutex(State(input: Self.makePipe(inputPath), output: Self.makePipe(outputPath)))
    }

    deinit {
        close()
    }

    private static func makePipe(_ path: String) throws -> Int32 {
        guard unsafe mkfifo(path, 0o600) == 0 else { throw ChildProcess.Failure("mkfifo: errno \(errno)") }
        let descriptor = unsafe open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw ChildProcess.Failure("\(path) can't be opened: errno \(errno)") }
        return descriptor
    }

    /// Sends a line and returns the one that answers it; both without their end.
    func answer(to line: [UInt8], patience seconds: Int = 60) throws -> [UInt8] {
        try state.withLock { state in
            try Self.send(line + [UInt8(ascii: "\n")], to: state.input)
            return try Self.readLine(&state, patience: seconds)
        }
    }

    /// Waits for a line that nothing asked for.
    func nextLine(patience seconds: Int = 60) throws -> [UInt8] {
        try state.withLock { state in try Self.readLine(&state, patience: seconds) }
    }

    func close() {
        state.withLock { state in
            guard state.input >= 0 else { return }
            Glibc.close(state.input)
            Glibc.close(state.output)
            state.input = -1
        }
    }

    private static func send(_ bytes: [UInt8], to descriptor: Int32) throws {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe write(descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent)
            }
            guard count > 0 || errno == EINTR else { throw ChildProcess.Failure("write: errno \(errno)") }
            sent += max(count, 0)
        }
    }

    private static func readLine(_ state: inout State, patience seconds: Int) throws -> [UInt8] {
        var searched = 0
        while true {
            if let end = state.received[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { state.received.removeFirst(end + 1) }
                return Array(state.received[..<end])
            }
            searched = state.received.count
            var waiting = pollfd(fd: state.output, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&waiting, 1, Int32(seconds * 1000)) > 0 else {
                throw ChildProcess.Failure("no answer after \(seconds) s")
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = unsafe read(state.output, &buffer, buffer.count)
            guard count > 0 else { throw ChildProcess.Failure("read: errno \(errno)") }
            state.received += buffer.prefix(count)
        }
    }
}
