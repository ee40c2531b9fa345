// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
import JSON
import Ledger
package import OfferDomain
import ServiceRuntime
package import Storage
package import TransparencyLog

/// The keys that this service signs with, or has ever loaded.
///
/// If one of them made a signature that is not on record, another party has the key.
package struct KnownSigners: Sendable {
    private let keys: [(id: KeyID, key: PublicKey)]
    /// Of keys that are not loaded, by the SHA-256 of their public halves.
    private let digests: [SHA256Digest: KeyID]

    /// The keys of a ring, and those that the log has ever named.
    package init(_ ring: KeyRing?, _ search: AuditSearch) throws(AuditReadError) {
        self.init(ring?.keys ?? [], try search.loadedKeys())
    }

    /// Those keys, and further ones by their digests.
    init(_ keys: [SigningKey], _ others: [SHA256Digest: KeyID] = [:]) {
        self.keys = keys.compactMap { key in key.privateKey.map { (key.id, $0.publicKey) } }
        let pins = keys.compactMap { key in key.pin.map { ($0, key.id) } }
        digests = others.merging(pins) { $1 }
    }

    /// The key that made a signature; `nil` if none of these keys did.
    package func signer(of presented: PresentedSignature) -> KeyID? {
        if let (id, _) = keys.first(where: { $0.key.verifies(presented.signature, of: presented.digest) }) { return id }
        guard !digests.isEmpty, let recovery = try? KeyRecovery(presented.signature),
            let candidates = try? recovery.candidates(presented.digest)
        else { return nil }
        return candidates.lazy.compactMap { digests[SHA256.digest(of: $0)] }.first
    }
}

extension AuditSearch {
    /// The key behind the first of these signatures that is ours and not on record; `nil` if there is none.
    ///
    /// In an answer with both forms, or in a batch, one signature may be on record while another is not.
    package func unrecordedMaker(
        of signatures: [PresentedSignature],
        _ signers: KnownSigners
    ) throws(AuditReadError) -> KeyID? {
        for presented in signatures {
            guard let key = signers.signer(of: presented) else { continue }
            if case .recorded = try trace(presented) { continue }
            return key
        }
        return nil
    }

    /// How many entries of loaded keys are looked at, the newest first.
    private static let mostLoads = 4096

    /// The signing keys that the log says were loaded, by the SHA-256 of their public halves.
    func loadedKeys() throws(AuditReadError) -> [SHA256Digest: KeyID] {
        let query = AuditQuery(
            fields: [.event: AuditEventName.keyLoad.rawValue],
            order: .newest,
            limit: Self.mostLoads
        )
        var keys: [SHA256Digest: KeyID] = [:]
        var position: Int64?
        var count = 0
        repeat {
            let page = try page(query, from: position)
            for found in page.entries {
                // The log's own key has no kid, and Google's service accounts have an account.
                guard let entry = (try? JSONDocument(found.entry))?.root.object, entry["account"] == nil,
                    let id = entry["kid"]?.string.flatMap({ try? KeyID($0) }),
                    let digest = entry["spki"]?.string.flatMap({ SHA256Digest(hex: $0) })
                else { continue }
                keys[digest] = id
            }
            count += page.entries.count
            position = page.next
        } while position != nil && count < Self.mostLoads
        return keys
    }
}

extension PresentedAnswer {
    /// Every signature of the answer, with each payload that it may cover: if the answer lacks its app or product, one
    /// for each app and product under which its offer was granted, at most 64.
    package func signatures(_ connection: any DatabaseConnection) throws(AuditReadError) -> [PresentedSignature] {
        var all = [jws].compactMap(\.self)
        guard let original, var fields = original.fields(nonce: nonce) else { return all }
        if fields.bundleID != nil, fields.productID != nil {
            return all + [PresentedSignature(fields)].compactMap(\.self)
        }
        guard let offerID = fields.offerID else { return all }
        let names = SQL(
            "SELECT store_app, product_id FROM granted_names WHERE store = ? AND offer_id = ? LIMIT 64",
            .text(Store.appStore.recordName),
            .text(offerID.text)
        )
        let products = try reading(connection.all(names) { (try? BundleID($0.text(0)), try? ProductID($0.text(1))) })
        for (bundleID, productID) in products {
            fields.bundleID = original.bundleID ?? bundleID
            fields.productID = original.productID ?? productID
            if let presented = PresentedSignature(fields) { all.append(presented) }
        }
        return all
    }
}

/// Tells operators of signatures that were made with a key of this service, and not by it.
package struct UnrecordedSignatures: Sendable {
    private let metrics: Metrics
    private let log: Log

    package init(_ runtime: Runtime) { (metrics, log) = (runtime.metrics, runtime.log) }

    func note(_ key: KeyID) {
        metrics.count(.unrecordedSignatures(key: key.text))
        log(
            .warning,
            "a presented signature was made with a key of this service and is not on record",
            with: ["key": .text(key.text)]
        )
    }
}
