// SPDX-License-Identifier: Apache-2.0

/// Waits without blocking a thread; passed in, so that tests need not wait.
package struct Pause: Sendable {
    private let wait: @Sendable (Int64) async -> Void

    /// - Parameter wait: Returns after that many milliseconds, or early when the task is cancelled.
    package init(_ wait: @escaping @Sendable (_ milliseconds: Int64) async -> Void) {
        self.wait = wait
    }

    /// Really waits; it returns early when the task is cancelled.
    package static let system = Pause { try? await Task.sleep(for: .milliseconds($0)) }

    /// Waits for that many milliseconds, or until the task is cancelled.
    package func callAsFunction(milliseconds: Int64) async {
        await wait(milliseconds)
    }
}
