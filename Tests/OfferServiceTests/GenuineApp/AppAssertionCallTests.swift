// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import TestSupport
import Testing

/// How an app proves itself with each request.
@Suite(.overBothEngines) struct AppAssertionCallTests {
    @Test(arguments: Wire.allCases)
    func `an app that has to prove itself is decided about with a proof, and not without`(wire: Wire) async throws {
        try await withGenuineApp(wire) { service, device async throws in
            var device = device
            let call = service.call(as: "app", genuineBody())
            #expect(try await service.send(call).problem == "genuine-app-required")
            let unregistered = try device.assertion(for: call, try await service.challenge(), counter: 1)
            #expect(try await service.send(unregistered).problem == "app-attest-key-unknown")
            #expect(try await service.register(device).status == 200)
            let reply = try await service.send(device.signed(call, try await service.challenge()))
            #expect(reply.isPastProof, "\(reply)")
            #expect(try await service.send(service.call(offer: "open")).status == 200, "a backend is no app")
        }
    }

    /// Changes to a good request after its assertion was made.
    static let changes: [(name: String, problem: String, change: @Sendable (Call) -> Call)] = [
        (
            "another body", "genuine-app-refused",
            { call in
                var call = call
                call.body = Array(genuineBody("once").utf8)
                return call
            }
        ),
        ("no key", "genuine-app-refused", { $0.changing("App-Attest-Key-Id") { _ in nil } }),
        ("no challenge", "genuine-app-refused", { $0.changing("App-Attest-Challenge") { _ in nil } }),
        ("no assertion", "genuine-app-refused", { $0.changing("App-Attest-Assertion") { _ in nil } }),
        ("two keys", "genuine-app-refused", { $0.with("App-Attest-Key-Id", "AAAA") }),
        ("a short key ID", "genuine-app-refused", { $0.changing("App-Attest-Key-Id") { _ in "AAAA" } }),
        (
            "an assertion in base64url", "genuine-app-refused",
            { call in
                call.changing("App-Attest-Assertion") { $0.replacing("/", with: "_").replacing("+", with: "-") + "_" }
            }
        ),
        ("an empty assertion", "genuine-app-refused", { $0.changing("App-Attest-Assertion") { _ in "" } }),
        (
            "another key", "app-attest-key-unknown",
            { call in
                call.changing("App-Attest-Key-Id") { _ in String(repeating: "A", count: 43) + "=" }
            }
        ),
        (
            "a made-up challenge", "app-attest-challenge",
            { call in
                call.changing("App-Attest-Challenge") { String($0.dropLast()) + ($0.hasSuffix("A") ? "E" : "A") }
            }
        ),
    ]

    @Test(arguments: changes.indices)
    func `refuses an assertion of another request`(index: Int) async throws {
        let row = Self.changes[index]
        try await withGenuineApp { service, device async throws in
            var device = device
            #expect(try await service.register(device).status == 200)
            let (call, challenge) = (service.call(as: "app", genuineBody()), try await service.challenge())
            let good = try device.signed(call, challenge)
            var other = call.at("/v1/eligibility")
            let elsewhere = try device.assertion(for: other, challenge, counter: 1).at(call.path)
            (other.path, other.method) = (call.path, "PUT")
            var otherwise = try device.assertion(for: other, challenge, counter: 1)
            otherwise.method = "POST"
            for wrong in [elsewhere, otherwise] {
                #expect(try await service.send(wrong).problem == "genuine-app-refused")
            }
            let reply = try await service.send(row.change(good))
            #expect(reply.status == 403 && reply.problem == row.problem, "\(row.name) \(reply)")
            #expect(try await service.send(good).isPastProof, "what was refused has not used it up")
        }
    }

    @Test func `an assertion is good as long as its challenge`() async throws {
        try await withGenuineApp { service, device async throws in
            var device = device
            #expect(try await service.register(device).status == 200)
            let challenge = try await service.challenge()
            let call = try device.signed(service.call(as: "app", genuineBody()), challenge)
            service.clock.advance(seconds: 300)
            #expect(try await service.send(call).problem == "app-attest-challenge")
            service.clock.advance(seconds: -1)
            #expect(try await service.send(call).isPastProof)
        }
    }

    @Test func `an assertion counts once, and none before it counts after it, over restarts too`() async throws {
        let device = try TestDevice(at: SettableClock().now)
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let place = try RunningPlace(try genuineFiles(device, in: directory))
        let asked = try place.app(genuineBody())
        let challenges = try place.app(#"{"bundleId": "com.example.app"}"#).at("/v1/app-attest/challenges")
        var challenge = ""
        func send(_ counter: UInt32, to service: Service) async throws -> Bool {
            let call = try device.assertion(for: asked, challenge, counter: counter)
            let reply = try await place.send(call, to: service)
            #expect(reply.isPastProof || reply.problem == "genuine-app-refused", "\(reply)")
            return reply.isPastProof
        }
        try await place.run { service async throws in
            challenge = try #require(try await place.send(challenges, to: service).json["challenge"].text)
            let registration = try place.app(device.registration(challenge)).at("/v1/app-attest/keys")
            #expect(try await place.send(registration, to: service).status == 200)
            #expect(try await send(0, to: service) == false)
            #expect(try await send(5, to: service))
            #expect(try await send(5, to: service) == false)
            #expect(try await send(4, to: service) == false)
            #expect(try await send(1 << 31, to: service))
        }
        try await place.run { service async throws in
            #expect(try await send(1 << 31, to: service) == false, "after a restart")
            #expect(try await send(6, to: service) == false)
            #expect(try await send(.max, to: service))
        }
    }

    @Test(arguments: Wire.allCases)
    func `of assertions that come at the same time with one counter, one is taken`(wire: Wire) async throws {
        try await withGenuineApp(wire) { service, device async throws in
            #expect(try await service.register(device).status == 200)
            let challenge = try await service.challenge()
            let calls = try ["open", "once", "lapsed", "spaced"].map { offer in
                try device.assertion(for: service.call(as: "app", genuineBody(offer)), challenge, counter: 1)
            }
            let replies = try await service.send(calls + calls)
            #expect(replies.count(where: \.isPastProof) == 1, "\(replies)")
            #expect(replies.count { $0.problem == "genuine-app-refused" } == 7)
        }
    }

    @Test func `a proof is of one app`() async throws {
        let settings = #"appAttest: {teamId: "ABCDE12345", policy: "require"},"#
        let device = try TestDevice(at: SettableClock().now)
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        var files = try genuineFiles(device, in: directory)
        files.offers = files.offers.replacing(
            #"bundleId: "com.example.other","#,
            with: #"bundleId: "com.example.other", \#(settings)"#
        )
        try await withService(.inProcess, files) { service async throws in
            var device = device
            #expect(try await service.register(device).status == 200)
            let other = service.call(as: "app", genuineBody(bundleID: "com.example.other"))
            let own = try await service.challenge()
            #expect(try await service.send(device.signed(other, own)).problem == "app-attest-challenge")
            let others = try await service.challenge(for: "com.example.other")
            #expect(try await service.send(device.signed(other, others)).problem == "genuine-app-refused")
            // In a batch it counts for the requests about its own app alone.
            let items = [genuineBody(), genuineBody(bundleID: "com.example.other")].joined(separator: ", ")
            let batch = service.call(as: "app", #"{"requests": [\#(items)]}"#)
                .at("/v1/app-store/promotional-offers/signatures/batch")
            let reply = try await service.send(device.signed(batch, own))
            let problems = reply.json["results"].elements.map(\.["problem"]["type"].text)
            #expect(problems == ["/problems/eligibility-undecided", "/problems/genuine-app-required"], "\(reply)")
        }
    }

    @Test func `a key that the settings no longer allow proves nothing`() async throws {
        var device = try TestDevice(at: SettableClock().now)
        device.draft.identifier = Array("appattestdevelop".utf8)
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let both = #"["production", "development"]"#
        let place = try RunningPlace(try genuineFiles(device, in: directory, "require", both))
        let (asked, challenges) = try (place.app(genuineBody()), place.app(#"{"bundleId": "com.example.app"}"#))
        var challenge = ""
        try await place.run { service async throws in
            let answer = try await place.send(challenges.at("/v1/app-attest/challenges"), to: service)
            challenge = try #require(answer.json["challenge"].text)
            let registration = try place.app(device.registration(challenge)).at("/v1/app-attest/keys")
            #expect(try await place.send(registration, to: service).json["environment"] == .text("development"))
            #expect(try await place.send(device.signed(asked, challenge), to: service).isPastProof)
        }
        try place.rewrite("offers") { $0.replacing(both, with: #"["production"]"#) }
        try await place.run { service async throws in
            let reply = try await place.send(device.signed(asked, challenge), to: service)
            #expect(reply.problem == "genuine-app-refused", "\(reply)")
        }
    }

    @Test func `a key is held to a rate of its own`() async throws {
        let device = try TestDevice(at: SettableClock().now)
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        var files = try genuineFiles(device, in: directory)
        files.settings[.appRatePerCustomer] = "1/min:2"
        try await withService(.inProcess, files) { service async throws in
            var device = device
            #expect(try await service.register(device).status == 200)
            let (call, challenge) = (service.call(as: "app", genuineBody()), try await service.challenge())
            var problems: [String?] = []
            for _ in 0..<3 { problems.append(try await service.send(device.signed(call, challenge)).problem) }
            #expect(problems == ["eligibility-undecided", "eligibility-undecided", "rate-limited"])
        }
    }
}

extension RunningPlace {
    /// A request of role `app` for a signature, with that body.
    func app(_ body: String) throws -> Call {
        let credential = try #require(credentials["app"])
        return Call(body: Array(body.utf8)).with("Content-Type", "application/json")
            .with("Authorization", "Bearer \(credential)")
    }
}
