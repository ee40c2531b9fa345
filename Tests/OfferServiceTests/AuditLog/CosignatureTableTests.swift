// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Storage
import TestSupport
import Testing

@testable import OfferService
@testable import TransparencyLog

/// What witnesses signed, as the database keeps it.
@Suite(.overBothEngines) struct CosignatureTableTests {
    @Test func `keeps the largest checkpoint that a witness signed, however late another comes`() throws {
        let place = try LogPlace()
        let key = try makeLogKey()
        let table = CheckpointTable(connection: try place.ledger.openPatiently())
        func keep(_ size: Int64, at seconds: Int64) throws {
            let head = TreeHead(size: size, rootHash: SHA256.digest(of: [UInt8(size)]))
            let signed = try SignedCheckpoint(head, signedBy: key, at: place.clock.now)
            let signature = NoteSignature(name: "w", keyID: 1, bytes: [1])
            try table.keep(
                VerifiedSignature(key: key.verifierKey, seconds: seconds, signature: signature),
                of: signed
            )
        }
        for (size, seconds) in [(5, 1), (4, 2), (5, 3), (3, 4)] { try keep(Int64(size), at: Int64(seconds)) }
        let kept = try table.cosignatures(of: key.origin)
        #expect(kept.map(\.size) == [5] && kept.map(\.seconds) == [3])
        try keep(6, at: 5)
        #expect(try table.cosignatures(of: key.origin).map(\.size) == [6])
    }
}
