// SPDX-License-Identifier: Apache-2.0
import Configuration
import ServiceRuntime
import TransparencyLog

extension LogPolicy {
    /// The policy in a file, for the log of that key; nothing and no fault without a file.
    static func read(_ path: String?, for key: NoteVerifierKey?) throws(ConfigurationError) -> LogPolicy? {
        guard let path else { return nil }
        let issues: [ConfigurationIssue]
        do {
            let bytes = try TextFile.read(path, maximumBytes: 1 << 20, decides: true)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw TextFileError(description: "is not UTF-8")
            }
            let policy = try LogPolicy(parsing: text)
            guard let key, !policy.logs.isEmpty, !policy.logs.contains(key) else { return policy }
            issues = [
                ConfigurationIssue(.error, place: path, "has log lines, and none of them is this log's key, \(key)")
            ]
        } catch let error as LogPolicyError {
            issues = error.faults.map { fault in
                ConfigurationIssue(.error, place: fault.line.map { "\(path):\($0)" } ?? path, fault.message)
            }
        } catch {
            issues = [
                ConfigurationIssue(.error, place: path, "\(error)\(Settings.named(by: .logPolicy, error))")
            ]
        }
        throw ConfigurationError(issues)
    }
}
