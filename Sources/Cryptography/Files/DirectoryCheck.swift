// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Whether other users can replace a file that must be trusted.
package enum DirectoryCheck {
    /// Checks every directory on the way to an open file: as it was written, and as the file really lies.
    ///
    /// - Throws: ``SecretFileError/directoryWritableByAll(path:mode:)``, or what keeps a directory from being looked at.
    package static func check(wayTo path: String, ofOpenFile descriptor: Int32) throws(SecretFileError) {
        for directory in directories(above: path) { try check(directory) }
        for directory in directories(above: try realPath(of: descriptor)) { try check(directory) }
    }

    static func check(wayTo path: String, of file: borrowing OpenFile) throws(SecretFileError) {
        try check(wayTo: path, ofOpenFile: file.descriptor)
    }

    /// `/a/b` and `/a` and `/` for `/a/b/c`; `a` and `.` for `a/b`.
    static func directories(above path: String) -> [String] {
        var directories: [String] = []
        var rest = Substring(path)
        while let slash = rest.lastIndex(of: "/") {
            rest = rest[..<slash]
            if !rest.isEmpty { directories.append(String(rest)) }
        }
        return directories + [path.hasPrefix("/") ? "/" : "."]
    }

    private static func check(_ directory: String) throws(SecretFileError) {
        var status = stat()
        guard unsafe stat(directory, &status) == 0 else { throw .directoryUnreadable(path: directory, code: errno) }
        guard status.st_mode & S_IWOTH != 0 else { return }
        // In a sticky directory, a file can be replaced only by its owner, the directory's owner and root.
        let isGuarded = status.st_mode & S_ISVTX != 0 && (status.st_uid == 0 || status.st_uid == geteuid())
        guard isGuarded || isMountedReadOnly(directory) else {
            throw .directoryWritableByAll(path: directory, mode: status.st_mode & 0o7777)
        }
    }

    /// A read-only mount can't be written here; Kubernetes mounts its config maps this way, with mode 0777.
    private static func isMountedReadOnly(_ directory: String) -> Bool {
        var system = statvfs()
        return unsafe statvfs(directory, &system) == 0 && system.f_flag & UInt(ST_RDONLY) != 0
    }

    private static func realPath(of descriptor: Int32) throws(SecretFileError) -> String {
        let link = "/proc/self/fd/\(descriptor)"
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(link, &path, path.count)
        guard count > 0, count < path.count else { throw .directoryUnreadable(path: link, code: errno) }
        return String(decoding: path[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
