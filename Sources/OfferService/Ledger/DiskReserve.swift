// SPDX-License-Identifier: Apache-2.0
import Glibc
package import Storage

/// Room on the disk of the database that is for grants alone: what strangers can have written stops before it is used.
package final class DiskReserve: Sendable {
    private let folder: String
    private let touched = Guarded(false)

    /// Of a database in a file; `nil` of one on a server, whose disk is not seen from here.
    package init?(_ location: DatabaseLocation) {
        guard case .sqlite(let path) = location else { return nil }
        let end = path.lastIndex(of: "/")
        folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        look()
    }

    /// Whether less room is left than is kept back.
    package var isTouched: Bool { touched.withLock { $0 } }

    /// Looks how much there is; to be called about once a second.
    package func look() {
        var disk = statvfs()
        guard unsafe statvfs(folder, &disk) == 0 else { return }
        let isTouched = disk.f_bavail * disk.f_frsize < Self.bytes(ofDisk: disk.f_blocks * disk.f_frsize)
        touched.withLock { $0 = isTouched }
    }

    /// 64 MiB, or a sixteenth of a small disk.
    private static func bytes(ofDisk size: UInt) -> UInt { min(64 << 20, size / 16) }
}
