// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A run of the `openssl` command.
///
/// By `posix_spawn`: Foundation's `Process` reads past a buffer when it lists descriptors, and AddressSanitizer ends the run.
final class OpenSSLCommand {
    struct CannotStart: Error {
        let errno: Int32
    }

    private var process = pid_t()
    private let input: Int32
    private let output: Int32
    private var received: [UInt8] = []

    init(_ arguments: [String]) throws {
        let (childInput, input) = Self.makePipe()
        let (output, childOutput) = Self.makePipe()
        self.input = input
        self.output = output
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, childInput, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, childOutput, STDOUT_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, childOutput, STDERR_FILENO)
        var words = unsafe (["openssl"] + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        let result = unsafe posix_spawnp(&process, "openssl", &actions, nil, &words, environ)
        close(childInput)
        close(childOutput)
        guard result == 0 else { throw CannotStart(errno: result) }
    }

    deinit {
        close(input)
        close(output)
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe write(input, bytes, bytes.count)
    }

    /// Sends bytes and waits until the command has read them, so that they come alone; returns at once if it has ended.
    func sendAlone(_ text: String) async throws {
        send(text)
        while isAwaited() { try await Task.sleep(for: .milliseconds(1)) }
    }

    private func isAwaited() -> Bool {
        var unread: Int32 = 0
        var end = pollfd(fd: input, events: 0, revents: 0)
        guard unsafe ioctl(input, UInt(FIONREAD), &unread) == 0, unsafe poll(&end, 1, 0) >= 0 else { return false }
        return unread > 0 && end.revents & Int16(POLLERR) == 0
    }

    /// Reads until that text has come; false if the command ends before.
    func read(until text: String) -> Bool {
        while !String(decoding: received, as: UTF8.self).contains(text) {
            guard receive() else { return false }
        }
        return true
    }

    /// Waits for the end and returns all that was said.
    @discardableResult
    func finish() -> String {
        while receive() {}
        var status: Int32 = 0
        unsafe waitpid(process, &status, 0)
        return String(decoding: received, as: UTF8.self)
    }

    private func receive() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe Glibc.read(output, &buffer, buffer.count)
        received += buffer.prefix(max(0, count))
        return count > 0
    }

    /// The end to read from and the end to write to; no other child inherits them.
    private static func makePipe() -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        unsafe Glibc.pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }
}
