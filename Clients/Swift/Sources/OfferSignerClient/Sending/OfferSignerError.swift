// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Why a call did not answer what was asked for.
public enum OfferSignerError: Error, Sendable {
    /// The service refused, and says why.
    case refused(Problem)
    /// The service, or something in between, answered with what this client cannot read.
    case unreadableAnswer(status: Int, reason: String)
    /// No answer arrived. Repeat the request with the same idempotency key to learn what came of it.
    case unreachable(URLError)

    /// The name of the problem, such as `not-eligible`; `nil` if the service did not refuse.
    public var problem: String? {
        guard case .refused(let problem) = self else { return nil }
        return problem.name
    }
}

/// A refusal as RFC 9457 describes problems.
///
/// [Problems](../../../../docs/problems.md) has all of them.
public struct Problem: Codable, Hashable, Sendable {
    /// Stable, such as `/problems/not-eligible`.
    public let type: String
    public let title: String
    public let status: Int
    public let detail: String
    /// The request's ID, `urn:uuid:…`, which the service's records have too.
    public let instance: String?
    public let errors: [ProblemError]?
    /// What was decided, of a refusal by the rules.
    public let decision: Decision?
    /// Seconds after which asking again makes sense, from `Retry-After`.
    public internal(set) var retryAfter: Int?

    /// The last part of ``type``, such as `not-eligible`.
    public var name: String { type.split(separator: "/").last.map(String.init) ?? type }

    private enum CodingKeys: String, CodingKey {
        case type, title, status, detail, instance, errors, decision
    }
}

/// One thing that is wrong with a request.
public struct ProblemError: Codable, Hashable, Sendable {
    /// A JSON pointer to the member.
    public let pointer: String?
    /// The parameter of the query.
    public let parameter: String?
    public let detail: String
}
