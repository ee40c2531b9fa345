// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

/// How an app registers its key; what an attestation has to be is tested where it is verified.
@Suite(.overBothEngines) struct AppAttestRegistrationTests {
    @Test(arguments: Wire.allCases) func `registers the key of a genuine app`(wire: Wire) async throws {
        try await withGenuineApp(wire) { service, device async throws in
            let reply = try await service.register(device)
            #expect(reply.status == 200, "\(reply)")
            #expect(reply.json["keyId"].text == device.keyID)
            #expect(reply.json["environment"] == .text("production"))
        }
    }

    @Test func `a repeated registration changes nothing and does not reset the counter`() async throws {
        try await withGenuineApp { service, device async throws in
            var device = device
            let body = try device.registration(try await service.challenge())
            let call = service.call(as: "app", body).at("/v1/app-attest/keys")
            for _ in 0..<2 { #expect(try await service.send(call).status == 200) }
            let challenge = try await service.challenge()
            let asked = service.call(as: "app", genuineBody())
            #expect(try await service.send(device.signed(asked, challenge, counter: 9)).isPastProof)
            #expect(try await service.send(call).status == 200)
            #expect(try await service.register(device).status == 200, "with another challenge")
            let late = try device.assertion(for: asked, challenge, counter: 9)
            #expect(try await service.send(late).problem == "genuine-app-refused")
        }
    }

    @Test func `a challenge registers one key`() async throws {
        try await withGenuineApp { service, device async throws in
            let other = try TestDevice(of: device, at: service.clock.now)
            let challenge = try await service.challenge()
            var answers: [String?] = []
            for device in [device, other] {
                let body = try device.registration(challenge)
                let reply = try await service.send(service.call(as: "app", body).at("/v1/app-attest/keys"))
                answers.append(reply.status == 200 ? nil : reply.problem)
            }
            #expect(answers == [nil, "app-attest-challenge"])
        }
    }

    @Test func `a challenge is good for five minutes, and for one app`() async throws {
        try await withGenuineApp { service, device async throws in
            let body = try device.registration(try await service.challenge())
            let call = service.call(as: "app", body).at("/v1/app-attest/keys")
            service.clock.advance(seconds: 300)
            #expect(try await service.send(call).problem == "app-attest-challenge")
            service.clock.advance(seconds: -1)
            #expect(try await service.send(call).status == 200)
            for challenge in ["", "AAAA", String(repeating: "A", count: 51)] {
                let body = try TestDevice(of: device, at: service.clock.now).registration(challenge)
                let reply = try await service.send(service.call(as: "app", body).at("/v1/app-attest/keys"))
                #expect(reply.problem == "app-attest-challenge", "\(challenge) \(reply)")
            }
        }
    }

    /// What is wrong with a device, and whether a key of it is refused; the reason is in the metrics.
    static let devices: [(name: String, reason: String, change: @Sendable (inout TestDevice) throws -> Void)] = [
        ("re-signed by another team", "other-app", { $0.draft.appID = "ZZZZZ99999.com.example.app" }),
        ("another app of the team", "other-app", { $0.draft.appID = "ABCDE12345.com.example.other" }),
        (
            "of another root", "certificate-wrong-signature",
            { device in
                device = try TestDevice(at: SettableClock().now)
            }
        ),
        (
            "of the development service", "other-environment",
            { device in
                device.draft.identifier = Array("appattestdevelop".utf8)
            }
        ),
        ("expired", "certificate-expired", { $0.draft.leaf.notAfter = 1_782_907_200 }),
    ]

    @Test(arguments: devices.indices) func `refuses a key that is no genuine app's`(index: Int) async throws {
        let row = Self.devices[index]
        try await withGenuineApp { service, device async throws in
            var device = device
            try row.change(&device)
            let reply = try await service.register(device)
            #expect(reply.status == 403 && reply.problem == "genuine-app-refused", "\(row.name) \(reply)")
            #expect(!reply.body.contains(row.reason), "callers see no reason")
            let page = try MetricsPage(try await service.send(.get("/metrics")))
            let labels = #"method="app-attest",check="attestation",result="\#(row.reason)""#
            let count = page.samples["offer_signer_genuine_app_checks_total{\(labels)}"]
            #expect(count == 1, "\(row.name)")
        }
    }

    @Test func `is for callers who may ask for the app, and for apps that are set up`() async throws {
        try await withGenuineApp { service, _ async throws in
            for path in ["/v1/app-attest/challenges", "/v1/app-attest/keys"] {
                let body = #"{"bundleId": "com.example.other", "keyId": "", "challenge": "", "attestation": ""}"#
                #expect(
                    try await service.send(service.call(as: "auditor", body).at(path)).problem == "role-not-allowed"
                )
                #expect(try await service.send(service.call(as: "nobody", body).at(path)).problem == "unauthenticated")
                #expect(try await service.send(service.call(as: "app", "{}").at(path)).problem == "invalid-request")
            }
            let challenge = service.call(as: "app", #"{"bundleId": "com.example.other"}"#)
                .at("/v1/app-attest/challenges")
            #expect(try await service.send(challenge).problem == "not-configured")
            let scoped = service.call(as: "scoped", #"{"bundleId": "com.example.other"}"#)
                .at("/v1/app-attest/challenges")
            #expect(try await service.send(scoped).problem == "bundle-not-allowed")
        }
    }
}

/// A request for an offer, without facts, which an app may not state.
func genuineBody(_ offer: String = "open", bundleID: String = "com.example.app") -> String {
    #"{"bundleId": "\#(bundleID)", "productId": "pro.monthly", "offerId": "\#(offer)"}"#
}

extension Reply {
    /// Whether the app got so far that its customer was decided about.
    var isPastProof: Bool { status == 200 || problem == "eligibility-undecided" }
}
