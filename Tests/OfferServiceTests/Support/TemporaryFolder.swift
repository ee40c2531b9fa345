// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// A path at which a test puts a file, and takes it away.
struct TemporaryFolder {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    var path: String { directory.path(of: "seal") }

    func write() throws { try directory.write([], to: "seal") }

    func remove() throws { try FileManager.default.removeItem(atPath: path) }

    func danglingLink() throws -> String {
        let link = directory.path(of: "link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.path(of: "nothing"))
        return link
    }
}
