// SPDX-License-Identifier: Apache-2.0
import CEmbeddedFiles

/// The files that are built into the program; `Sources/CEmbeddedFiles/files.c` lists them.
package enum EmbeddedFile {
    /// The bytes of a file, copied; `name` must be in the list.
    package static func bytes(of name: String) -> [UInt8] {
        let file = unsafe find_embedded_file(name)
        guard let file = unsafe file?.pointee else { preconditionFailure("\(name) is not an embedded file") }
        return unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
    }
}
