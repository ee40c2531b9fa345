// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain
import OfferService
import TestSupport
import Testing

/// What Google says of a token, which a test may change.
struct PlayVerdict: Sendable {
    var requestPackage: FakeValue = .text(FakeGooglePlay.firstApp)
    var requestHash: FakeValue
    var requestedAt: FakeValue
    var recognition: FakeValue = "PLAY_RECOGNIZED"
    var package: FakeValue = .text(FakeGooglePlay.firstApp)
    var certificates: FakeValue = [.text(Self.certificate)]
    var device: FakeValue = ["MEETS_BASIC_INTEGRITY", "MEETS_DEVICE_INTEGRITY"]
    var license: FakeValue = "LICENSED"

    /// Of the bytes 0 to 31, as Google has it and as the Play Console shows it.
    static let certificate = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
    static let fingerprint = (0..<32).map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
        .joined(separator: ":")

    var members: FakeMembers {
        [
            "requestDetails": [
                "requestPackageName": requestPackage, "requestHash": requestHash, "timestampMillis": requestedAt,
            ],
            "appIntegrity": [
                "appRecognitionVerdict": recognition, "packageName": package, "certificateSha256Digest": certificates,
                "versionCode": "42",
            ],
            "deviceIntegrity": ["deviceRecognitionVerdict": device],
            "accountDetails": ["appLicensingVerdict": license],
            "environmentDetails": ["appAccessRiskVerdict": ["appsDetected": ["KNOWN_INSTALLED"]]],
        ]
    }
}

extension FakePlayWorld {
    /// What the app at Google Play sends: the call with a new token for it, about which the fake says so.
    func proven(
        _ call: Call,
        nonce: String = nonce(),
        token: String? = nil,
        goodFor: Int? = nil,
        changing change: (inout PlayVerdict) -> Void = { _ in }
    ) throws -> Call {
        let head = Array("\(call.method)\n\(call.path)\n\(nonce)\n".utf8)
        let digest = SHA256.digest(of: head + SHA256.digest(of: call.body).bytes)
        var verdict = PlayVerdict(
            requestHash: .text(String(decoding: Base64.encodeURL(digest.bytes), as: UTF8.self)),
            requestedAt: .text("\(service.clock.now.milliseconds)")
        )
        change(&verdict)
        let token = token ?? "token.of-\(Self.nonce())"
        try play.setIntegrityToken(token, payload: verdict.members, goodFor: goodFor)
        return call.with("Play-Integrity-Token", token).with("Play-Integrity-Nonce", nonce)
    }

    static func nonce() -> String { String((0..<22).compactMap { _ in "abcdefghijklmnop_-23456789".randomElement() }) }

    /// A request of the app for an authorization.
    func appCall(_ offer: String = "winback-50", of device: String = "phone") -> Call {
        authorizationCall(as: "app", #""anonymousId": "\#(device)""#, offer: offer)
    }

    /// How often a token was checked with that result.
    func checks(_ result: String) -> Int {
        service.metrics[.genuineAppChecks(method: "play-integrity", check: "token", result: result)]
    }
}

/// Runs a service with an app that proves itself by Play Integrity; `integrity` are more members of its settings.
func withPlayIntegrity(
    _ wire: Wire = .loopback,
    policy: String = "require",
    _ integrity: String = "requestsPerDay: 100000000",
    settings: [Setting: String] = [.appRatePerAddress: "none"],
    moreOffers: [(id: String, rule: String)] = [],
    _ body: (FakePlayWorld) async throws -> Void
) async throws {
    let rest = "admitsUnprovenCustomers: true"
    let offers = """
        {
          apps: [{
            packageName: "\(FakeGooglePlay.firstApp)",
            playIntegrity: {policy: "\(policy)", \(integrity)},
            plans: [{
              googlePlay: {productId: "premium", basePlanId: "monthly"},
              offers: [
                {id: "back", \(rest), googlePlay: {offerId: "winback-50", admitsNewCustomers: true}},
                {id: "must", \(rest), googlePlay: {offerId: "must", admitsNewCustomers: true, genuineApp: "require"}},
                {id: "free", \(rest), googlePlay: {offerId: "free", admitsNewCustomers: true, genuineApp: "off"}},
                {id: "from_play", \(rest), googlePlay: {offerId: "from-play", admitsNewCustomers: true,
                 genuineApp: "prefer"}, eligibility: {appOrigin: {in: ["playStore"]}}},
                \(moreOffers.map { offer in
                    """
                    {id: "\(offer.id)", \(rest), googlePlay: {offerId: "\(offer.id)", admitsNewCustomers: true},
                     eligibility: \(offer.rule)},
                    """
                }.joined())
              ],
            }],
          }],
        }
        """
    try await withFakePlay(wire, offers: offers, settings: settings) { world in
        for offer in ["must", "free", "from-play"] + moreOffers.map(\.id) {
            try world.play.setOffer(.init(offer, of: "premium"))
        }
        try await body(world)
    }
}
