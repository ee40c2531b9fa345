// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferService

/// The value after an option, for help and completion.
enum OptionValue: Hashable {
    case file(String)
    case words([String])
    case other(String)
    /// One of many words, which help does not list.
    case named(String, [String])
    /// Nothing: the option is a flag.
    case none

    /// As help writes it; empty of a flag.
    var placeholder: String {
        switch self {
        case .file(let name), .other(let name), .named(let name, _): name
        case .words(let words): words.joined(separator: "|")
        case .none: ""
        }
    }

    /// Of every option of every command; whatever is not listed takes some text.
    static func of(_ option: String) -> OptionValue {
        if let known = listed[option] { return known }
        return Setting.allCases.first { $0.flag == option }.map { of($0) } ?? .other("TEXT")
    }

    static func of(_ setting: Setting) -> OptionValue {
        switch setting {
        case .listen, .adminListen: .other("ADDRESS:PORT")
        case .keys, .offers, .checkpointFile, .logPolicy, .events, .tlsCertificate, .tlsKey, .appStoreRoots,
            .trustedCertificates,
            .sealFile:
            .file("FILE")
        case .appStoreURL, .appStoreSandboxURL, .appStoreConnectURL, .googlePlayURL, .googleOAuthURL, .googleCertsURL,
            .playIntegrityURL:
            .other("URL")
        case .database: .other("DATABASE")
        case .googlePushAudience: .other("AUDIENCE")
        case .googlePushEmail: .other("EMAIL")
        case .revocationCheck, .log, .logFormat, .selfVerification, .clockCheck, .clientCertificateHeader:
            .words(setting.expected.split(separator: ", ").map(String.init))
        case .appFindings, .publicLog, .groupReadableSecrets, .unlockedMemory: .words(["yes", "no"])
        case .clockStepSeconds: .other("SECONDS")
        case .loops, .connections, .connectionsPerAddress: .other("NUMBER")
        case .appRate, .appRatePerAddress, .appRatePerCustomer: .other("RATE")
        case .trustedProxy, .clientCertificateProxy: .other("NETWORKS")
        }
    }

    private static let listed: [String: OptionValue] = [
        "--file": .file("FILE"), "--certificate": .file("FILE"), "--with": .file("FILE"), "--answer": .file("FILE"),
        "--pin": .other("SHA256"),
        "--p8": .file("FILE"), "--connect-key": .file("FILE"), "--public-key": .file("FILE"),
        "--checkpoint": .file("FILE"), "--tiles": .file("DIR"),
        "--directory": .file("DIR"), "--issuer": .other("UUID"), "--nonce": .other("UUID"),
        "--app-account-token": .other("UUID"), "--grant": .other("UUID"), "--request": .other("UUID"),
        "--bundle": .other("ID"), "--bundle-id": .other("ID"), "--product-id": .other("ID"), "--offer-id": .other("ID"),
        "--product": .other("ID"), "--group": .other("ID"), "--offer": .other("ID"), "--key-id": .other("ID"),
        "--key": .other("ID"), "--app-id": .other("NUMBER"), "--index": .other("NUMBER"),
        "--from-index": .other("NUMBER"), "--limit": .other("NUMBER"), "--expires-days": .other("NUMBER"),
        "--timestamp": .other("MILLISECONDS"), "--signature": .other("BASE64"), "--jws": .other("JWS"),
        "--from": .other("TIME"), "--until": .other("TIME"), "--since": .other("TIME"), "--rate": .other("RATE"),
        "--role": .words(["app", "backend", "auditor", "admin"]), "--order": .words(["oldest", "newest"]),
        "--environment": .words(["production", "sandbox"]), "--only-failures": .words(["yes", "no"]),
        "--outcome": .words(["eligible", "notEligible", "undecided"]), "--format": .words(["ndjson", "csv", "table"]),
        "--endpoint": .other("ID"), "--enable": .other("ID"),
        "--event": .named("EVENT", AuditEventName.allCases.map(\.rawValue)),
        "--exclude": .named("EVENT,…", AuditEventName.allCases.map(\.rawValue)), "--reason": .other("CODE"),
        "--caller": .other("NAME"), "--transaction": .other("ID"), "--minutes": .other("NUMBER"),
        "--every": .other("SECONDS"),
        "--origin": .other("NAME"), "--live": .none, "--create": .none, "--ready": .none, "--dry-run": .none,
        "--recompute": .none,
        "--compare": .none, "--rebuild": .none, "--strict": .none, "--help": .none,
    ]
}
