// SPDX-License-Identifier: Apache-2.0
package import Configuration
import HTTP
import Ledger
import OfferDomain
package import ServiceRuntime
import Storage

/// The running service: everything put together, started, reloaded and stopped.
///
/// This is the one place where it is put together, from its settings and what it depends on; tests give other
/// dependencies to the same service. ``parts`` is the order in which it starts and stops.
package final class Service: Sendable {
    /// The settings that the service was started with; no reload changes them.
    package let settings: Settings
    let assembly: Assembly
    /// Every call, as the server asks for it.
    package let api: API
    let server: Server
    /// Answers health, metrics and administration alone; `nil` where no address is set for that.
    let adminServer: Server?
    let pulse: Pulse
    let locks: ServiceLocks
    /// What the committer is to write through.
    let connection: Handover<any DatabaseConnection>
    /// The time of the newest entry of the log as it was found.
    let lastRecordedAt: Timestamp?
    let housekeepingMilliseconds: Int?
    let reloading = Reloading()
    private let running = RunningParts()

    /// Loads everything, opens the database and binds the port; writes and answers nothing yet.
    package init(settings: Settings, dependencies: Dependencies) throws(ServiceError) {
        self.settings = settings
        housekeepingMilliseconds = dependencies.housekeepingMilliseconds
        let opened = try OpenedDatabase(settings, dependencies)
        locks = opened.locks
        connection = Handover(opened.connection)
        lastRecordedAt = opened.lastRecordedAt
        assembly = try Assembly(opened, settings: settings, dependencies: dependencies, reload: reloading.start)
        let (writing, traffic) = (assembly.writing, assembly.records.traffic)
        api = API(
            current: writing.current,
            calls: APICalls(assembly, settings: settings, dependencies: dependencies),
            traffic: traffic,
            committer: writing.committer,
            runtime: writing.runtime
        )
        let rejected: @Sendable (Problem) -> Void = { [clock = dependencies.clock] problem in
            traffic.count(UnauthenticatedTraffic(route: nil, problem: problem.name), at: clock.now())
        }
        do throws(ServerError) {
            server = try Server(
                settings.serverConfiguration(under: writing.current, rejected: rejected),
                responder: api
            )
            adminServer = try settings.adminConfiguration(under: writing.current, rejected: rejected).map {
                [api] configuration throws(ServerError) in
                try Server(configuration, responder: AdministrationResponder(api: api))
            }
        } catch {
            throw .server(error)
        }
        assembly.serverGauges.read(server)
        pulse = Pulse([server, adminServer].compactMap(\.self), writing.committer, clock: dependencies.steadyClock)
        writing.health.watch(pulse)
        reloading.set { [weak self] in self?.readAnew() ?? false }
        for warning in opened.loaded.warningsToLog {
            dependencies.log(.warning, "configuration", with: ["issue": .text("\(warning)")])
        }
    }

    /// The port that the service listens on.
    package var port: UInt16 { server.port }

    /// The port of the listener for administration; `nil` without one.
    package var adminPort: UInt16? { adminServer?.port }

    var log: Log { assembly.writing.runtime.log }

    /// Starts every part, in the order of ``parts``; a service starts once.
    ///
    /// `left` are parts to leave out, for who needs only some of the service, such as its calls without a server.
    ///
    /// - Throws: Why a part did not start; those that had started are stopped by then.
    package func start(without left: Set<ServicePart.Name> = []) throws(ServiceError) {
        try running.start(parts.filter { !left.contains($0.name) })
        if !left.contains(.server) {
            log(.info, "listening", with: ["address": .text(settings.listen.host), "port": .integer(Int64(port))])
        }
        logWhatIsNotReady(current.value)
    }

    func logWhatIsNotReady(_ snapshot: Snapshot) {
        let obstacles = health.obstacles(snapshot, sealedBy: seal.causes, isCutOff: seal.isCutOff)
        for obstacle in obstacles + health.warnings(snapshot) + assembly.furtherRoots {
            log(
                .warning,
                "not all is ready",
                with: ["obstacle": .text(obstacle.name), "detail": .text(obstacle.detail)]
            )
        }
    }

    /// Reports the state of the service to the service manager.
    ///
    /// If that fails, the service keeps running: the manager may wait in vain, and then reports that itself.
    package func notify(_ manager: ServiceManager, _ state: ServiceManager.State) {
        do {
            try manager.notify(state)
        } catch {
            log(
                .warning,
                "the service could not notify the service manager",
                with: ["reason": .text(error.description)]
            )
        }
    }

    /// Reports to the service manager once a second that all parts make progress, if the manager watches.
    package func notifyWhileAlive(_ manager: ServiceManager) {
        guard manager.watches else { return }
        pulse.whileAlive { [weak self] in self?.notify(manager, .alive) }
    }

    /// Answers the requests in flight, records the end, ends every thread, and releases the database.
    ///
    /// Blocks this thread, which must not be one of Swift's shared pool. Does nothing the second time.
    package func stop() {
        running.stop()
        log(.info, "stopped")
    }
}
