// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import Ledger
import OfferDomain
import Stores

/// A token of Play Integrity as it was sent, for a request about an app at Google Play.
struct PlayIntegrityToken: Sendable {
    let packageName: PackageName
    /// What Google decodes.
    let text: [UInt8]
    /// What the app gave Google as `requestHash`: 43 characters of base64url.
    let requestHash: [UInt8]

    static let fields: [StaticString] = ["Play-Integrity-Token", "Play-Integrity-Nonce"]
    /// The head of a request may have 8 KiB in all.
    private static let mostBytes = 6144

    /// For how long after it was asked for a token counts, and how far the clocks of instances and Google may differ.
    static let lifetimeMilliseconds: Int64 = 300_000
    private static let clockSkewMilliseconds: Int64 = 60_000

    /// `counts` are how often each of the fields is there.
    init(_ request: Request, fieldCounts counts: [Int], about packageName: PackageName) throws(PlayIntegrityFault) {
        let values = Self.fields.compactMap(request.headers.only)
        guard counts == [1, 1], values.count == 2, (1...Self.mostBytes).contains(values[0].count),
            values[0].allSatisfy(Self.isTokenByte), (16...64).contains(values[1].count),
            values[1].allSatisfy(Self.isNonceByte)
        else { throw .headers }
        self.packageName = packageName
        text = Array(values[0])
        let digest = request.proofDigest(with: values[1])
        requestHash = Base64.encodeURL(digest.bytes)
    }

    /// What a request counts once by: the app and the hash, which Google vouches for, and not the token, which can be
    /// written in more than one way.
    var key: SHA256Digest { SHA256.digest(of: Array(packageName.text.utf8) + [0x0A] + requestHash) }

    /// What the token proves, by what Google says of it.
    func proof(
        _ payload: IntegrityPayload,
        of app: AppName,
        under settings: PlayIntegritySettings,
        at now: Timestamp
    ) throws(PlayIntegrityFault) -> GenuineApp {
        guard payload.requestPackageName == packageName.text else { throw .otherApp }
        guard payload.requestHash == requestHash else { throw .otherRequest }
        let age = now.milliseconds - payload.requestedAt.milliseconds
        guard (-Self.clockSkewMilliseconds...Self.lifetimeMilliseconds).contains(age) else { throw .time }
        let origin = try origin(payload, settings)
        guard let device = payload.device, device >= settings.device else { throw .device(payload.device) }
        guard payload.isLicensed == true || !settings.demandsLicense else { throw .unlicensed }
        return GenuineApp(
            app: app,
            evidence: .playIntegrity(device, isLicensed: payload.isLicensed),
            origin: origin
        )
    }

    /// Where the app is from, if its build is known to Google Play or to the settings.
    private func origin(
        _ payload: IntegrityPayload,
        _ settings: PlayIntegritySettings
    ) throws(PlayIntegrityFault) -> AppOrigin {
        guard let recognition = payload.recognition else { throw .unrecognized }
        guard recognition != .unevaluated else { throw .unevaluated }
        // The name above is of the request, and this one of what is installed.
        guard payload.packageName == packageName.text else { throw .otherApp }
        if recognition == .playRecognized { return .playStore }
        guard payload.certificates.contains(where: settings.otherCertificates.contains) else { throw .unrecognized }
        return .other
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        isNonceByte(byte) || "._~+/=:".utf8.contains(byte)
    }

    /// Of base64url.
    private static func isNonceByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension Request {
    /// What the app has its store vouch for: the digest of method, path, that text and the body's digest, between line feeds.
    func proofDigest(with text: some Collection<UInt8>) -> SHA256Digest {
        let line: [UInt8] = [0x0A]
        let head = Array(method.name.utf8) + line + path + line + Array(text) + line
        return SHA256.digest(of: head + SHA256.digest(of: body).bytes)
    }
}
