// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The files of this project that tests read.
enum Repository {
    /// A file, by its path from the top.
    static func text(_ path: String) throws -> String {
        try String(contentsOfFile: self.path(path), encoding: .utf8)
    }

    /// Where a file is, by its path from the top.
    static func path(_ path: String, from here: String = #filePath) -> String {
        let top = URL(filePath: here).deletingLastPathComponent().appending(path: "../../..")
        return top.appending(path: path).standardizedFileURL.path
    }
}
