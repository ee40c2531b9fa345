// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A program that a test started; killed, at the latest, when the test lets go of it.
///
/// It begins with no signal blocked or ignored.
package final class ChildProcess: Sendable {
    /// How a program ended.
    package enum End: Hashable, Sendable {
        case exited(Int32)
        case killed(bySignal: Int32)
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(_ description: String) {
            self.description = description
        }
    }

    package let id: Int32
    private let end = Mutex<End?>(nil)

    /// Starts a program, looked up in PATH if its name has no slash.
    ///
    /// Its words are its name and its arguments, its environment is all of its variables, and what it writes is
    /// appended to the files for output and errors.
    package init(
        _ words: [String],
        environment: [String: String],
        input: String = "/dev/null",
        output: String = "/dev/null",
        errors: String = "/dev/null"
    ) throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let append = O_WRONLY | O_CREAT | O_APPEND
        unsafe posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, append, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, append, 0o600)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup("\($0.key)=\($0.value)") } + [nil]
        defer {
            unsafe arguments.forEach { unsafe free($0) }
            unsafe variables.forEach { unsafe free($0) }
        }
        var id: pid_t = 0
        let code = unsafe posix_spawnp(&id, words[0], &actions, &attributes, &arguments, &variables)
        guard code == 0 else { throw Failure("\(words[0]) can't be started: error \(code)") }
        self.id = id
    }

    deinit {
        guard ended == nil else { return }
        kill(id, SIGKILL)
        var status: Int32 = 0
        unsafe waitpid(id, &status, 0)
    }

    /// How it ended; `nil` while it runs.
    package var ended: End? {
        end.withLock { end in
            var status: Int32 = 0
            if end == nil, unsafe waitpid(id, &status, WNOHANG) == id { end = End(status: status) }
            return end
        }
    }

    /// Sends a signal, unless it has ended.
    package func send(_ signal: Int32) {
        if ended == nil { kill(id, signal) }
    }

    /// Waits until it has ended.
    package func waitForEnd(patience seconds: Int = 120) async throws -> End {
        for _ in 0..<(seconds * 100) {
            if let ended { return ended }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Failure("process \(id) still runs after \(seconds) s")
    }
}

extension ChildProcess.End {
    /// Reads what `waitpid` says.
    fileprivate init(status: Int32) {
        let signal = status & 0x7F
        self = signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(bySignal: signal)
    }
}
