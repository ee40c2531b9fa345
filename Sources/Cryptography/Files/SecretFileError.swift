// SPDX-License-Identifier: Apache-2.0

/// Why a secret file is not read or not written.
///
/// The sentences say what was found and what was expected, and nothing of the contents; the code that shows one adds
/// the file's path. A `code` is an `errno`.
package enum SecretFileError: Error, Hashable, Sendable, CustomStringConvertible {
    case cannotOpen(code: Int32)
    case notRegular(FileKind)
    case empty
    case tooLarge(byteCount: Int)
    case foreignOwner(userID: UInt32, expected: UInt32)
    case modeTooOpen(mode: UInt32, policy: SecretFilePolicy)
    case directoryWritableByAll(path: String, mode: UInt32)
    case directoryUnreadable(path: String, code: Int32)
    case cannotRead(code: Int32)
    case changedWhileRead
    case notHexadecimal
    case secureMemory(SecureMemoryError)
    case exists
    case cannotCreate(code: Int32)
    case cannotWrite(code: Int32)
    case noRandom(RandomError)

    /// Whether there is no such file.
    package var isMissing: Bool { self == .cannotOpen(code: 2) }

    /// What was found, what was expected, and how to correct a mode; without the file's path.
    package var description: String {
        switch self {
        case .cannotOpen(let code): "The file cannot be opened: \(describe(code))."
        case .notRegular(let kind): "This is \(kind.rawValue); a regular file was expected."
        case .empty: "The file is empty; a secret was expected."
        case .tooLarge(let byteCount):
            "The file has \(byteCount) bytes; at most \(SecretFilePolicy.maximumByteCount) were expected."
        case .foreignOwner(let userID, let expected):
            "The file belongs to the user with id \(userID); it was expected to belong to \(Self.owners(expected))."
        case .modeTooOpen(let mode, let policy):
            "The file's mode is \(Self.octal(mode)), which opens it to others; "
                + (policy.allowsGroupRead ? "0440, 0400 or 0600" : "0400 or 0600") + " was expected. "
                + Self.remedy(mode, policy)
        case .directoryWritableByAll(let path, let mode):
            "Anyone may put another file in its place, because the mode of the directory \(path) is "
                + "\(Self.octal(mode)); a directory that others may not write was expected."
        case .directoryUnreadable(let path, let code):
            "The directory \(path) on the way to the file cannot be examined: \(describe(code))."
        case .cannotRead(let code): "The file cannot be read: \(describe(code))."
        case .changedWhileRead: "The file changed its size while it was read; stop whatever writes to it."
        case .notHexadecimal:
            "The file holds something other than pairs of lowercase hexadecimal digits and a line end; only these were "
                + "expected."
        case .secureMemory(let error): error.description
        case .exists: "The file already exists; a new one was expected."
        case .cannotCreate(let code): "The file cannot be created: \(describe(code))."
        case .cannotWrite(let code): "The file cannot be written: \(describe(code))."
        case .noRandom(let error): error.description
        }
    }

    /// How to correct the mode: with `fsGroup`, Kubernetes mounts secrets 0440, and a setting must allow that.
    private static func remedy(_ mode: UInt32, _ policy: SecretFilePolicy) -> String {
        let isForGroupAlone = mode & SecretFilePolicy(allowsGroupRead: true).forbiddenMode == 0
        return isForGroupAlone && !policy.allowsGroupRead
            ? "Use chmod 600, or set --group-readable-secrets yes if the group may read it, as with fsGroup of Kubernetes."
            : "Use chmod 600."
    }

    private static func owners(_ userID: UInt32) -> String {
        userID == 0 ? "root (0)" : "root (0) or the user of this process (\(userID))"
    }

    private static func octal(_ mode: UInt32) -> String {
        let digits = String(mode & 0o7777, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

/// The kinds of files that are not regular ones, in words for a sentence.
package enum FileKind: String, Hashable, Sendable {
    case directory = "a directory"
    case pipe = "a named pipe"
    case socket = "a socket"
    case device = "a device"
    case other = "a special file"
}
