// SPDX-License-Identifier: Apache-2.0
import CLinux
import Glibc

/// Starts threads for work that blocks, which Swift's shared pool must not do.
package enum NamedThread {
    /// Runs `body` on a thread of its own.
    ///
    /// `top` and `gdb` show its name, which has at most 15 bytes.
    package static func start(named name: String, _ body: @escaping @Sendable () -> Void) {
        let box = unsafe Unmanaged.passRetained(Body(name: name, run: body))
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                unsafe shim_name_thread(body.name)
                body.run()
                return nil
            },
            unsafe box.toOpaque()
        )
        precondition(result == 0, "a thread can be started")
        pthread_detach(thread)
    }

    /// Lets the threads that answer requests have the processors first; this one gets what they leave.
    ///
    /// Linux applies it to the calling thread alone. Source: setpriority(2).
    package static func yieldToOthers() {
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    }

    /// Lets this thread compute when a processor has nothing else to do, and be interrupted at once when it has.
    ///
    /// For what holds no lock that others wait for. A thread without privileges cannot take it back. Source: sched(7).
    package static func runOnlyWhenIdle() {
        _ = shim_run_when_idle()
    }

    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }
}

/// Carries one value that only one thread may use to the thread that will use it.
///
/// `@unchecked Sendable` because the giver hands the value over and keeps no reference to it.
package final class Handover<Value>: @unchecked Sendable {
    private var value: Value?

    /// Holds the value until it is taken.
    package init(_ value: Value) {
        self.value = value
    }

    /// The value, the first time; the box keeps nothing of it.
    package func take() -> Value? {
        defer { value = nil }
        return value
    }
}
