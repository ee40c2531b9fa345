// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

extension EndToEnd {
    /// The fake Google Play's messages of Pub/Sub, as PyJWT sees them.
    @Suite(.ring(.check)) struct FakeGooglePlayPushTests {
        private let play: FakeGooglePlay
        private let client: FakeGooglePlayClient
        private let messageID: String

        init() async throws {
            client = try await FakeGooglePlayClient.fresh()
            play = client.play
            messageID = try play.buy(.init("premium")).messageIDs[0]
        }

        @Test func `each fault of a token is one that an endpoint finds`() async throws {
            #expect(try play.tokenFaultNames() == FakeGooglePlay.TokenFault.allCases.map(\.rawValue).sorted())
            var messages = [("right", try play.push(messageID))]
            for fault in FakeGooglePlay.TokenFault.allCases {
                messages.append((fault.rawValue, try play.push(messageID, fault: fault)))
            }
            let refusals = try await client.refusals(of: messages)
            #expect(refusals["right"] == nil)
            for fault in FakeGooglePlay.TokenFault.allCases {
                #expect((refusals[fault.rawValue] == nil) == fault.isAcceptable, "\(fault)")
            }
        }

        @Test func `a message has the form of Pub/Sub's, twice the same id and otherwise what the test says`() throws {
            let message = try play.push(messageID)
            for (pointer, value) in [
                "/message/messageId": messageID, "/message/message_id": messageID,
                "/subscription": "projects/example-project/subscriptions/play-rtdn",
            ] {
                #expect(jsonValue(pointer, in: message.body) == value)
            }
            #expect(jsonValue("/message/publishTime", in: message.body)?.hasSuffix("Z") == true)
            let content = client.content(of: message)
            #expect(jsonValue("/packageName", in: content) == FakeGooglePlay.firstApp)
            // int64 is text.
            #expect(content.contains(#""eventTimeMillis":"1"#))
            #expect(try play.push(messageID).body == message.body)
            let changes = FakeGooglePlay.MessageChanges(
                renamed: "7",
                publishedAt: 0,
                content: ["packageName": "com.example.other", "version": .null],
                message: ["attributes": ["a": "b"]],
                envelope: ["deliveryAttempt": 2]
            )
            let changed = try play.push(messageID, changing: changes)
            #expect(changed.messageID == "7" && jsonValue("/message/messageId", in: changed.body) == "7")
            #expect(jsonValue("/message/publishTime", in: changed.body) == "1970-01-01T00:00:00Z")
            #expect(jsonValue("/deliveryAttempt", in: changed.body) == "2")
            #expect(jsonValue("/packageName", in: client.content(of: changed)) == "com.example.other")
            #expect(jsonValue("/version", in: client.content(of: changed)) == nil)
            #expect(client.content(of: try play.push(messageID, changing: .init(data: "not JSON"))) == "not JSON")
            let made = client.content(of: try play.push(try play.makeNotification()))
            #expect(jsonValue("/testNotification", in: made) == #"{"version":"1.0"}"#)
            #expect(throws: ChildProcess.Failure.self) { try play.push("404") }
        }

        @Test func `keys rotate, are published late, and their answer says how long it may be kept`() async throws {
            let play = try FakeGooglePlay()
            let client = try await FakeGooglePlayClient(play)
            let id = try play.makeNotification()
            let old = try play.push(id)
            try play.rotateKeys()
            let new = try play.push(id)
            #expect(try await client.refusals(of: [("old", old), ("new", new)]).isEmpty)
            try play.rotateKeys(publishes: false)
            let late = try play.push(id)
            #expect(try await client.refusals(of: [("new", new), ("late", late)]).keys.sorted() == ["late"])
            try play.publishKeys()
            #expect(try await client.refusals(of: [("late", late)]).isEmpty)
            try play.rotateKeys(keepsOld: false)
            let last = try play.push(id)
            #expect(try await client.refusals(of: [("late", late), ("last", last)]).keys.sorted() == ["late"])

            let keys = try await curl(play.certificatesURL(), trusting: play.tlsCAPath, [])
            #expect(keys.field("cache-control")?.contains("max-age=3600") == true)
            try play.setCertificates(maxAgeSeconds: nil, changing: ["keys": []])
            let none = try await curl(play.certificatesURL(), trusting: play.tlsCAPath, [])
            #expect(none.field("cache-control") == nil && none.body == #"{"keys":[]}"#)
        }

        @Test func `a push has the identity that the test sets`() async throws {
            try play.setPush(.init(audience: "https://other.example/push", email: "other@example.com"))
            let refused = try await client.refusals(of: [("other", try play.push(messageID))])
            #expect(refused["other"]?.contains("Audience") == true)
            let own = FakeGooglePlay.pushIdentity
            let claims: FakeMembers = ["aud": .text(own.audience), "email": .text(own.email)]
            let right = try play.push(messageID, changing: .init(claims: claims))
            #expect(try await client.refusals(of: [("right", right)]).isEmpty)
        }
    }
}
