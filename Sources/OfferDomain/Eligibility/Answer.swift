// SPDX-License-Identifier: Apache-2.0

/// Yes, no, or "not known"; only `met` leads to a signature.
///
/// The three combine as in Kleene's strong logic of indeterminacy: what is undecided stays so unless the rest decides
/// alone.
package enum Answer: String, CaseIterable, Sendable {
    case met
    case notMet
    case undecided

    init(_ isMet: Bool) { self = isMet ? .met : .notMet }

    /// The opposite; undecided stays undecided.
    package static prefix func ! (answer: Answer) -> Answer {
        switch answer {
        case .met: .notMet
        case .notMet: .met
        case .undecided: .undecided
        }
    }

    /// Not met if one is not met, else undecided if one is, else met; met for no answers.
    package static func all(_ answers: some Sequence<Answer>) -> Answer {
        var all = Answer.met
        for answer in answers {
            if answer == .notMet { return .notMet }
            if answer == .undecided { all = .undecided }
        }
        return all
    }

    /// Met if one is met, else undecided if one is, else not met; not met for no answers.
    package static func any(_ answers: some Sequence<Answer>) -> Answer {
        !all(answers.lazy.map { !$0 })
    }
}
