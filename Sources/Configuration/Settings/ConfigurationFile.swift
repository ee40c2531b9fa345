// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import JSON
import ServiceRuntime

/// A JSON5 file that people edit, parsed but not yet understood.
package struct ConfigurationFile {
    /// The path of the file as the setting has it.
    package let path: String
    /// The parsed JSON5.
    package let document: JSONDocument
    /// Over the bytes of the file: which version of it was in force.
    package let digest: SHA256Digest
    private let mismatches = Mismatches(admitsNull: false, most: .max)

    /// Reads and parses the file that a setting names; a syntax error is reported with line and column.
    package init(path: String, of setting: Setting) throws(ConfigurationError) {
        self.path = path
        let bytes: [UInt8]
        do {
            bytes = try TextFile.read(path, decides: true)
        } catch {
            let names = "name another file with \(setting.flag) or \(setting.variable)"
            let advice = error.isMissing ? "; \(names), or write it with offer-signer init" : ""
            throw ConfigurationError([ConfigurationIssue(.error, place: path, error.description + advice)])
        }
        digest = SHA256.digest(of: bytes)
        do {
            document = try JSONDocument(bytes, dialect: .configuration, limits: .configuration)
        } catch {
            let (line, column) = error.position(in: bytes)
            let place = "\(path):\(line):\(column)"
            throw ConfigurationError([
                ConfigurationIssue(.error, place: place, pointer: error.pointer, error.description)
            ])
        }
    }

    /// Reads the root object; every member left unread is a mismatch.
    package func read<Value>(_ body: (inout ObjectReader, Mismatches) -> Value) -> (Value, [ConfigurationIssue]) {
        var root = ObjectReader(document.root, into: mismatches)
        let value = body(&root, mismatches)
        root.finish()
        return (value, mismatches.all.map(issue))
    }

    private func issue(_ mismatch: Mismatch) -> ConfigurationIssue {
        let (line, column) = document.position(of: mismatch.offset)
        return ConfigurationIssue(
            .error,
            place: "\(path):\(line):\(column)",
            pointer: mismatch.pointer,
            mismatch.message
        )
    }
}
