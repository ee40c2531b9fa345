// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
import OfferDomain

/// Reads the `attributes` member: an object of booleans, numbers and strings.
enum AttributesReader {
    static func read(_ value: JSONValue, into mismatches: Mismatches) -> Attributes {
        guard let object = value.object else {
            mismatches.add(value, "expected an object of booleans, numbers and strings, found \(value.summary)")
            return Attributes()
        }
        // Before each is looked at: a body has room for thousands.
        guard object.count <= Attributes.limit else {
            mismatches.add(value, "\(AttributeError.tooMany(limit: Attributes.limit))")
            return Attributes()
        }
        var values: [(name: String, value: AttributeValue)] = []
        for member in object {
            if let fault = fault(of: member.value) {
                mismatches.add(member.value, fault)
            } else if let attribute = AttributeValue(member.value) {
                values.append((member.name, attribute))
            }
        }
        do {
            return try Attributes(values)
        } catch {
            mismatches.add(value, "\(error)")
            return Attributes()
        }
    }

    private static func fault(of value: JSONValue) -> String? {
        if let attribute = AttributeValue(value) { return attribute.fault?.description }
        return value.kind == .number
            ? "expected a number within those of 64 bits (IEEE 754), found a larger one"
            : "expected a boolean, a number or a string, found \(value.summary)"
    }
}
