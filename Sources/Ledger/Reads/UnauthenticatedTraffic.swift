// SPDX-License-Identifier: Apache-2.0

/// A request that ended without its own entry: its call, and the problem in the answer.
///
/// Both come from closed lists, so unauthenticated clients can't invent more of them.
package struct UnauthenticatedTraffic: Hashable, Sendable {
    /// The name of the call; `nil` if the HTTP server refused the request before it looked for its call.
    package let call: String?
    /// The last part of the problem's `type`; for a sign-in to the console, why it failed.
    package let problem: String

    package init(call: String?, problem: String) {
        self.call = call
        self.problem = problem
    }
}
