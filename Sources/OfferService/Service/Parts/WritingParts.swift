// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import Ledger
import OfferDomain
import ServiceRuntime
import Storage

/// What writes to the database, and what keeps keys from being used.
struct WritingParts: Sendable {
    let runtime: Runtime
    let ledger: LedgerAccess
    let health: Health
    let current: CurrentSnapshot
    let admission: Admission
    let reserve: DiskReserve?
    let appRefusals: AppRefusals
    let committer: Committer
    let configuration: ActiveConfiguration
    let seal: Seal
    /// Which instance this is among those that share the database; `nil` where no other may use it.
    let identity: InstanceIdentity?

    /// The identity of this process among those that share the database, and how long it may use keys.
    struct InstanceIdentity: Sendable {
        let id: UniqueID
        let lease: Lease
    }

    init(_ opened: OpenedDatabase, settings: Settings, dependencies: Dependencies) {
        let runtime = Runtime(clock: dependencies.clock, random: dependencies.random, log: dependencies.log)
        let ledger = opened.ledger
        self.runtime = runtime
        self.ledger = ledger
        identity = ledger.isShared ? Self.newIdentity(runtime) : nil
        let health = Health(metrics: runtime.metrics, clock: runtime.clock, log: runtime.log)
        self.health = health
        current = CurrentSnapshot(opened.snapshot)
        admission = Admission(
            settings.admission,
            proxies: settings.trustedProxies,
            runtime,
            isAlone: !ledger.isShared,
            userTokens: dependencies.userTokens
        )
        reserve = dependencies.diskReserve(settings.database)
        appRefusals = AppRefusals(runtime.clock, reserve: reserve)
        let keyUseGuard = KeyUseGuard(lease: identity?.lease)
        keyUseGuard.follow(opened.stops)
        committer = Committer(
            clock: runtime.clock,
            observer: health,
            keyUseGuard: keyUseGuard,
            options: Self.options(dependencies, identity: identity, appRefusals: appRefusals),
            database: Self.database(ledger, dependencies)
        )
        configuration = ActiveConfiguration(
            opened.loaded,
            current: current,
            ledger: ledger,
            committer: committer,
            health: health
        )
        seal = Seal(keyUseGuard: keyUseGuard, committer: committer, clock: runtime.clock, log: runtime.log) {
            health.commitFailure
        }
        seal.keep(.selfVerification) { [current] in current.value.keyRing.selfTestFailure }
    }

    private static func newIdentity(_ runtime: Runtime) -> InstanceIdentity {
        InstanceIdentity(
            id: .version7(at: runtime.clock.now(), runtime.random.next(), runtime.random.next()),
            lease: Lease(clock: runtime.clock)
        )
    }

    private static func options(
        _ dependencies: Dependencies,
        identity: InstanceIdentity?,
        appRefusals: AppRefusals
    ) -> CommitterOptions {
        var options = dependencies.committer
        options.appRefusals = appRefusals
        options.acknowledges = true
        options.instance = identity?.id
        options.askingThread = { EventLoop.current }
        return options
    }

    private static func database(_ ledger: LedgerAccess, _ dependencies: Dependencies) -> CommitterDatabase {
        CommitterDatabase(
            place: ledger.place(),
            logKeeper: ledger.logKeeper(pages: dependencies.writeAheadLogPages)
        ) { [open = dependencies.openForCommits] () throws(StorageError) in try open(ledger) }
    }

    /// What keeps this service among those that share the database; `nil` where none does.
    func membership(_ reloads: Int64?, reload: @escaping @Sendable () -> Void) -> Membership? {
        identity.map { identity in
            let loaded = configuration.loaded
            let instance = Instance(
                id: identity.id,
                name: Instance.processName,
                version: Program.version,
                policyName: loaded.catalog.policyName,
                keysDigest: loaded.keys.digest.hex
            )
            return Membership(
                Membership.Member(instance, lease: identity.lease),
                committer: committer,
                ledger: ledger,
                log: runtime.log,
                reloads: Membership.Reloads(after: reloads, reload: reload)
            )
        }
    }
    /// What events are delivered with.
    var deliveryParts: EventDeliverer.Parts {
        EventDeliverer.Parts(
            runtime: runtime,
            ledger: ledger,
            committer: committer,
            current: current,
            loaded: { [configuration] in configuration.loaded },
            instance: identity?.id
        )
    }
}
