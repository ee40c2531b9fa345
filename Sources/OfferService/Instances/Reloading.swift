// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// Has the service read its files anew, once at a time; the service exists only after what asks for that.
final class Reloading: Sendable {
    /// Locked from before the files are read until what they say is in force: what was read first could else come last.
    private let body = Guarded<(@Sendable () -> Bool)?>(nil)

    /// `body` tells whether the files came into force.
    func set(_ body: @escaping @Sendable () -> Bool) {
        self.body.withLock { $0 = body }
    }

    /// Does it, after those that have begun; blocks the thread, which must not be one of Swift's shared pool.
    func run() -> Bool {
        body.withLock { body in body?() ?? false }
    }

    /// Begins it on a thread of its own, and does not wait for it.
    func start() {
        NamedThread.start(named: "reload") { [self] in _ = run() }
    }
}
