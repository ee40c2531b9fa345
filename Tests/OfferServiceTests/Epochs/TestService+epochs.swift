// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import OfferService

extension TestService {
    /// Puts a new secret of customers' ids into force, as a reload does.
    func beginEpoch(_ name: String) throws {
        var bytes: [UInt8] = []
        let random = try SystemRandom()
        for _ in 0..<2 { bytes += UniqueID.version4(random.next(), random.next()).bytes }
        let epoch = CustomerEpoch(name: name, key: try HMACKey(try SecureBytes(copying: bytes)))
        let next = Pseudonyms(epoch, earlier: current.value.pseudonyms.epochs)
        try EpochRegister(ledger: ledger).adopt(next)
        use(next)
    }

    /// Leaves the newest secret alone in force, as if there had never been another.
    func forgetEarlierEpochs() throws {
        use(Pseudonyms(current.value.pseudonyms.epochs[0]))
    }

    private func use(_ pseudonyms: Pseudonyms) {
        let now = current.value
        current.swap(
            Snapshot(catalog: now.catalog, keyRing: now.keyRing, pseudonyms: pseudonyms, callers: now.callers)
        )
    }
}
