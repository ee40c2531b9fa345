// SPDX-License-Identifier: Apache-2.0
import Storage

/// Questions about grants that are asked together, with the values of their statements.
struct AskedGrants {
    let questions: [GrantTable.Question]
    /// Of each value of ``placedValues`` the question's place among all.
    private(set) var placed: [Int] = []
    /// Where new grants may be, and of what.
    private(set) var placedValues: [[SQLValue]] = []

    /// `entries` are those at which a subject may have new grants.
    init(
        _ questions: [GrantTable.Question],
        _ entries: ([UInt8]) throws(StorageError) -> [Int64]
    ) throws(StorageError) {
        self.questions = questions
        for (number, question) in questions.enumerated() {
            for entry in try entries(question.subject) {
                placed.append(number)
                placedValues.append(
                    NewGrantRow.places(of: entry) + [.blob(question.subject), .integer(question.offerKey)]
                )
            }
        }
    }

    /// For grants that are in `grants`.
    var values: [[SQLValue]] { questions.map { [.blob($0.subject), .integer($0.offerKey)] } }
}
