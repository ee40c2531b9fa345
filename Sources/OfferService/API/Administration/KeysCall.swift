// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
package import Ledger
package import OfferDomain
import ServiceRuntime
import Storage
import TransparencyLog

/// `GET /v1/keys`, `POST /v1/keys/{id}/disable` and `…/enable`: the key ring, without key material.
package struct KeysCall: Sendable {
    private let seal: Seal
    private let current: CurrentSnapshot
    private let lastUses: LastKeyUses
    /// Takes key states from the database into force.
    private let refresh: @Sendable () async -> Void
    private let reads: ReadRecorder

    package init(
        seal: Seal,
        current: CurrentSnapshot,
        lastUses: LastKeyUses,
        reads: ReadRecorder,
        refresh: @escaping @Sendable () async -> Void
    ) {
        self.seal = seal
        self.current = current
        self.lastUses = lastUses
        self.refresh = refresh
        self.reads = reads
    }

    /// All keys, in the order of the file.
    func list(_ request: Request, under snapshot: Snapshot, at now: Timestamp) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireReading()
        reads.noteFetch(caller: caller.id, call: .keys)
        let uses = try await lastUses.recorded()
        return .json(["keys": .array(snapshot.keyRing.keys.map { tree($0, uses[$0.id]) })])
    }

    /// Answers when the change is durable: a disabled key made its last signature before, in other instances too, unless
    /// the answer says `isObeyed: false`.
    func set(
        _ request: Request,
        key text: ArraySlice<UInt8>?,
        isDisabled: Bool,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireActing()
        try Self.requireNothing(in: request)
        guard let key = snapshot.keyRing.keys.first(where: { $0.id.text.utf8.elementsEqual(text ?? []) }) else {
            throw .request(.noSuchKey)
        }
        do throws(LedgerError) {
            if isDisabled {
                try await seal.disable(key.id, by: .caller(caller.id))
            } else {
                try await seal.enable(key.id, by: .caller(caller.id))
            }
        } catch {
            throw .service(isDisabled ? .stopNotRecorded : ServiceFault(error))
        }
        await refresh()
        let after = current.value.keyRing.keys.first { $0.id == key.id } ?? key
        return .json(tree(after, lastUses.own()[key.id]))
    }

    /// The body is empty, or an object without members.
    private static func requireNothing(in request: Request) throws(Refusal) {
        guard !request.body.isEmpty else { return }
        try request.requireJSON()
        let document: JSONDocument
        do { document = try JSONDocument(request.body) } catch { throw .request(.malformedJSON(error)) }
        let mismatches = Mismatches()
        let reader = ObjectReader(document.root, into: mismatches)
        reader.finish()
        guard mismatches.all.isEmpty else { throw .invalid(mismatches) }
    }

    private func tree(_ key: SigningKey, _ lastUse: Timestamp?) -> JSONTree {
        let isDisabled = seal.isDisabled(key.id)
        return [
            "id": .text(key.id.text),
            "bundleIds": .texts(key.bundleIDs.map(\.text)),
            "purposes": .texts(key.purposes.map(\.rawValue).sorted()),
            "state": .text(isDisabled ? KeyStatus.disabled.rawValue : key.status.rawValue),
            "disabledBy": isDisabled ? .text("administrator") : key.status == .disabled ? .text("file") : .null,
            "isObeyed": .boolean(seal.isAcknowledged(key.id)),
            "publicKeySHA256": key.publicKeyDigest.map { .text($0) } ?? .null,
            "lastUsedAt": lastUse.map { .instant($0) } ?? .null,
        ]
    }
}

/// When each key was used last.
package struct LastKeyUses: Sendable {
    /// What this instance knows of, which is all where it has just written.
    let own: @Sendable () -> [KeyID: Timestamp]
    private let readers: LogReaders

    /// `own` gives this instance's uses; `readers` read those of all.
    package init(own: @escaping @Sendable () -> [KeyID: Timestamp], readers: LogReaders) {
        self.own = own
        self.readers = readers
    }

    /// What any instance has recorded.
    func recorded() async throws(Refusal) -> [KeyID: Timestamp] {
        do throws(LogReadersError) {
            return try await readers.read { connection throws(AuditReadError) in
                var uses = KeyUses()
                try reading(uses.read(connection))
                return uses.last
            }
        } catch {
            throw Refusal(error)
        }
    }
}
