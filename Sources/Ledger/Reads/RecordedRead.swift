// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
import OfferDomain

/// A way to read the audit log: a call of the service, or a command.
package enum AuditCall: String, CaseIterable, Hashable, Sendable {
    case log = "/v1/audit/log"
    case entry = "/v1/audit/entries/{index}"
    case entryProof = "/v1/audit/entries/{index}/proof"
    case entries = "/v1/audit/entries"
    case lookups = "/v1/audit/lookups"
    case names = "/v1/audit/names"
    case summary = "/v1/audit/summary"
    case reconciliation = "/v1/audit/reconciliation"
    case grant = "/v1/grants/{grantId}"
    case events = "/v1/events"
    case eventEndpoints = "/v1/events/endpoints"
    case keys = "/v1/keys"
    case seal = "/v1/seal"
    case checkpoint = "/audit/checkpoint"
    case tile = "/audit/tile"
    case entryBundle = "/audit/tile/entries"
    case queryCommand = "audit query"
    case exportCommand = "audit export"
    case proofCommand = "audit proof"
    case verifyCommand = "audit verify"
    case reconcileCommand = "audit reconcile"
    case findCommand = "audit find"
    case verifySignatureCommand = "verify"
    case indexCommand = "audit index"
}

/// Something that a reader of the log asked for, as it is recorded: with its value only where that tells of nobody.
package struct AuditCondition: Hashable, Sendable {
    /// The condition's name, with `=` and its value if that may be recorded.
    package let text: String

    /// A condition of that name, out of a closed list; `value` is what it was given, whatever that is.
    ///
    /// A value is recorded if it can be no more than a name of ours: 1 to 128 of `A-Z a-z 0-9 . _ : -`. What a customer is
    /// known by is recorded only as a pseudonym.
    package init(_ name: StaticString, _ value: String? = nil) {
        self.init(name: "\(name)", value)
    }

    init(name: String, _ value: String?) {
        guard let value, Self.isRecorded(value, of: name) else {
            text = name
            return
        }
        text = "\(name)=\(value)"
    }

    /// The same, where the value is one that entries are searched for.
    var withoutSearchedValue: AuditCondition {
        let name = text.prefix { $0 != "=" }
        return AuditQuery.Field(rawValue: String(name)) == nil ? self : AuditCondition(name: String(name), nil)
    }

    private static func isRecorded(_ value: String, of name: String) -> Bool {
        guard (1...128).contains(value.utf8.count), value.utf8.allSatisfy(isPlain) else { return false }
        return name != AuditQuery.Field.user.rawValue || Pseudonym.isRecordText(value)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: [UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "-")].contains(byte)
        }
    }
}

/// One question to the log, as it is recorded.
package struct RecordedRead: Hashable, Sendable {
    /// Who asked; `nil` of a command.
    package let caller: CallerID?
    /// The route or the command that asked.
    package let call: AuditCall
    /// At most 24.
    package let conditions: [AuditCondition]
    /// How many entries were given.
    package let count: Int

    /// Keeps at most 24 conditions; if no entry was found, without the values that were searched for.
    package init(caller: CallerID?, call: AuditCall, conditions: [AuditCondition], count: Int) {
        self.caller = caller
        self.call = call
        // What finds nothing may be anything, pasted into the wrong place; what finds something is in the log already.
        self.conditions = (count > 0 ? conditions : conditions.map(\.withoutSearchedValue)).prefix(24).map(\.self)
        self.count = count
    }
}

/// A part of the log that was fetched: such parts are many and hold nothing that was asked for, so they are counted.
package struct AuditFetch: Hashable, Sendable {
    /// `nil` where the log is open to everybody.
    package let caller: CallerID?
    /// The route that gave it.
    package let call: AuditCall

    package init(caller: CallerID?, call: AuditCall) {
        self.caller = caller
        self.call = call
    }
}

extension AuditQuery {
    /// What the query asks for, as it is recorded.
    package var conditions: [AuditCondition] {
        var conditions = Field.allCases.compactMap { field in
            fields[field].map { AuditCondition(name: field.rawValue, $0) }
        }
        if let reason { conditions.append(AuditCondition("reason", reason.rawValue)) }
        conditions += excludedEvents.map(\.rawValue).sorted().map { AuditCondition("exclude", $0) }
        if let from { conditions.append(AuditCondition("from", from.rfc3339)) }
        if let until { conditions.append(AuditCondition("until", until.rfc3339)) }
        return conditions
    }
}
