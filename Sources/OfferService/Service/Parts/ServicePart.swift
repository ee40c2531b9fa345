// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// One part of the service that is started before the service answers, and stopped at its end.
package struct ServicePart: Sendable {
    /// Every part that a service can have, in the order in which they start; `Service.parts` says why.
    package enum Name: String, CaseIterable, Sendable {
        case locks, databaseFile, secretsOnRecord, committer
        case startOnRecord, signedLog, endOnRecord
        case membership, sealWatch, housekeeper
        case reconciler, unredeemedGrants, auditIndex, logReaders, diagnosisReaders, eventReaders, events
        case stores, identityProviders, server, pulse, logVerification
    }

    /// Which part it is, for tests of the order.
    package let name: Name
    let start: @Sendable () throws(ServiceError) -> Void
    let stop: @Sendable () -> Void

    /// A part that needs no start, or no stop, leaves that out.
    package init(
        _ name: Name,
        start: @escaping @Sendable () throws(ServiceError) -> Void = {},
        stop: @escaping @Sendable () -> Void = {}
    ) {
        self.name = name
        self.start = start
        self.stop = stop
    }
}

/// The parts that run: started in their order, stopped in the reverse.
package final class RunningParts: Sendable {
    private let parts = Guarded<[ServicePart]>([])

    /// No part runs.
    package init() {}

    /// Starts each part, in order.
    ///
    /// - Throws: Why one did not start; those that had started are stopped by then.
    package func start(_ parts: [ServicePart]) throws(ServiceError) {
        for part in parts {
            do throws(ServiceError) {
                try part.start()
            } catch {
                stop()
                throw error
            }
            self.parts.withLock { $0.append(part) }
        }
    }

    /// Stops each part that runs, the last one first.
    ///
    /// Blocks until all of them have ended; does nothing the second time.
    package func stop() {
        let parts = parts.withLock { parts in
            defer { parts = [] }
            return parts
        }
        for part in parts.reversed() { part.stop() }
    }
}
