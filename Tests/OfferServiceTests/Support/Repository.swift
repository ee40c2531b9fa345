// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The files of this project that tests read.
enum Repository {
    /// A file, by its path from the top.
    static func text(_ path: String, from here: String = #filePath) throws -> String {
        let top = URL(filePath: here).deletingLastPathComponent().appending(path: "../../..")
        return try String(contentsOf: top.appending(path: path), encoding: .utf8)
    }
}
