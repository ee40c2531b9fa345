// SPDX-License-Identifier: Apache-2.0

extension Rule {
    func all(_ children: [Finding]) -> Finding {
        let answer = Answer.all(children.lazy.map(\.answer))
        let code: FindingCode =
            switch answer {
            case .met: .allMet
            case .notMet: .allNotMet
            case .undecided: .allUndecided
            }
        return Finding(self, answer, because: code, turnsAt: children.turningOfAll(answer), children: children)
    }

    func any(_ children: [Finding]) -> Finding {
        let answer = Answer.any(children.lazy.map(\.answer))
        let code: FindingCode =
            switch answer {
            case .met: .anyMet
            case .notMet: .anyNotMet
            case .undecided: .anyUndecided
            }
        return Finding(self, answer, because: code, turnsAt: children.turningOfAny(answer), children: children)
    }

    func not(_ child: Finding) -> Finding {
        let code: FindingCode =
            switch child.answer {
            case .met: .notNotMet
            case .notMet: .notMet
            case .undecided: .notUndecided
            }
        return Finding(self, !child.answer, because: code, turnsAt: child.turnsAt, children: [child])
    }
}

// MARK: - When waiting turns a combination

extension [Finding] {
    /// `all` becomes met when the last unmet one does, and stops being met when the first one stops.
    func turningOfAll(_ answer: Answer) -> Timestamp? {
        switch answer {
        case .met: compactMap(\.turnsAt).min()
        case .notMet: latestTurn(ofThose: .notMet)
        case .undecided: nil
        }
    }

    /// `any` becomes met when the first one does, and stops being met when the last met one stops.
    func turningOfAny(_ answer: Answer) -> Timestamp? {
        switch answer {
        case .met: latestTurn(ofThose: .met)
        case .notMet: compactMap(\.turnsAt).min()
        case .undecided: nil
        }
    }

    /// When the last finding with this answer changes; nil if one never does, or if one is undecided and would stay so.
    private func latestTurn(ofThose answer: Answer) -> Timestamp? {
        var latest: Timestamp?
        for finding in self where finding.answer == answer || finding.answer == .undecided {
            guard let turnsAt = finding.turnsAt else { return nil }
            latest = Swift.max(latest ?? turnsAt, turnsAt)
        }
        return latest
    }
}
