// SPDX-License-Identifier: Apache-2.0
import OfferService
import Storage
import TestSupport
import Testing

@testable import Ledger

/// Seals as rows of the database.
@Suite(.overBothEngines) struct SealStoreTests {
    @Test func `a seal of a cause that this program does not know seals until it is unsealed`() throws {
        let place = try LogPlace()
        let connection = try place.ledger.openPatiently()
        let store = SealStore(connection: connection)
        #expect(try store.stops().stop(of: nil) == nil)
        try connection.run(SQL("INSERT INTO seals (cause, since, detail) VALUES ('of a later version', 1, 'x')"))
        #expect(try store.stops().stop(of: nil) == .sealed([.administrator]))
        #expect(try store.stops().awaitsAcknowledgement)
        try store.remove(.clockStepped)
        #expect(try store.stops().seals.count == 1)
        try store.remove(.administrator)
        #expect(try store.stops().stop(of: nil) == nil)
    }
}
