// SPDX-License-Identifier: Apache-2.0
import Configuration
import Dispatch
import HTTP
package import Ledger
import ServiceRuntime
import Storage
package import TransparencyLog

extension Service {
    /// Every part, in the order in which they start; they stop in the reverse.
    ///
    /// - The locks are held from before the database is opened until nothing uses it any more.
    /// - The database becomes one file once all that uses it has stopped, and before another service may have it.
    /// - The committer starts before all that records, and stops after.
    /// - The start and every key are on record before a key is used or anything is answered. If that can't be written, the
    ///   service does not start.
    /// - The log is signed until the end is on record, and that too.
    /// - The end is on record once everything else that records has stopped.
    /// - The pulse is looked for while the server answers.
    /// - The server is the last that is needed to start, and the first to stop: it answers what is in flight with all other
    ///   parts still running. The log is verified once the service answers.
    package var parts: [ServicePart] {
        let records = assembly.records
        return [
            ServicePart(.locks, stop: locks.release),
            databaseFile,
            secretsOnRecord,
            committerPart,
            startOnRecord,
            ServicePart(.signedLog, start: records.signedLog.start, stop: records.signedLog.stop),
            ServicePart(.endOnRecord, stop: { [committer] in try? committer.appendBlocking([.serviceStopped]) }),
            membership.map(Self.part),
            ServicePart(.sealWatch) { [watch = assembly.watch, lastRecordedAt] in
                watch.start(lastRecordedAt: lastRecordedAt)
            } stop: { [watch = assembly.watch] in
                watch.stop()
            },
            ServicePart(.housekeeper) { [housekeeper = records.housekeeper, housekeepingMilliseconds] in
                housekeeper.start(every: housekeepingMilliseconds)
            } stop: { [housekeeper = records.housekeeper] in
                housekeeper.stop()
            },
            ServicePart(.reconciler, start: records.reconciler.start, stop: records.reconciler.stop),
            ServicePart(.unredeemedGrants, start: records.unredeemed.start, stop: records.unredeemed.stop),
            ServicePart(.auditIndex, start: records.indexer.start, stop: records.indexer.stop),
            ServicePart(.logReaders, start: records.readers.start, stop: records.readers.stop),
            ServicePart(.diagnosisReaders, start: records.diagnosisReaders.start, stop: records.diagnosisReaders.stop),
            ServicePart(.eventReaders, start: records.eventReaders.start, stop: records.eventReaders.stop),
            ServicePart(.events, start: assembly.events.start, stop: assembly.events.stop),
            storesPart,
            identityProvidersPart,
            serverPart,
            ServicePart(.pulse, start: pulse.start, stop: pulse.stop),
            // Stopped with the signed log, which needs it no longer than that.
            ServicePart(.logVerification, start: records.signedLog.startVerifying),
        ].compactMap { $0 }
    }

    /// Leaves no write-ahead log: a copy of the database's file alone would lack what is in that.
    private var databaseFile: ServicePart {
        ServicePart(
            .databaseFile,
            stop: { [ledger, place = ledger.place(), log] in
                let reason: String
                do throws(StorageError) {
                    // The write-ahead log of a database that was moved away must not be written into another one.
                    guard place?.leadsToSameDatabase() ?? true, try !ledger.removeLog() else { return }
                    reason = "another process has the database open"
                } catch {
                    reason = error.description
                }
                log(.warning, "the write-ahead log stays beside the database", with: ["reason": .text(reason)])
            }
        )
    }

    /// Makes sure that customers' pseudonyms are those of the secrets that are loaded, and takes new ones on record.
    private var secretsOnRecord: ServicePart {
        ServicePart(.secretsOnRecord) { [configuration, ledger] () throws(ServiceError) in
            try configuration.loaded.adoptSecrets(in: ledger)
        }
    }

    private var committerPart: ServicePart {
        ServicePart(.committer) { [committer, connection] () throws(ServiceError) in
            guard let opened = connection.take() else { return }
            let head: TreeHead
            do throws(LedgerError) {
                head = try LedgerWriter(connection: opened).checkedHead()
            } catch {
                throw .records(error)
            }
            committer.start(on: Handover(opened), at: head)
        } stop: { [committer] in
            committer.stop()
        }
    }

    private var startOnRecord: ServicePart {
        ServicePart(.startOnRecord) {
            [configuration, committer, roots = settings.furtherRootsDigest] () throws(ServiceError) in
            let started = AuditEvent.serviceStarted(version: Program.version, furtherRoots: roots)
            let events = [started] + configuration.events
            try configuration.noteCatalog()
            do throws(LedgerError) { try committer.appendBlocking(events) } catch { throw .records(error) }
        }
    }

    private static func part(_ membership: Membership) -> ServicePart {
        ServicePart(.membership) { () throws(ServiceError) in
            do throws(MembershipError) { try membership.start() } catch { throw ServiceError(error) }
        } stop: {
            membership.stop()
        }
    }

    private var storesPart: ServicePart {
        ServicePart(.stores) { [stores] () throws(ServiceError) in
            do throws(ClientError) { try stores.start() } catch { throw .client(error) }
        } stop: { [stores] in
            stores.stop()
        }
    }

    /// What signs people in to the console starts with what asks their providers.
    private var identityProvidersPart: ServicePart {
        ServicePart(.identityProviders) { [assembly] () throws(ServiceError) in
            try assembly.providers.start()
            assembly.sessions.start()
        } stop: { [assembly] in
            assembly.sessions.stop()
            assembly.providers.stop()
        }
    }

    private var serverPart: ServicePart {
        ServicePart(.server) { [server, adminServer] () throws(ServiceError) in
            do throws(ServerError) {
                try server.start()
                try adminServer?.start()
            } catch {
                throw .server(error)
            }
        } stop: { [server, adminServer, health] in
            health.beginStopping()
            Self.stop(server)
            if let adminServer { Self.stop(adminServer) }
        }
    }

    /// Blocks this thread, which is not one of Swift's shared pool, until every answer has left.
    private static func stop(_ server: Server) {
        let done = DispatchSemaphore(value: 0)
        Task {
            await server.stop()
            done.signal()
        }
        done.wait()
    }
}

extension Service {
    /// The thread that decides and records.
    package var committer: Committer { assembly.writing.committer }
    /// Reloads the configuration, and brings it into force.
    package var configuration: ActiveConfiguration { assembly.writing.configuration }
    /// The snapshot that requests are decided by.
    package var current: CurrentSnapshot { assembly.writing.current }
    /// Whether the service is ready, and why not.
    package var health: Health { assembly.writing.health }
    /// Opens the database.
    package var ledger: LedgerAccess { assembly.writing.ledger }
    /// The counters and histograms of this service.
    package var metrics: Metrics { assembly.writing.runtime.metrics }
    /// What delivers events to their receivers.
    package var events: EventDeliverer { assembly.events }
    /// What keeps the service from signing.
    package var seal: Seal { assembly.writing.seal }
    /// What asks the stores, and reads what they signed.
    package var stores: StoreClients { assembly.stores }
    /// The newest entries of the audit log, and when keys were used last.
    package var auditIndex: AuditIndex { assembly.records.index }
    /// The thread that reads reconciliations.
    package var reconciler: Reconciler { assembly.records.reconciler }
    /// The thread that signs checkpoints.
    package var checkpoints: CheckpointPublisher { assembly.records.signedLog.publisher }
    /// What was turned away and is not on record yet.
    package var traffic: MinuteCounter<UnauthenticatedTraffic> { assembly.records.traffic }

    var membership: Membership? { assembly.membership }
}
