// SPDX-License-Identifier: Apache-2.0
package import Cryptography
package import HTTP
import JSON
package import ServiceRuntime
package import Storage

/// Where to listen.
package struct ListenAddress: Hashable, Sendable {
    /// An IPv4 or IPv6 address, without brackets.
    package let host: String
    /// 0 lets the system choose.
    package let port: UInt16

    /// Reads an address and a port, as `127.0.0.1:8080`, `[::1]:8080` or `localhost:8080`; port 0 lets the system choose.
    ///
    /// `localhost` is 127.0.0.1. Without an address, as in `:8080`, it is every IPv4 address of the machine.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"),
            let port = whole(String(text[text.index(after: colon)...]), in: 0...65_535)
        else { return nil }
        var host = String(text[..<colon])
        if host.hasPrefix("[") && host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            return nil
        } else {
            host = Self.names[host.lowercased()] ?? host
        }
        guard PeerAddress(host, port: UInt16(port)) != nil else { return nil }
        self.host = host
        self.port = UInt16(port)
    }

    private static let names = ["localhost": "127.0.0.1", "": "0.0.0.0"]

    /// As the setting is written.
    package var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// All settings, in their types.
package struct Settings: Sendable {
    /// Where the API is served.
    package let listen: ListenAddress
    /// Where health, metrics and administration have a listener of their own; `nil`: nowhere.
    package let adminListen: ListenAddress?
    /// The path of the keys file.
    package let keysPath: String
    /// The path of the offers file.
    package let offersPath: String
    /// The database of the ledger and the audit log.
    package let database: DatabaseLocation
    /// Where the log's newest checkpoint is kept outside of the database.
    package let checkpointPath: String
    /// Which witnesses sign the log; `nil` has none.
    package let logPolicyPath: String?
    /// The file that names the receivers of events; `nil` has none.
    package let eventsPath: String?
    /// `nil` serves HTTP without TLS.
    package let tls: TLSConfiguration?
    /// PEM with roots that are trusted beside Apple's own.
    package let appStoreRootsPath: String?
    /// Where the App Store Server API is; Apple's own except in tests.
    package let appStoreOrigins: AppStoreOrigins
    /// Where the App Store Connect API is.
    package let appStoreConnectOrigin: Origin
    /// Where Google's APIs are; Google's own except in tests.
    package let googleOrigins: GoogleOrigins
    /// The sender whose Google Play notifications are accepted; `nil` accepts none.
    package let googlePush: GooglePushIdentity?
    /// PEM: the only authorities that the stores' servers may have; `nil` trusts the system's.
    package let trustedCertificatesPath: String?
    /// What is done about certificates of the App Store that may be revoked.
    package let revocationCheck: RevocationCheck
    /// The least level of a line that is logged.
    package let logLevel: LogLevel
    /// `nil`: text on a terminal, JSON otherwise.
    package let logFormat: LogFormat?
    /// Which signatures are verified before they leave.
    package let selfVerification: SelfVerificationMode
    /// Whether answers to callers of role `app` have the findings of the rules.
    package let showsFindingsToApps: Bool
    /// Whether tiles and checkpoint are public.
    package let isLogPublic: Bool
    /// What seals the service without an administrator's call.
    package let sealWatch: SealSettings
    /// `nil`: one for each core.
    package let loops: Int?
    /// The most connections at once.
    package let connections: Int
    /// The most connections at once from one address.
    package let connectionsPerAddress: Int
    /// How often callers of role `app` may ask.
    package let admission: AdmissionLimits
    /// The proxies that may say where a request comes from.
    package let trustedProxies: TrustedProxies
    /// How client certificates reach the service.
    package let clientCertificates: ClientCertificates
    /// Whether secret files may be readable by their group (mode 0440).
    package let admitsGroupReadableSecrets: Bool
    /// Whether the service runs when the memory for keys can't be locked.
    package let admitsUnlockedMemory: Bool
    /// What ``digest`` is over; digested only when it is asked for, since memory for secrets has to be there first.
    private let lines: [UInt8]

    /// The digest of all settings, whether they were given or are defaults.
    ///
    /// SHA-256 of a line for each setting, in the order of their names: `name=value`, or only `name` if it is off. It
    /// covers no secret: secrets are in files that settings name by path, and a database's password is left out.
    package var digest: SHA256Digest { SHA256.digest(of: lines) }

    /// Reads all settings, from the command line before the environment.
    ///
    /// Variables that begin with `OFFER_SIGNER_` must be known. Everything that is wrong is thrown at once.
    package init(flags: [Setting: String], environment: [String: String]) throws(ConfigurationError) {
        var reader = SettingsReader(flags: flags, environment: environment)
        let listen = reader.value(.listen, ListenAddress.init)
        adminListen = reader.value(.adminListen, ListenAddress.init)
        keysPath = reader.path(.keys) ?? ""
        offersPath = reader.path(.offers) ?? ""
        let database = reader.database()
        let checkpoint = reader.path(.checkpointFile)
        (logPolicyPath, eventsPath) = (reader.path(.logPolicy), reader.path(.events))
        tls = reader.tls()
        appStoreRootsPath = reader.path(.appStoreRoots)
        let appStoreOrigins = reader.appStoreOrigins()
        let appStoreConnectOrigin = reader.origin(.appStoreConnectURL)
        let googleOrigins = reader.googleOrigins()
        googlePush = reader.googlePush()
        trustedCertificatesPath = reader.path(.trustedCertificates)
        revocationCheck = reader.value(.revocationCheck, RevocationCheck.init(rawValue:)) ?? .background
        logLevel = reader.value(.log, LogLevel.init(name:)) ?? .info
        logFormat = reader.value(.logFormat, LogFormat.init(rawValue:))
        selfVerification = reader.value(.selfVerification, SelfVerificationMode.init(rawValue:)) ?? .sampled
        showsFindingsToApps = reader.flag(.appFindings)
        isLogPublic = reader.flag(.publicLog)
        sealWatch = reader.sealSettings()
        loops = reader.value(.loops) { $0 == "auto" ? .some(nil) : whole($0, in: 1...64).map(Int?.some) } ?? nil
        connections = reader.value(.connections) { whole($0, in: 1...1_000_000) } ?? 0
        connectionsPerAddress = reader.value(.connectionsPerAddress) { whole($0, in: 1...1_000_000) } ?? 0
        admission = reader.admissionLimits()
        (trustedProxies, clientCertificates) = (reader.proxies(.trustedProxy), reader.clientCertificates())
        admitsGroupReadableSecrets = reader.flag(.groupReadableSecrets)
        admitsUnlockedMemory = reader.flag(.unlockedMemory)
        lines = reader.lines
        guard reader.issues.isEmpty, let listen, let database, let appStoreOrigins, let appStoreConnectOrigin,
            let googleOrigins
        else { throw ConfigurationError(reader.issues) }
        self.appStoreOrigins = appStoreOrigins
        self.appStoreConnectOrigin = appStoreConnectOrigin
        self.googleOrigins = googleOrigins
        (self.listen, self.database) = (listen, database)
        checkpointPath = checkpoint ?? database.path + ".checkpoint"
    }
}

/// Takes settings from flags, environment or defaults, and notes what does not fit.
private struct SettingsReader {
    private let flags: [Setting: String]
    private let environment: [String: String]
    private(set) var issues: [ConfigurationIssue] = []

    init(flags: [Setting: String], environment: [String: String]) {
        self.flags = flags
        self.environment = environment
        let known = Setting.allCases.map(\.variable)
        for name in environment.keys.sorted()
        where name.hasPrefix("OFFER_SIGNER_") && name != "OFFER_SIGNER_RESTARTED" && !known.contains(name)
            && !KubernetesServiceLink.isOne(name, value: environment[name] ?? "")
        {
            // The prefix that all have in common would make any two of them look alike.
            let prefix = "OFFER_SIGNER_".count
            let near = nearest(to: String(name.dropFirst(prefix)), among: known.map { String($0.dropFirst(prefix)) })
            let meant = near ?? Self.familiar[String(name.dropFirst(prefix))]
            let suggestion = meant.map { "; did you mean OFFER_SIGNER_\($0)?" } ?? ""
            issues.append(
                ConfigurationIssue(.error, place: "environment variable \(name)", "is not a setting\(suggestion)")
            )
        }
    }

    /// What other programs call our settings, as the ends of variables.
    private static let familiar = [
        "PORT": "LISTEN", "HOST": "LISTEN", "ADDRESS": "LISTEN", "ADDR": "LISTEN", "BIND": "LISTEN",
        "CONFIG": "KEYS", "CATALOG": "OFFERS", "DB": "DATABASE", "DATABASE_URL": "DATABASE", "LOG_LEVEL": "LOG",
    ]

    private func place(_ setting: Setting) -> String {
        flags[setting] != nil ? setting.flag : "environment variable \(setting.variable)"
    }

    /// A line for each setting.
    var lines: [UInt8] {
        let settings = Setting.allCases.sorted { $0.rawValue < $1.rawValue }
        return settings.flatMap { setting in
            Array((setting.rawValue + (shown(setting).map { "=\($0)" } ?? "") + "\n").utf8)
        }
    }

    /// As ``text(_:)``, without the password that the address of a database may hold.
    private func shown(_ setting: Setting) -> String? {
        let text = text(setting)
        guard setting == .database, let text else { return text }
        return DatabaseLocation(text)?.description ?? text
    }

    func text(_ setting: Setting) -> String? {
        flags[setting] ?? environment[setting.variable] ?? setting.defaultText
    }

    mutating func value<Value>(_ setting: Setting, _ parse: (String) -> Value?) -> Value? {
        guard let text = text(setting) else { return nil }
        if let value = parse(text) { return value }
        issues.append(
            ConfigurationIssue(
                .error,
                place: place(setting),
                "expected \(setting.expected), found \(printable(setting == .database ? DatabaseLocation.shown(text) : text))"
            )
        )
        return nil
    }

    /// Where the database is; a password on the command line is refused.
    mutating func database() -> DatabaseLocation? {
        guard let location = value(.database, { DatabaseLocation($0) }) else { return nil }
        if flags[.database] != nil, location.hasPassword {
            issues.append(ConfigurationIssue(.error, place: Setting.database.flag, DatabaseLocation.passwordAdvice))
        }
        return location
    }

    /// The path of a file; an empty path is reported as an issue.
    mutating func path(_ setting: Setting) -> String? {
        value(setting) { $0.isEmpty ? nil : $0 }
    }

    mutating func flag(_ setting: Setting) -> Bool {
        value(setting) { ["yes": true, "no": false][$0] } ?? false
    }

    /// `nil` is no limit.
    mutating func rate(_ setting: Setting) -> RateLimit? {
        value(setting) { text in text == "none" ? .some(nil) : RateLimit(text).map(RateLimit?.some) } ?? nil
    }

    /// The store's own server, or a server on this machine: the service sends that server a token for the store.
    mutating func origin(_ setting: Setting) -> Origin? {
        let own = setting.defaultText.flatMap { try? Origin(parsing: $0) }
        return value(setting) { text in
            guard let origin = try? Origin(parsing: text) else { return nil }
            return origin == own || ["127.0.0.1", "[::1]"].contains(origin.host) ? origin : nil
        }
    }

    mutating func appStoreOrigins() -> AppStoreOrigins? {
        let (production, sandbox) = (origin(.appStoreURL), origin(.appStoreSandboxURL))
        guard let production, let sandbox else { return nil }
        return AppStoreOrigins(production: production, sandbox: sandbox)
    }

    mutating func googleOrigins() -> GoogleOrigins? {
        let (play, oauth) = (origin(.googlePlayURL), origin(.googleOAuthURL))
        let (certs, integrity) = (origin(.googleCertsURL), origin(.playIntegrityURL))
        guard let play, let oauth, let certs, let integrity else { return nil }
        return GoogleOrigins(play: play, oauth: oauth, certs: certs, integrity: integrity)
    }

    mutating func sealSettings() -> SealSettings {
        SealSettings(
            sealFile: path(.sealFile),
            clockCheck: value(.clockCheck, ClockCheck.init(rawValue:)) ?? .seal,
            clockStepSeconds: value(.clockStepSeconds) { whole($0, in: 1...3600) } ?? 0
        )
    }

    mutating func admissionLimits() -> AdmissionLimits {
        AdmissionLimits(
            perApp: rate(.appRate),
            perAddress: rate(.appRatePerAddress),
            perSubject: rate(.appRatePerCustomer)
        )
    }

    /// None if the setting is not there.
    mutating func proxies(_ setting: Setting) -> TrustedProxies { value(setting, TrustedProxies.init) ?? .none }

    mutating func clientCertificates() -> ClientCertificates {
        let header = value(.clientCertificateHeader, ClientCertificates.Header.init(rawValue:))
        return ClientCertificates(header: header ?? .clientCert, proxies: proxies(.clientCertificateProxy))
    }

    /// Audience and e-mail go together: either one alone would admit other senders.
    mutating func googlePush() -> GooglePushIdentity? {
        let audience = value(.googlePushAudience) { GooglePushIdentity.isAudience($0) ? $0 : nil }
        let email = value(.googlePushEmail, GoogleEmail.init)
        switch (text(.googlePushAudience), text(.googlePushEmail)) {
        case (nil, nil): return nil
        case (.some, .some): break
        case (let given, _):
            let missing: Setting = given == nil ? .googlePushAudience : .googlePushEmail
            issues.append(
                ConfigurationIssue(
                    .error,
                    place: missing.flag,
                    "is missing: notifications of Google Play need an audience and an e-mail address"
                )
            )
        }
        guard let audience, let email else { return nil }
        return GooglePushIdentity(audience: audience, email: email)
    }

    mutating func tls() -> TLSConfiguration? {
        switch (text(.tlsCertificate), text(.tlsKey)) {
        case (nil, nil): return nil
        case (.some, .some):
            let (certificate, key) = (path(.tlsCertificate), path(.tlsKey))
            guard let certificate, let key else { return nil }
            // A text that names no file is reported when the key is read: most commands need no key.
            let file = (try? SecretLocation(key, beside: ""))?.path ?? key
            return TLSConfiguration(certificateChainFile: certificate, privateKeyFile: file)
        case (let certificate, _):
            let missing: Setting = certificate == nil ? .tlsCertificate : .tlsKey
            issues.append(
                ConfigurationIssue(.error, place: missing.flag, "is missing: TLS needs a certificate and its key")
            )
            return nil
        }
    }
}

private func whole(_ text: String, in range: ClosedRange<Int>) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text).flatMap { range.contains($0) ? $0 : nil }
}

extension DatabaseLocation {
    /// The file of a SQLite database; `nil` on a server.
    package var file: String? {
        if case .sqlite(let path) = self { path } else { nil }
    }

    /// Where the files beside it begin, in the working directory for a database on a server.
    fileprivate var path: String {
        switch self {
        case .sqlite(let path): path
        case .postgreSQL: "offer-signer"
        }
    }
}
