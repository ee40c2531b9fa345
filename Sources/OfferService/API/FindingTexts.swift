// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// The findings of one offer's rules as JSON, each kept as it was last written.
///
/// Most customers are told the same words, so most findings need not be put into words again.
package final class FindingTexts: Sendable {
    /// A finding as it was last written, by its rule's place among the offer's.
    private struct Text {
        var variable: Finding.Variable?
        var json: [UInt8] = []
    }

    private let last = Guarded<[Text]>([])

    package init() {}

    /// Writes the array of findings.
    func write(_ findings: [Finding], to writer: inout JSONWriter) {
        // A view on them, so that none is copied.
        let findings = findings.span
        writer.beginArray()
        last.withLock { last in
            while last.count < findings.count { last.append(Text()) }
            for place in findings.indices {
                let variable = findings[place].variable
                if variable == nil || last[place].variable != variable {
                    last[place] = Text(variable: variable, json: Self.json(of: findings[place]))
                }
                writer.value(json: last[place].json)
            }
        }
        writer.endArray()
    }

    private static func json(of finding: Finding) -> [UInt8] {
        var writer = JSONWriter(reserving: 192)
        write(finding, to: &writer)
        return writer.bytes
    }

    private static func write(_ finding: Finding, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.name("rule")
        writer.string(plain: finding.rule)
        writer.name("answer")
        writer.string(plain: finding.answer.rawValue)
        writer.name("code")
        writer.string(plain: finding.code.rawValue)
        writer.name("because")
        writer.string(finding.because)
        if let instant = finding.nextEligibleAt {
            writer.name("nextEligibleAt")
            writer.string(plain: instant.rfc3339)
        }
        if !finding.children.isEmpty {
            writer.name("findings")
            writer.beginArray()
            for child in finding.children { write(child, to: &writer) }
            writer.endArray()
        }
        writer.endObject()
    }
}
