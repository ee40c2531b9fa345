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

/// A condition of a log query, as it is recorded: with its value only if the value names no person.
package struct AuditCondition: Hashable, Sendable {
    /// The condition's name, with `=` and its value if that may be recorded.
    package let text: String

    /// A condition with a name from a closed list; `value` is the given value, which may be anything.
    ///
    /// A value is recorded only if it has the form of the service's own names: 1 to 128 of `A-Z a-z 0-9 . _ : -`. A
    /// customer is recorded only as a pseudonym.
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

    /// This condition without its value, if entries are searched for that value.
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

/// One query of the log, as it is recorded.
package struct RecordedRead: Hashable, Sendable {
    /// The caller that asked; `nil` for a command.
    package let caller: CallerID?
    /// The route or the command that asked.
    package let call: AuditCall
    /// At most 24.
    package let conditions: [AuditCondition]
    /// How many entries were returned.
    package let count: Int

    /// Keeps at most 24 conditions; if no entry was found, without the values searched for.
    package init(caller: CallerID?, call: AuditCall, conditions: [AuditCondition], count: Int) {
        self.caller = caller
        self.call = call
        // A value that finds nothing may be anything, pasted by mistake; a value that is found is in the log already.
        self.conditions = (count > 0 ? conditions : conditions.map(\.withoutSearchedValue)).prefix(24).map(\.self)
        self.count = count
    }
}

/// A fetched part of the log; parts are counted, since they are many and do not show what the reader looked for.
package struct AuditFetch: Hashable, Sendable {
    /// `nil` if the log is public.
    package let caller: CallerID?
    /// The route that returned it.
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
