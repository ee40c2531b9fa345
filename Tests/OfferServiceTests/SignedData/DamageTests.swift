// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import Testing

@testable import OfferService
@testable import Stores

/// A signed payload is never damaged, for the signature covers it; one that is must do no harm all the same.
struct DamageTests {
    @Test(arguments: SignedKind.allCases)
    func `ends in a value or a fault, whatever is damaged`(kind: SignedKind) throws {
        let check = ClaimCheck(apps: try AppStoreSignedDataReader.example().apps, now: PayloadText.now)
        let whole = Array(kind.payload.json.utf8)
        var faults = 0
        for seed in 0..<400 {
            var damaged = whole
            // Every place in turn, and each with another byte.
            damaged[seed * 7 % whole.count] = UInt8(truncatingIfNeeded: seed * 31 + 5)
            damaged[seed * 13 % whole.count] = UInt8(truncatingIfNeeded: seed * 17 + 40)
            if seed % 5 == 0 { damaged.removeLast(seed % whole.count) }
            do { try read(damaged, as: kind, check) } catch { faults += 1 }
        }
        #expect(faults > 100)
    }

    private func read(_ payload: [UInt8], as kind: SignedKind, _ check: ClaimCheck) throws(SignedDataFault) {
        switch kind {
        case .transaction: _ = try AppStoreTransaction(payload: payload, check)
        case .renewalInfo: _ = try AppStoreRenewalInfo(payload: payload, pairedWith: [], .byTransaction, check)
        case .appTransaction: _ = try AppTransaction(payload: payload, check)
        case .realtimeRequest: _ = try RealtimeRequest(payload: payload, check)
        case .notification, .summary, .token, .appData:
            let before = PayloadText.notification(String(kind.pointer.dropFirst()), PayloadText([:])).json.dropLast(3)
            _ = try AppStoreNotification(payload: Array(before.utf8) + payload + Array("}".utf8), check)
        }
    }
}
