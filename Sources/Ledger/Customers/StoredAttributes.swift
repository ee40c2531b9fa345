// SPDX-License-Identifier: Apache-2.0
package import Configuration
import JSON
package import OfferDomain

/// What a backend stored of a customer, for requests that cannot state it.
package struct StoredAttributes: Hashable, Sendable {
    /// How long they may be stored.
    package static let mostDays: Int64 = 90

    /// What the backend states; an attribute that is not among them is absent.
    ///
    /// `nil` if it stores none.
    package let attributes: Attributes?
    /// `nil` if it stores none.
    package let facts: StoredFacts?
    /// When they were stored, by the time of the log.
    package let storedAt: Timestamp
    /// From then on they are as if they had never been stored.
    package let expiresAt: Timestamp
}

/// The names of the stored attributes and facts that a decision used.
package struct StoredNames: Hashable, Sendable {
    /// Names of attributes; `nil` if no stored attributes were looked at.
    package var attributes: [String]?
    /// Names of facts; empty if none decided anything.
    package var facts: [String] = []
}

/// What a backend has the ledger store of a customer, or delete.
package struct AttributeChange: Sendable {
    /// The customer that the attributes belong to.
    package let user: Pseudonym
    /// The version of the secret that the pseudonym is made with.
    package let secretVersion: String
    /// The app that the customer is one of.
    package let app: AppInStores
    /// The caller that wants it; the entry names it.
    package let callerID: CallerID
    /// What is stored in place of all that was; `nil` deletes it.
    package let new: New?

    /// Attributes, facts or both, with their end.
    package struct New: Sendable {
        let attributes: Attributes?
        let facts: StoredFacts?
        let expiresAt: Timestamp

        package init(attributes: Attributes?, facts: StoredFacts?, expiresAt: Timestamp) {
            (self.attributes, self.facts, self.expiresAt) = (attributes, facts, expiresAt)
        }
    }

    package init(user: Pseudonym, secretVersion: String, app: AppInStores, callerID: CallerID, new: New?) {
        (self.user, self.secretVersion, self.app) = (user, secretVersion, app)
        (self.callerID, self.new) = (callerID, new)
    }

    /// What the entry says was done.
    var state: String { new == nil ? "deleted" : "stored" }
}

extension StoredAttributes {
    init(_ new: AttributeChange.New, storedAt: Timestamp) {
        self.init(attributes: new.attributes, facts: new.facts, storedAt: storedAt, expiresAt: new.expiresAt)
    }

    /// Whether that would change nothing.
    func says(_ new: AttributeChange.New) -> Bool {
        attributes == new.attributes && facts == new.facts && expiresAt == new.expiresAt
    }
}

extension Attributes {
    /// A JSON object, as the ledger has it.
    package var json: [UInt8] {
        var writer = JSONWriter(reserving: 32 * entries.count + 2)
        writer.beginObject()
        for entry in entries {
            writer.name(text: entry.name)
            switch entry.value {
            case .boolean(let value): writer.boolean(value)
            case .number(let value): writer.number(value)
            case .text(let value): writer.string(value)
            }
        }
        writer.endObject()
        return writer.bytes
    }

    /// Six times as much as a request may have: an escaped character takes at most six bytes.
    private static let limits = JSONLimits(maximumBytes: 6 * 65_536)

    /// Reads what ``json`` writes; `nil` for anything else.
    init?(json: [UInt8]) {
        guard let object = (try? JSONDocument(json, limits: Self.limits))?.root.object else { return nil }
        var values: [(name: String, value: AttributeValue)] = []
        for member in object {
            guard let value = AttributeValue(member.value) else { return nil }
            values.append((member.name, value))
        }
        do throws(AttributeError) { try self.init(values) } catch { return nil }
    }

    /// The names, as far as an entry of the log has room for them.
    static func recorded(_ names: [String], mostBytes: Int) -> [String] {
        var left = mostBytes
        return Array(
            names.prefix { name in
                left -= name.utf8.count
                return left >= 0
            }
        )
    }
}
