// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
package import Storage

/// Room on the database's disk that is for grants alone: other writes that apps can cause stop before it is used.
package final class DiskReserve: Sendable {
    /// Free and total bytes.
    package typealias Room = (left: UInt, all: UInt)

    private let room: @Sendable () -> Room?
    private let touched = Guarded(false)

    /// A reserve on a disk that `room` measures; `nil` means unknown.
    package init(room: @escaping @Sendable () -> Room?) {
        self.room = room
        look()
    }

    /// A reserve for a database in a file; `nil` for one on a server, whose disk is not visible from here.
    package convenience init?(_ location: DatabaseLocation) {
        guard case .sqlite(let path) = location else { return nil }
        let end = path.lastIndex(of: "/")
        let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        self.init {
            var disk = statvfs()
            guard unsafe statvfs(folder, &disk) == 0 else { return nil }
            return (left: disk.f_bavail * disk.f_frsize, all: disk.f_blocks * disk.f_frsize)
        }
    }

    /// Whether less room is left than the reserve.
    package var isTouched: Bool { touched.withLock { $0 } }

    /// Measures the room that is left; call it about once a second.
    package func look() {
        guard let (left, all) = room() else { return }
        touched.withLock { $0 = left < Self.bytes(ofDisk: all) }
    }

    /// 64 MiB, or a sixteenth of a small disk.
    private static func bytes(ofDisk size: UInt) -> UInt { min(64 << 20, size / 16) }
}
