// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import TestSupport
import Testing

/// Listing and ending sessions by command, beside a service that has them.
@Suite(.overBothEngines) struct SessionAdministrationTests {
    private func administration(_ place: SignInPlace) -> SessionAdministration {
        SessionAdministration(ledger: place.service.ledger, clock: place.service.clock.wallClock)
    }

    @Test func `all sessions of a person end, within five seconds and on record, and no other's`() async throws {
        try await withSignIn { place async throws in
            let anna = [try await place.signIn(), try await place.signIn()]
            let bert = try await place.signIn(groups: #"["on call"]"#, subject: "bert")
            let id = try #require(try await place.ask("/v1/callers/self", anna[0]).json["id"].text)
            let person = try #require(CallerID(ofSession: id))
            let administration = administration(place)
            #expect(try await mayBlock { Result { try administration.end(person) } }.get() == 2)
            place.service.clock.advance(seconds: 5)
            for cookie in anna {
                #expect(try await place.ask("/v1/callers/self", cookie).problem == "session-ended")
            }
            #expect(try await place.ask("/v1/callers/self", bert).status == 200)
            #expect(try await mayBlock { Result { try administration.end(person) } }.get() == 0)
            let entries = try place.service.entries("session.end")
            #expect(entries.count == 1 && entries[0]["caller"].text == id, "\(entries)")
            #expect(entries[0]["by"].text == "command" && entries[0]["count"] == .number(2), "\(entries)")
        }
    }

    @Test func `lists what is neither over nor ended, by pseudonym and role`() async throws {
        try await withSignIn { place async throws in
            let service = place.service
            _ = try await place.signIn(subject: "early")
            service.clock.advance(seconds: 1800)
            let cookie = try await place.signIn(subject: "left")
            #expect(try await place.ask("/console/sign-out", cookie, method: "POST").status == 200)
            _ = try await place.signIn(groups: #"["on call"]"#, subject: "late")
            let (begun, administration) = (service.clock.now, administration(place))
            #expect(try administration.live().map(\.role) == [.auditor, .admin])
            service.clock.advance(seconds: 1800)
            let left = try administration.live()
            #expect(left.count == 1 && left[0].begunAt == begun && left[0].expiresAt == begun.adding(seconds: 3600))
            #expect(left[0].person.text.contains(#/^console:login:[0-9a-f]{16}$/#))
        }
    }

    @Test func `a sign-in does not begin a second session after its session was ended`() async throws {
        try await withSignIn { place async throws in
            var attempt = try await place.begin()
            attempt.reuses = true
            _ = try await place.finish(attempt)
            let administration = administration(place)
            let person = try #require(try administration.live().first?.person)
            #expect(try await mayBlock { Result { try administration.end(person) } }.get() == 1)
            #expect(try await place.callBack(attempt).body.contains("This sign-in was used before"))
        }
    }

    @Test func `only a person's name is one of a session`() {
        for name in ["web-backend", "users:login", "console", "service", ""] {
            #expect(CallerID(ofSession: name) == nil, "\(name)")
        }
    }
}
