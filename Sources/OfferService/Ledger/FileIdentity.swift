// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Which file a path leads to; two paths to one file have the same.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// `nil` if the path leads nowhere, or can't be followed.
    init?(path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}
