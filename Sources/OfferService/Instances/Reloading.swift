// SPDX-License-Identifier: Apache-2.0

/// Has the service read its files anew, on a thread of its own; the service exists only after what asks for that.
final class Reloading: Sendable {
    private let body = Guarded<(@Sendable () -> Void)?>(nil)

    func set(_ body: @escaping @Sendable () -> Void) {
        self.body.withLock { $0 = body }
    }

    /// Begins it, and does not wait for it.
    func start() {
        guard let body = body.withLock({ $0 }) else { return }
        Worker.start(named: "reload", body)
    }
}
