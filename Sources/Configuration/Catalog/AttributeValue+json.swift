// SPDX-License-Identifier: Apache-2.0
package import JSON
package import OfferDomain

extension AttributeValue {
    /// Reads a boolean, number or string.
    package init?(_ value: JSONValue) {
        switch value.kind {
        case .boolean:
            guard let bool = value.bool else { return nil }
            self = .boolean(bool)
        case .number:
            guard let number = value.double else { return nil }
            self = .number(number)
        case .string:
            guard let text = value.string else { return nil }
            self = .text(text)
        case .object, .array, .null: return nil
        }
    }
}
