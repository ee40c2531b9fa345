// SPDX-License-Identifier: Apache-2.0

extension Rule {
    /// What wasn't stated is undecided, and so is a value of another type, which is a mistake of the caller's.
    ///
    /// Only `exists` takes silence for an answer, and only the silence of a caller who was entitled to speak.
    func attribute(_ name: String, _ test: AttributeTest, in attributes: Attributes?) -> Finding {
        guard let attributes else { return Finding(self, .undecided, because: .attributeUnknown) }
        let value = attributes[name]
        if case .exists(let wanted) = test {
            let exists = value != nil
            return Finding(self, Answer(exists == wanted), because: exists ? .attributeExists : .attributeAbsent)
        }
        guard let value else { return Finding(self, .undecided, because: .attributeUnknown) }
        guard let isMet = test.admits(value) else { return Finding(self, .undecided, because: .attributeWrongType) }
        return Finding(self, Answer(isMet), because: isMet ? .attributeMatches : .attributeDiffers)
    }
}

extension AttributeTest {
    /// Whether `value` passes; nil if it is of a type that the test can't judge.
    func admits(_ value: AttributeValue) -> Bool? {
        switch self {
        case .equals(let wanted):
            return value.matches(wanted)
        case .isIn(let wanted):
            let comparisons = wanted.compactMap(value.matches)
            return comparisons.isEmpty ? nil : comparisons.contains(true)
        case .range(let atLeast, let atMost):
            guard case .number(let number) = value else { return nil }
            return number >= atLeast ?? -.infinity && number <= atMost ?? .infinity
        case .exists(let wanted):
            return wanted
        }
    }
}
