// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
import Glibc
import JSON
import Ledger
package import OfferDomain
import ServiceRuntime
import TransparencyLog

/// Writes entries as syslog messages.
///
/// Source: RFC 5424, section 6; RFC 5425, section 4.3 for the count of bytes in front.
package struct SyslogWriter {
    private let target: SyslogTarget
    private let origin: String
    private let host: String
    private let process: String

    /// `origin` is the log's name; `host` is this machine's.
    package init(
        _ target: SyslogTarget,
        origin: String,
        host: String? = Instance.hostName,
        process: Int32 = getpid()
    ) {
        self.target = target
        self.origin = origin
        let name = (host ?? "").utf8.filter { (0x21...0x7E).contains($0) }.prefix(255)
        self.host = name.isEmpty ? "-" : String(decoding: name, as: UTF8.self)
        self.process = String(process)
    }

    /// The message of an entry, behind its length.
    package func frame(_ item: StreamItem) -> [UInt8] {
        let members = item.members
        let time = Timestamp(milliseconds: members["t"]?.integer ?? 0)
        var data: [(name: String, value: String)] = [
            ("index", String(item.index)), ("hash", item.hash), ("log", origin),
            ("categories", item.categories.map(\.rawValue).joined(separator: " ")),
        ]
        for name in Self.copied {
            if let value = members[name]?.string { data.append((name, value)) }
        }
        let body = HiddenCharacters.escaped(item.entry)
        let severity = item.categories.first?.severity ?? 5
        return frame(head(severity, at: time, of: members["ev"]?.string ?? ""), data, body: body)
    }

    /// What `events test` sends.
    package func testFrame(at now: Timestamp) -> [UInt8] {
        let text = "offer-signer events test: nothing has happened"
        return frame(head(5, at: now, of: "endpoint.test"), [("log", origin)], body: Array(text.utf8))
    }

    /// Members of entries that receivers filter by.
    private static let copied = ["caller", "kid", "grant", "bundle", "cause", "outcome"]

    private func head(_ severity: Int, at time: Timestamp, of event: String) -> String {
        let name = String(decoding: event.utf8.filter { (0x21...0x7E).contains($0) }.prefix(32), as: UTF8.self)
        let priority = target.facility * 8 + severity
        return "<\(priority)>1 \(time.rfc3339) \(host) offer-signer \(process) \(name.isEmpty ? "-" : name) "
    }

    private func frame(_ head: String, _ data: [(name: String, value: String)], body: [UInt8]) -> [UInt8] {
        let mark: [UInt8] = target.hasByteOrderMark ? [0xEF, 0xBB, 0xBF] : []
        var message = start(head, data) + mark
        if message.count + body.count > target.maximumBytes {
            message = start(head, data + [("truncated", "true")]) + mark
            message += Self.prefix(of: body, atMost: target.maximumBytes - message.count)
        } else {
            message += body
        }
        return Array("\(message.count) ".utf8) + message
    }

    private func start(_ head: String, _ data: [(name: String, value: String)]) -> [UInt8] {
        let parameters = data.map { " \($0.name)=\"\(Self.escaped($0.value))\"" }.joined()
        return Array("\(head)[offer-signer@\(target.enterpriseNumber)\(parameters)] ".utf8)
    }

    /// Source: RFC 5424, section 6.3.3.
    private static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in HiddenCharacters.escaped(value).unicodeScalars {
            if scalar == "\\" || scalar == "\"" || scalar == "]" { text.unicodeScalars.append("\\") }
            text.unicodeScalars.append(scalar)
        }
        return text
    }

    /// The first bytes, without a part of a character.
    private static func prefix(of body: [UInt8], atMost count: Int) -> ArraySlice<UInt8> {
        var end = max(0, min(count, body.count))
        while end > 0, end < body.count, body[end] & 0xC0 == 0x80 { end -= 1 }
        return body[..<end]
    }
}

/// One entry on its way to a receiver.
package struct StreamItem {
    /// The entry's place in the log, counted from 0.
    package let index: Int64
    /// The entry's bytes as the log has them: a JSON object.
    package let entry: [UInt8]
    let members: JSONObject
    /// The entry's categories, the most severe first; empty for an event that this version does not know.
    package let categories: [AuditCategory]

    /// `nil` if no service wrote the entry.
    package init?(_ index: Int64, _ entry: [UInt8]) {
        guard let members = (try? JSONDocument(entry))?.root.object, members["ev"]?.string != nil else { return nil }
        (self.index, self.entry, self.members) = (index, entry, members)
        categories = AuditCategory.categories(ofEntry: members)
    }

    /// The entry's leaf hash in the log, in hexadecimal.
    var hash: String { TreeHash.leaf(entry).hex }

    /// A line of a file: one JSON object.
    package var line: [UInt8] {
        let names = categories.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
        return Array(#"{"index":\#(index),"hash":"\#(hash)","categories":[\#(names)],"entry":"#.utf8)
            + HiddenCharacters.escaped(entry) + Array("}\n".utf8)
    }

    /// What `events test` writes.
    package static func testLine(at now: Timestamp) -> [UInt8] {
        Array(#"{"test":"offer-signer events test: nothing has happened","at":"\#(now.rfc3339)"}"#.utf8) + [0x0A]
    }
}
