// SPDX-License-Identifier: Apache-2.0

/// A request that ended without an entry of its own: by the call that was made and the problem that answered it.
///
/// Both are out of closed lists, so strangers can't make up more of them.
package struct UnauthenticatedTraffic: Hashable, Sendable {
    /// The name of the call; `nil` of a request that the HTTP server turned away before its call was looked for.
    package let call: String?
    /// The last part of the problem's `type`; of a sign-in to the console, why it failed.
    package let problem: String

    package init(call: String?, problem: String) {
        self.call = call
        self.problem = problem
    }
}
