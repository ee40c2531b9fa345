// SPDX-License-Identifier: Apache-2.0
package import JSON
package import OfferDomain
import ServiceRuntime

/// The findings of one offer's rules as JSON, each kept as it was last written.
///
/// Most customers get the same words, so most findings need not be written again. The number of grants differs nearly
/// each time: if a sentence begins with it, the rest of the sentence is kept.
package final class FindingTexts: Sendable {
    /// By the place of their rules among the offer's.
    private let last = Guarded<[FindingText]>([])

    package init() {}

    /// Writes the array of findings.
    package func write(_ findings: [Finding], to writer: inout JSONWriter) {
        writer.beginArray()
        last.withLock { last in
            Finding.forEachVariable(of: findings) { place, variable, count in
                if place < last.count, last[place].write(count, if: variable, to: &writer) { return }
                let text = FindingText(findings[place], variable)
                if place == last.count { last.append(text) } else { last[place] = text }
                text.write(count, to: &writer)
            }
        }
        writer.endArray()
    }
}

/// A finding as it was last written.
///
/// A class, because each request reads it in place.
private final class FindingText: Sendable {
    let variable: Finding.Variable?
    /// The text before the number at the start of the sentence; the whole text if there is no such number.
    private let beginning: [UInt8]
    private let end: [UInt8]

    init(_ finding: Finding, _ variable: Finding.Variable?) {
        self.variable = variable
        var writer = JSONWriter(reserving: 192)
        let sentence = writer.write(finding)
        if let count = finding.leadingCount {
            beginning = Array(writer.bytes[..<sentence])
            end = Array(writer.bytes[(sentence + String(count).utf8.count)...])
        } else {
            beginning = writer.bytes
            end = []
        }
    }

    /// Writes the finding, unless it is another one now.
    ///
    /// - Returns: Whether it was written.
    func write(_ count: Int?, if current: Finding.Variable?, to writer: inout JSONWriter) -> Bool {
        guard current != nil, current == variable else { return false }
        write(count, to: &writer)
        return true
    }

    func write(_ count: Int?, to writer: inout JSONWriter) {
        guard let count else { return writer.value(json: beginning) }
        writer.value(json: beginning, Int64(count), end)
    }
}

extension JSONWriter {
    /// Writes a finding with those inside it.
    ///
    /// - Returns: Where its sentence begins.
    @discardableResult
    fileprivate mutating func write(_ finding: Finding) -> Int {
        beginObject()
        member("rule", plain: finding.rule)
        member("answer", plain: finding.answer.rawValue)
        member("code", plain: finding.code.rawValue)
        name("because")
        let sentence = bytes.count + 1
        string(finding.because)
        if let instant = finding.nextEligibleAt {
            member("nextEligibleAt", upTo: Timestamp.mostRFC3339Bytes) { instant.appendRFC3339(to: &$0) }
        }
        if !finding.countedBy.isEmpty {
            name("countedBy")
            beginArray()
            for name in finding.countedBy.names { string(name) }
            endArray()
        }
        if !finding.children.isEmpty {
            name("findings")
            beginArray()
            for child in finding.children { write(child) }
            endArray()
        }
        endObject()
        return sentence
    }
}
