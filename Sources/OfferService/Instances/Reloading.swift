// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// Makes the service reload its files, one reload at a time; it exists before the service does.
final class Reloading: Sendable {
    /// Locked from before the files are read until they are in force, or an older read could replace a newer one.
    private let body = Guarded<(@Sendable () -> Bool)?>(nil)

    /// `body` returns whether the files came into force.
    func set(_ body: @escaping @Sendable () -> Bool) {
        self.body.withLock { $0 = body }
    }

    /// Reloads, after reloads that have begun; blocks the thread, which must not be one of Swift's shared pool.
    func run() -> Bool {
        body.withLock { body in body?() ?? false }
    }

    /// Starts a reload on a thread of its own, without waiting for it.
    func start() {
        NamedThread.start(named: "reload") { [self] in _ = run() }
    }
}
