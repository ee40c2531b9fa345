// SPDX-License-Identifier: Apache-2.0

/// A way to be rude, of those that any fake has; `Tests/Fakes/Common/rudeness.py` has them all.
package protocol FakeMisbehaviour: Sendable {
    init(_ kind: String, _ arguments: FakeMembers)

    var kind: String { get }
    var arguments: FakeMembers { get }
}

extension FakeMisbehaviour {
    package init(_ kind: String) {
        self.init(kind, [:])
    }

    /// No answer, and the connection stays.
    package static var hang: Self { .init("hang") }
    package static func slow(milliseconds: Int) -> Self { .init("slow", ["milliseconds": .integer(milliseconds)]) }
    /// Sends `bytes` bytes of the body at a time.
    package static func drip(milliseconds: Int, bytes: Int = 1) -> Self {
        .init("drip", ["milliseconds": .integer(milliseconds), "bytes": .integer(bytes)])
    }
    /// Ends the connection in the middle of the body.
    package static var cutOff: Self { .init("cutOff") }
    /// Stops in the middle of the body, and the connection stays.
    package static var stall: Self { .init("stall") }
    /// Ends the connection without an answer.
    package static var close: Self { .init("close") }
    package static var resetStream: Self { .init("resetStream") }
    /// Answers, and then says GOAWAY (HTTP/2) or closes (HTTP/1.1).
    package static var goAway: Self { .init("goAway") }
    package static var garbage: Self { .init("garbage") }
    package static func answer(
        status: Int = 200,
        body: String,
        contentType: String = "application/json",
        headers: FakeMembers = [:]
    ) -> Self {
        .init(
            "answer",
            [
                "status": .integer(status), "body": .text(body), "contentType": .text(contentType),
                "headers": .object(headers),
            ]
        )
    }
    /// A bare status with HTML.
    package static func status(_ status: Int) -> Self { .init("status", ["status": .integer(status)]) }
    package static func redirect(to location: String) -> Self { .init("redirect", ["location": .text(location)]) }
    /// A body that is cut short, yet of the declared length.
    package static var wrongJSON: Self { .init("wrongJSON") }
    package static var wrongContentType: Self { .init("wrongContentType") }
    package static func oversized(bytes: Int, declaresLength: Bool = true) -> Self {
        .init("oversized", ["bytes": .integer(bytes), "declaresLength": .boolean(declaresLength)])
    }
    /// A body without end.
    package static var endlessBody: Self { .init("oversized", ["declaresLength": false]) }
    package static var oversizedHead: Self { .init("oversizedHead") }
    package static var gzipBomb: Self { .init("gzipBomb") }
}

/// What a fake shows to its clients.
package enum FakeTLSCertificate: String, Sendable {
    case good, otherAuthority, otherAddress, expired
}
