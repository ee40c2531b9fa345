// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

/// A directory of a test's own, mode 0700, removed with everything in it when the test is done.
package final class TemporaryDirectory: Sendable {
    package let path: String
    /// The engine of the test that made the directory; what runs on another thread finds it here.
    package let engine: TestedEngine
    /// Schemas of a server that stand for databases in this directory, by name.
    private let places = Mutex<[String: PostgreSQLPlace]>([:])

    package init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "offer-signer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        path = url.path
        engine = TestedEngine.current
        Leftovers.add(path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        Leftovers.remove(path)
    }

    /// The path of something in the directory, which may or may not exist.
    package func path(of name: String) -> String {
        "\(path)/\(name)"
    }

    /// The address of a database of that name: a file in the directory, or its counterpart in the engine that the
    /// tests are run over.
    package func database(_ name: String) -> String {
        guard engine == .postgres else { return "sqlite:" + path(of: name) }
        do { return try place(name).address() } catch { return "postgres://no-server.invalid/\(error)" }
    }

    /// The counterpart of the database of that name on the server; it exists for as long as this directory.
    func place(_ name: String) throws -> PostgreSQLPlace {
        try places.withLock { places in
            let place = try places[name] ?? PostgreSQLPlace()
            places[name] = place
            return place
        }
    }

    /// Writes a file, its owner's alone unless said otherwise, and returns its path.
    @discardableResult
    package func write(_ bytes: [UInt8], to name: String, mode: Int = 0o600) throws -> String {
        let path = path(of: name)
        try Data(bytes).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    /// The bytes of a file, also of one in `/proc`, which has no size.
    package static func read(_ path: String) throws -> [UInt8] {
        guard let file = FileHandle(forReadingAtPath: path) else { throw CocoaError(.fileReadNoSuchFile) }
        var bytes: [UInt8] = []
        while let block = try file.read(upToCount: 65_536), !block.isEmpty { bytes += block }
        return bytes
    }
}

/// The directories that are there.
///
/// Nothing that is static is ever freed, so those of static values are removed at the end of the process.
private enum Leftovers {
    private static let paths: Mutex<Set<String>> = {
        atexit { for path in paths.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) } }
        return Mutex([])
    }()

    static func add(_ path: String) { paths.withLock { _ = $0.insert(path) } }

    static func remove(_ path: String) { paths.withLock { _ = $0.remove(path) } }
}
