// SPDX-License-Identifier: Apache-2.0

/// One reason why the service is not ready, or why some of its work is not.
package struct Obstacle: Hashable, Sendable {
    /// Stable, for programs.
    package let name: String
    /// A sentence, for people.
    package let detail: String

    package init(_ name: String, _ detail: String) {
        self.name = name
        self.detail = detail
    }
}
