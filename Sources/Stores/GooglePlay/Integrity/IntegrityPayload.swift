// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
import Ledger
package import OfferDomain
import ServiceRuntime

/// Google's verdicts about a token, the device and the app that requested it; an unknown verdict is `nil`.
///
/// Source: Google, [Integrity verdicts](https://developer.android.com/google/play/integrity/verdicts).
package struct IntegrityPayload: Hashable, Sendable {
    /// Whether Google Play knows the app's build.
    package enum Recognition: String, Sendable {
        /// Package name and certificate are those of a version that Google Play distributes.
        case playRecognized = "PLAY_RECOGNIZED"
        case unrecognizedVersion = "UNRECOGNIZED_VERSION"
        /// The device was not looked at, or the token was decoded before.
        case unevaluated = "UNEVALUATED"
    }

    /// The app that the token was requested for; empty if Google does not name it.
    package var requestPackageName = ""
    /// As the app gave it; empty if it gave none.
    package var requestHash: [UInt8] = []
    package var requestedAt = Timestamp(milliseconds: 0)
    package var recognition: Recognition?
    /// The app that is installed; empty where nothing was evaluated.
    package var packageName = ""
    /// SHA-256 of the certificates of the app that is installed, in base64url without padding.
    package var certificates: [String] = []
    /// The highest that is met.
    package var device: DeviceIntegrity?
    /// Whether the user got the app from Google Play.
    package var isLicensed: Bool?

    package init() {}
}

/// What Google came to about a token.
package enum IntegrityLookup: Hashable, Sendable {
    case decoded(IntegrityPayload)
    /// It is no token, or a token of another app.
    case refused
}

extension DeviceIntegrity {
    fileprivate var label: String {
        switch self {
        case .basic: "MEETS_BASIC_INTEGRITY"
        case .device: "MEETS_DEVICE_INTEGRITY"
        case .strong: "MEETS_STRONG_INTEGRITY"
        }
    }
}

extension IntegrityPayload {
    /// Reads `tokenPayloadExternal` of an answer; `nil` if a member that is read has another type than documented.
    init?(_ root: JSONValue) {
        guard let payload = root.object?["tokenPayloadExternal"]?.object,
            let request = payload["requestDetails"]?.object,
            let instant = request["timestampMillis"].flatMap(Self.milliseconds),
            let requestPackageName = Self.text(request["requestPackageName"]),
            let requestHash = Self.text(request["requestHash"])
        else { return nil }
        self.requestPackageName = requestPackageName
        self.requestHash = Array(requestHash.utf8)
        requestedAt = Timestamp(milliseconds: instant)
        let parts = ["appIntegrity", "deviceIntegrity", "accountDetails"]
        guard parts.allSatisfy({ payload[$0].map { $0.object != nil } ?? true }) else { return nil }
        guard read(app: payload["appIntegrity"]?.object) else { return nil }
        guard let device = Self.texts(payload["deviceIntegrity"]?.object?["deviceRecognitionVerdict"]),
            let license = Self.text(payload["accountDetails"]?.object?["appLicensingVerdict"])
        else { return nil }
        self.device = DeviceIntegrity.allCases.filter { device.contains($0.label) }.max()
        isLicensed = ["LICENSED": true, "UNLICENSED": false][license]
    }

    private mutating func read(app: JSONObject?) -> Bool {
        guard let verdict = Self.text(app?["appRecognitionVerdict"]), let name = Self.text(app?["packageName"]),
            let certificates = Self.texts(app?["certificateSha256Digest"])
        else { return false }
        (recognition, packageName, self.certificates) = (Recognition(rawValue: verdict), name, certificates)
        return true
    }

    /// Of a member that may be left out, as an empty one is.
    private static func text(_ value: JSONValue?) -> String? {
        guard let value, !value.isNull else { return "" }
        return value.string
    }

    private static func texts(_ value: JSONValue?) -> [String]? {
        guard let value, !value.isNull else { return [] }
        guard let array = value.array else { return nil }
        let texts = array.map(\.string)
        return texts.contains(nil) ? nil : texts.compactMap { $0 }
    }

    /// Google writes 64-bit numbers as text.
    private static func milliseconds(_ value: JSONValue) -> Int64? {
        let number = value.integer ?? value.string.flatMap { Int64($0) }
        return number.flatMap { (0...Int64(1) << 48).contains($0) ? $0 : nil }
    }
}

extension GooglePlayReading {
    /// What `decodeIntegrityToken` answers.
    func integrity(_ response: ClientResponse) -> StoreReading<IntegrityLookup> {
        switch response.status {
        case 200: break
        case 400:
            guard let error = GoogleErrorBody(response.body, status: 400) else { return failure(response) }
            // Reason and status are those of a wrong token; only the message differs.
            guard !error.message.hasPrefix("App is not found") else {
                return .failure(.appUnknown(code: 400), server: .succeeded)
            }
            return .answer(.refused, outcome: "token-refused")
        case 404 where GoogleErrorBody(response.body, status: 404) != nil:
            return .failure(.appUnknown(code: 404), server: .succeeded)
        default: return failure(response)
        }
        do throws(JSONError) {
            let document = try JSONDocument(response.body, limits: PlayIntegrityAPI.limits)
            guard let payload = IntegrityPayload(document.root) else {
                return .failure(.badAnswer(reason: "tokenPayloadExternal is not as documented"), server: .failed)
            }
            return .answer(.decoded(payload))
        } catch {
            return .failure(.badAnswer(reason: error.kind.sentence), server: .failed)
        }
    }
}
