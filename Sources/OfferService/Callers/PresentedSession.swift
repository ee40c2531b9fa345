// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography

/// What a request's session cookie comes to.
enum PresentedSession: Sendable {
    case active(ConsoleSession, SHA256Digest)
    /// The request must not count as the person's, or the session is over.
    case refused(Refusal)

    /// The caller; a session has the rights of its role and no app's.
    func caller() throws(Refusal) -> Caller {
        switch self {
        case .active(let session, _): Caller(id: session.caller, role: session.role, apps: [])
        case .refused(let refusal): throw refusal
        }
    }
}
