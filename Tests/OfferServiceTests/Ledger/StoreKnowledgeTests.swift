// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import TestSupport
import Testing

@testable import Ledger
@testable import OfferService

/// What is kept apart comes back as it was put there, each by itself.
@Suite(.overBothEngines) struct StoreKnowledgeTests {
    private static let chain = ChainKey(Array(repeating: 1, count: 18))
    private static let purchase = PurchaseKey(Array(repeating: 2, count: 18))

    @Test func `reports nothing until the ledger may lack something`() {
        var knowledge = StoreKnowledge()
        #expect(!knowledge.mayBeNew && !knowledge.namesPurchases)
        knowledge.subjects = [[1]]
        knowledge.account = [[2], [3]]
        knowledge.rotatedKeys = [RotatedKey(current: [4], earlier: [[5]])]
        #expect(!knowledge.mayBeNew && !knowledge.namesPurchases)
        #expect(knowledge.subjects == [[1]] && knowledge.account == [[2], [3]])
        #expect(knowledge.rotatedKeys == [RotatedKey(current: [4], earlier: [[5]])])

        knowledge.chains = [Self.chain]
        #expect(knowledge.mayBeNew && knowledge.namesPurchases)
        knowledge.chains = []
        knowledge.googlePlayPurchases = [Self.purchase]
        #expect(knowledge.mayBeNew && knowledge.namesPurchases && knowledge.chains.isEmpty)
        knowledge.googlePlayPurchases = []
        #expect(!knowledge.mayBeNew)

        (knowledge.subjects, knowledge.account, knowledge.rotatedKeys) = ([], [], [])
        #expect(knowledge.subjects.isEmpty && knowledge.account.isEmpty && knowledge.rotatedKeys.isEmpty)
    }

    @Test func `a copy keeps what it had`() {
        var knowledge = StoreKnowledge()
        knowledge.subjects = [[1]]
        var copy = knowledge
        copy.subjects.append([2])
        copy.chains.insert(Self.chain)
        #expect(knowledge.subjects == [[1]] && knowledge.chains.isEmpty)
        #expect(copy.subjects == [[1], [2]] && copy.chains.count == 1)
    }

    @Test func `takes over another request's store data for the same customer, and keeps its own names`() {
        var own = StoreKnowledge()
        own.subjects = [[1]]
        own.isVouchedFor = true
        var other = StoreKnowledge()
        other.subjects = [[2]]
        other.chains = [Self.chain]
        other.googlePlayPurchases = [Self.purchase]
        other.retryAfterSeconds = 7
        let knowledge = own.adding(answersOf: other)
        #expect(knowledge.chains == other.chains && knowledge.googlePlayPurchases == other.googlePlayPurchases)
        #expect(knowledge.subjects == [[1]] && knowledge.isVouchedFor && knowledge.retryAfterSeconds == 7)
        #expect(knowledge.reports.isEmpty)
    }
}
