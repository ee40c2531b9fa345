// SPDX-License-Identifier: Apache-2.0
import Configuration
import Foundation
import OfferDomain
import OfferService
import Storage
import TestSupport
import Testing

@testable import Ledger

extension TestService {
    /// Takes every offer out of the catalog, as if the team had ended them.
    func endAllOffers() {
        let catalog = current.value.catalog
        use(
            Catalog(
                apps: Array(catalog.apps.values),
                googlePlayApps: Array(catalog.googlePlayApps.values),
                offers: [],
                digest: catalog.digest
            )
        )
    }

    /// Changes the file of offers, as the team does, and puts it into force.
    func editOffers(_ edit: (String) -> String) throws {
        let text = try String(contentsOfFile: settings.offersPath, encoding: .utf8)
        try directory.write(Array(edit(text).utf8), to: "offers")
        use(try CatalogFile.read(settings.offersPath))
    }

    private func use(_ catalog: Catalog) {
        let before = current.value
        current.swap(
            Snapshot(
                catalog: catalog,
                keyRing: before.keyRing,
                pseudonyms: before.pseudonyms,
                callers: before.callers
            )
        )
    }

    /// Every use that a store reported, oldest first: its state and what it matched as.
    func uses() throws -> [String] {
        try rows([
            """
            SELECT state || ' ' || matched_as FROM redemptions ORDER BY redeemed_at
            """
        ])
    }

    /// The answer of the call, of production unless `parameters` say otherwise.
    func reconciliation(_ parameters: String = "") async throws -> Tree {
        let reply = try await send(reconciliationCall(parameters))
        #expect(reply.status == 200, "\(reply)")
        return reply.json
    }

    func reconciliationCall(as caller: String = "auditor", _ parameters: String = "") -> Call {
        let call = Call.get("/v1/audit/reconciliation\(parameters)")
        return credentials[caller].map { call.with("Authorization", "Bearer \($0)") } ?? call
    }

    func entry(_ index: Int) throws -> Tree { try Tree(try entries()[index]) }

    /// The outcome of recomputing everything.
    func recomputed() throws -> ReconciliationCheck.Outcome {
        try ReconciliationCheck(
            connection: try ledger.openForReading(),
            catalog: loaded.catalog,
            pseudonyms: loaded.keys.pseudonyms
        ).run()
    }

    func change(_ statement: StaticString) throws {
        try ledger.openPatiently().run(SQL(statement))
    }
}
