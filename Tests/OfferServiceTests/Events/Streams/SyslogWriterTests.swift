// SPDX-License-Identifier: Apache-2.0
import HTTP
import OfferDomain
import Testing

@testable import Configuration
@testable import OfferService

/// How entries look as syslog messages.
struct SyslogWriterTests {
    private static let entry = #"{"caller":"shop","ev":"sign.deny","outcome":"notEligible","t":1780000000120,"v":1}"#

    private static func target(_ change: (inout SyslogTarget) -> Void = { _ in }) throws -> SyslogTarget {
        var target = SyslogTarget(connection: StreamConfiguration(origin: try Origin(parsing: "https://siem.test")))
        change(&target)
        return target
    }

    /// The message of an entry, without its length, which must be right.
    private static func message(
        _ entry: String = entry,
        origin: String = "shop.example/log",
        host: String? = "signer-1",
        _ change: (inout SyslogTarget) -> Void = { _ in }
    ) throws -> String {
        let writer = SyslogWriter(try target(change), origin: origin, host: host, process: 71)
        let frame = writer.frame(try #require(StreamItem(5310, Array(entry.utf8))))
        let space = try #require(frame.firstIndex(of: 0x20))
        #expect(Int(String(decoding: frame[..<space], as: UTF8.self)) == frame.count - space - 1)
        return String(decoding: frame[(space + 1)...], as: UTF8.self)
    }

    @Test func `has each part in its place`() throws {
        let hash = try #require(StreamItem(5310, Array(Self.entry.utf8))).hash
        let data =
            #"[offer-signer@32473 index="5310" hash="\#(hash)" log="shop.example/log" categories="refusals""#
            + #" caller="shop" outcome="notEligible"]"#
        #expect(
            try Self.message()
                == "<108>1 2026-05-28T20:26:40.120Z signer-1 offer-signer 71 sign.deny \(data) \u{FEFF}\(Self.entry)"
        )
    }

    @Test(
        arguments: [
            ("service.seal", 106), ("sign.failed", 107), ("sign.deny", 108), ("audit.read", 109),
            ("config.load", 109), ("sign.intent", 110), ("offer.missed", 110), ("from.tomorrow", 109),
        ]
    )
    func `its priority is that of the most severe category`(event: String, priority: Int) throws {
        let message = try Self.message(#"{"ev":"\#(event)","t":1780000000000,"v":1}"#)
        #expect(message.hasPrefix("<\(priority)>1 2026-05-28T20:26:40"), "\(message)")
    }

    @Test func `follows the stream's own form`() throws {
        let message = try Self.message { target in
            (target.facility, target.enterpriseNumber, target.hasByteOrderMark) = (16, 99, false)
        }
        #expect(message.hasPrefix("<132>1 ") && message.contains(" [offer-signer@99 ") && !message.contains("\u{FEFF}"))
    }

    @Test func `escapes values as RFC 5424 has it`() throws {
        let message = try Self.message(
            #"{"caller":"a]b\"c\\d","ev":"sign.deny","t":1780000000120,"v":1}"#,
            origin: "x]\"\\"
        )
        #expect(message.contains(#" log="x\]\"\\" categories="refusals" caller="a\]b\"c\\d"] "#), "\(message)")
    }

    @Test(arguments: [nil, "", "two words é", String(repeating: "x", count: 300)])
    func `a name of a machine that is no host name is made one`(host: String?) throws {
        let name = try Self.message(host: host).split(separator: " ", omittingEmptySubsequences: false)[2]
        #expect(!name.isEmpty && name.utf8.count <= 255 && name.utf8.allSatisfy { (0x21...0x7E).contains($0) })
    }

    @Test func `cuts what is too long between two characters, and says so`() throws {
        let reason = String(repeating: "é", count: 1500)
        let entry = #"{"ev":"service.seal","reason":"\#(reason)","t":1780000000120,"v":1}"#
        for most in 2048...2051 {
            let message = try Self.message(entry) { $0.maximumBytes = most }
            #expect((most - 1...most).contains(message.utf8.count), "\(message.utf8.count)")
            #expect(message.contains(#" truncated="true"] "#) && message.hasSuffix("é"))
        }
        #expect(try !Self.message(entry).contains("truncated"))
    }
}
