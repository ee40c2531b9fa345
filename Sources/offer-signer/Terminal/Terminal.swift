// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// What the program says to the person who runs it.
enum Terminal {
    private static let cut = Atomic<Bool>(false)

    /// Whether something could not be written to standard output; what follows is dropped, and the command ends with 3.
    ///
    /// The command goes on: what was read of the records until then is still to be recorded.
    static var isCut: Bool { cut.load(ordering: .relaxed) }

    /// Writes one line to standard output.
    static func say(_ line: String) {
        write(Array((line + "\n").utf8), to: STDOUT_FILENO)
    }

    /// Writes whole lines to standard output.
    static func say(bytes: [UInt8]) {
        write(bytes, to: STDOUT_FILENO)
    }

    /// Writes one line to standard error.
    static func complain(_ line: String) {
        write(Array((line + "\n").utf8), to: STDERR_FILENO)
    }

    /// Writes to standard error without ending the line.
    static func hint(_ text: String) {
        write(Array(text.utf8), to: STDERR_FILENO)
    }

    /// How the program was called, for commands that are printed to be pasted.
    static var programName: String {
        guard let word = CommandLine.arguments.first, word.contains("/") else { return "offer-signer" }
        return word
    }

    /// Whether standard error is a terminal, on which a line can be kept up to date.
    static var canShow: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether a person can be asked: questions go to standard error, answers come from standard input.
    static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Asks the person at the keyboard.
    ///
    /// - Returns: What they wrote, without spaces around it; `nil` once nothing more comes.
    static func ask(_ question: String) -> String? {
        write(Array(question.utf8), to: STDERR_FILENO)
        guard let line = readLine() else { return nil }
        return String(line.trimmingSpaces)
    }

    private static func write(_ text: [UInt8], to descriptor: Int32) {
        if descriptor == STDOUT_FILENO, isCut { return }
        var bytes = text[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else {
                // The output did not arrive in full; a program that pipes it on must not take it for complete.
                if descriptor == STDOUT_FILENO { cut.store(true, ordering: .relaxed) }
                return
            }
            bytes = bytes.dropFirst(count)
        }
    }
}

extension String {
    /// Without white space at either end.
    fileprivate var trimmingSpaces: Substring {
        var text = self[...]
        while text.first?.isWhitespace == true { text = text.dropFirst() }
        while text.last?.isWhitespace == true { text = text.dropLast() }
        return text
    }
}

/// The environment of the process.
func environment() -> [String: String] {
    var variables: [String: String] = [:]
    var entry = unsafe environ
    while let variable = unsafe entry.pointee {
        let parts = unsafe String(cString: variable).split(
            separator: "=",
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
        unsafe entry += 1
    }
    return variables
}
