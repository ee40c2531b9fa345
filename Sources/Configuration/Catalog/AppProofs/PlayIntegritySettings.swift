// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
package import OfferDomain

/// What Google must say of an app for its proof to be taken.
package struct PlayIntegritySettings: Hashable, Sendable {
    /// What holds for offers that say nothing of their own.
    package let policy: GenuineAppPolicy
    /// The least that the device must meet.
    package let device: DeviceIntegrity
    /// Whether the user must have got the app from Google Play.
    package let demandsLicense: Bool
    /// SHA-256 of certificates of builds that Google Play does not know, in base64url without padding.
    package let otherCertificates: Set<String>
    /// How many questions Google answers.
    package let requestsPerDay: Int

    /// What Google allows an app unless it grants more, for all its devices together.
    ///
    /// Source: Google, [Usage tiers](https://developer.android.com/google/play/integrity/setup).
    package static let usualRequestsPerDay = 10_000

    package init(
        policy: GenuineAppPolicy,
        device: DeviceIntegrity = .device,
        demandsLicense: Bool = false,
        otherCertificates: Set<String> = [],
        requestsPerDay: Int = usualRequestsPerDay
    ) {
        self.policy = policy
        self.device = device
        self.demandsLicense = demandsLicense
        self.otherCertificates = otherCertificates
        self.requestsPerDay = requestsPerDay
    }
}

extension PlayIntegritySettings {
    /// Reads `playIntegrity` of an app in the offers file; `nil` if it is absent or invalid.
    static func read(
        _ app: inout ObjectReader,
        isAtGooglePlay: Bool,
        _ mismatches: Mismatches
    ) -> PlayIntegritySettings? {
        guard let value = app.member("playIntegrity") else { return nil }
        if !isAtGooglePlay { app.note("playIntegrity", "needs the app's packageName") }
        var reader = ObjectReader(value, into: mismatches)
        let policy = reader.required("policy", GenuineAppPolicy.expected) { $0.string.flatMap(GenuineAppPolicy.init) }
        let levels = "one of " + DeviceIntegrity.allCases.map(\.rawValue).joined(separator: ", ")
        let device = reader.optional("deviceIntegrity", levels) { $0.string.flatMap(DeviceIntegrity.init) }
        let demandsLicense = reader.optional("licensed", "true or false", as: \.bool)
        let certificates = readCertificates(&reader, mismatches)
        let requestsPerDay = reader.optional("requestsPerDay", "a whole number from 100 to 100000000") { value in
            value.integer.flatMap { (100...100_000_000).contains($0) ? Int($0) : nil }
        }
        reader.finish()
        guard let policy else { return nil }
        return PlayIntegritySettings(
            policy: policy,
            device: device ?? .device,
            demandsLicense: demandsLicense ?? false,
            otherCertificates: certificates,
            requestsPerDay: requestsPerDay ?? usualRequestsPerDay
        )
    }

    /// As the Play Console and `keytool` show them, and kept as Google's answers have them.
    private static func readCertificates(_ reader: inout ObjectReader, _ mismatches: Mismatches) -> Set<String> {
        guard reader.member("otherCertificates") != nil else { return [] }
        let listed: [String] = reader.elements("otherCertificates", atMost: 16) { element in
            guard let digest = element.string.flatMap(digest) else {
                return mismatches.none(
                    element,
                    "expected a certificate's SHA-256 as AB:CD:…, 32 bytes, found \(element.summary)"
                )
            }
            return String(decoding: Base64.encodeURL(digest), as: UTF8.self)
        }
        return Set(listed)
    }

    private static func digest(_ text: String) -> [UInt8]? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { part in
            part.utf8.count == 2 && !part.hasPrefix("+") && !part.hasPrefix("-") ? UInt8(part, radix: 16) : nil
        }
        return parts.count == 32 && bytes.count == 32 ? bytes : nil
    }
}
