// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// What OpenSSL said when a call failed.
///
/// OpenSSL queues its errors per thread. The queue is emptied in the call that failed, before the task can resume on
/// another thread; left there, it would be read as the reason of a later failure.
package struct OpenSSLError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was being attempted, as in “sign”.
    package let operation: String

    /// OpenSSL's own words, oldest first.
    ///
    /// Only its fixed reason texts: the data it adds may quote what it was given.
    package let reasons: [String]

    /// One sentence for what was attempted, and one for OpenSSL's reasons.
    package var description: String {
        let because = reasons.isEmpty ? "gave no reason" : "said: " + reasons.joined(separator: "; ")
        return "Could not \(operation). OpenSSL \(because)."
    }

    /// Empties this thread's queue into an error.
    static func drain(_ operation: String) -> OpenSSLError {
        var reasons: [String] = []
        while case let code = ERR_get_error(), code != 0 {
            let reason = unsafe ERR_reason_error_string(code).map { unsafe String(cString: $0) }
            reasons.append(reason ?? "error \(code)")
        }
        return OpenSSLError(operation: operation, reasons: reasons)
    }

    /// Empties this thread's queue where a failure is an answer and not an error.
    static func forget() {
        ERR_clear_error()
    }
}
