// SPDX-License-Identifier: Apache-2.0
import CLinux

/// Which file a path leads to; two paths to one file have the same identity.
///
/// Unlike `stat`, it does not query the file's times. The service reads the identity after each commit. If it queried
/// the times, the next write would change them, and `fdatasync` might have to write them too.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// `nil` if the path leads nowhere, or can't be followed.
    package init?(path: String) {
        var status = statx()
        guard unsafe shim_find_inode(path, &status) == 0 else { return nil }
        device = UInt64(status.stx_dev_major) << 32 | UInt64(status.stx_dev_minor)
        inode = status.stx_ino
    }
}
