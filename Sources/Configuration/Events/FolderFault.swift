// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why no file can be made in a folder.
enum FolderFault: CustomStringConvertible {
    case missing
    case noFolder
    case notWritable

    /// `nil` if a file can be made in it.
    init?(_ path: String) {
        var status = stat()
        if unsafe stat(path, &status) != 0 {
            self = .missing
        } else if status.st_mode & S_IFMT != S_IFDIR {
            self = .noFolder
        } else if unsafe access(path, W_OK | X_OK) != 0 {
            self = .notWritable
        } else {
            return nil
        }
    }

    var description: String {
        switch self {
        case .missing: "does not exist; make it first"
        case .noFolder: "is no folder"
        case .notWritable: "cannot be written to; let the service write there (systemd: ReadWritePaths=)"
        }
    }
}
