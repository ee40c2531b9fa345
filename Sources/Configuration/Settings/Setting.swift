// SPDX-License-Identifier: Apache-2.0
import ServiceRuntime

/// The settings of the service; each is a flag and an environment variable, the flag wins.
package enum Setting: String, CaseIterable, Hashable, Sendable {
    case listen
    case adminListen = "admin-listen"
    case keys
    case offers
    case database
    case checkpointFile = "checkpoint-file"
    case logPolicy = "log-policy"
    case events
    case tlsCertificate = "tls-certificate"
    case tlsKey = "tls-key"
    case appStoreRoots = "app-store-roots"
    case appStoreURL = "app-store-url"
    case appStoreSandboxURL = "app-store-sandbox-url"
    case appStoreConnectURL = "app-store-connect-url"
    case googlePlayURL = "google-play-url"
    case googleOAuthURL = "google-oauth-url"
    case googleCertsURL = "google-certs-url"
    case playIntegrityURL = "play-integrity-url"
    case googlePushAudience = "google-push-audience"
    case googlePushEmail = "google-push-email"
    case trustedCertificates = "trusted-certificates"
    case revocationCheck = "revocation-check"
    case log
    case logFormat = "log-format"
    case selfVerification = "self-verification"
    case appFindings = "app-findings"
    case publicLog = "public-log"
    case sealFile = "seal-file"
    case clockCheck = "clock-check"
    case clockStepSeconds = "clock-step-seconds"
    case loops
    case connections
    case connectionsPerAddress = "connections-per-address"
    case appRate = "app-rate"
    case appRatePerAddress = "app-rate-per-address"
    case appRatePerCustomer = "app-rate-per-customer"
    case trustedProxy = "trusted-proxy"
    case clientCertificateProxy = "client-certificate-proxy"
    case clientCertificateHeader = "client-certificate-header"
    case groupReadableSecrets = "group-readable-secrets"
    case unlockedMemory = "unlocked-memory"

    /// As in `--self-verification`.
    package var flag: String { "--\(rawValue)" }

    /// As in `OFFER_SIGNER_SELF_VERIFICATION`.
    package var variable: String {
        "OFFER_SIGNER_" + rawValue.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
    }

    /// What holds when neither is given; `nil` if the setting is off then.
    package var defaultText: String? {
        switch self {
        case .listen: "127.0.0.1:8080"
        case .keys: "keys"
        case .offers: "offers"
        case .database: "sqlite:offer-signer.db"
        case .tlsCertificate, .tlsKey, .appStoreRoots, .trustedCertificates, .googlePushAudience, .googlePushEmail,
            .checkpointFile, .logPolicy, .events, .sealFile, .trustedProxy, .clientCertificateProxy, .adminListen,
            .logFormat:
            nil
        case .appStoreURL: "https://api.storekit.apple.com"
        case .appStoreSandboxURL: "https://api.storekit-sandbox.apple.com"
        case .appStoreConnectURL: "https://api.appstoreconnect.apple.com"
        case .googlePlayURL: "https://androidpublisher.googleapis.com"
        case .googleOAuthURL: "https://oauth2.googleapis.com"
        case .googleCertsURL: "https://www.googleapis.com"
        case .playIntegrityURL: "https://playintegrity.googleapis.com"
        case .revocationCheck: "background"
        case .log: "info"
        case .selfVerification: "sampled"
        case .appFindings, .publicLog: "no"
        case .clockCheck: "seal"
        case .clockStepSeconds: "2"
        case .loops: "auto"
        case .connections: "4096"
        case .connectionsPerAddress: "256"
        case .appRate: "1000/s:5000"
        case .appRatePerAddress: "20/s:200"
        case .appRatePerCustomer: "60/min:120"
        case .clientCertificateHeader: "Client-Cert"
        case .groupReadableSecrets, .unlockedMemory: "no"
        }
    }

    /// What may be written, for help and messages.
    package var expected: String {
        switch self {
        case .listen, .adminListen:
            "ADDRESS:PORT, such as 127.0.0.1:8080, localhost:8080, [::1]:8080, or :8080 for every IPv4 address"
        case .tlsKey: "the path of a file, or credential:NAME"
        case .keys, .offers, .tlsCertificate, .appStoreRoots, .trustedCertificates, .checkpointFile,
            .logPolicy, .events, .sealFile:
            "the path of a file"
        case .appStoreURL, .appStoreSandboxURL, .appStoreConnectURL:
            "Apple's own, or http or https on 127.0.0.1 or [::1], for tests"
        case .googlePlayURL, .googleOAuthURL, .googleCertsURL, .playIntegrityURL:
            "Google's own, or http or https on 127.0.0.1 or [::1], for tests"
        case .googlePushAudience:
            "1 to 512 visible characters, as https://offers.example.com/v1/notifications/google-play"
        case .googlePushEmail: "a service account, as push@example.iam.gserviceaccount.com"
        case .database: "sqlite:PATH or postgres://HOST/DATABASE"
        case .revocationCheck: RevocationCheck.allCases.map(\.rawValue).joined(separator: ", ")
        case .log: LogLevel.allCases.map(\.name).joined(separator: ", ")
        case .logFormat: LogFormat.allCases.map(\.rawValue).joined(separator: ", ")
        case .selfVerification: SelfVerificationMode.allCases.map(\.rawValue).joined(separator: ", ")
        case .clockCheck: ClockCheck.allCases.map(\.rawValue).joined(separator: ", ")
        case .clockStepSeconds: "1 to 3600"
        case .loops: "auto, or 1 to 64"
        case .connections, .connectionsPerAddress: "1 to 1000000"
        case .appRate, .appRatePerAddress, .appRatePerCustomer: "none, or \(RateLimit.expected)"
        case .trustedProxy, .clientCertificateProxy:
            "addresses or networks with commas between, such as 10.0.0.0/8,fd00::1"
        case .clientCertificateHeader: "Client-Cert, X-SSL-Client-Cert"
        case .appFindings, .publicLog, .groupReadableSecrets, .unlockedMemory: "yes or no"
        }
    }

    /// What it is for, for `--help`.
    package var help: String {
        switch self {
        case .listen: "where to listen"
        case .adminListen:
            "a second address, for health, metrics and administration alone; --listen answers them too"
        case .keys: "the key ring, JSON5 (see keys.example)"
        case .offers: "the catalog, JSON5 (see offers.example)"
        case .database: "ledger and records"
        case .checkpointFile:
            "the audit log's newest checkpoint, outside of the database; else the database's path and .checkpoint"
        case .logPolicy: "the witnesses that sign the audit log's checkpoints (tlog-policy)"
        case .events: "the receivers of events, JSON5; without it there are none"
        case .tlsCertificate: "certificate chain in PEM; with it the service speaks TLS 1.3"
        case .tlsKey: "private key of that certificate in PEM; a credential is one that systemd passed"
        case .appStoreRoots:
            "additional roots, in PEM, for signed data of the App Store and for App Attest; for tests only"
        case .appStoreURL: "where the App Store Server API is"
        case .appStoreSandboxURL: "where it is for the sandbox"
        case .appStoreConnectURL: "where the App Store Connect API is, for check --live"
        case .googlePlayURL: "where the Google Play Developer API is"
        case .googleOAuthURL: "where service accounts get tokens from Google"
        case .googleCertsURL: "where Google publishes the keys of its notifications' tokens"
        case .playIntegrityURL: "where the Play Integrity API is"
        case .googlePushAudience: "the audience of the push subscription for Google's notifications"
        case .googlePushEmail: "the service account of that push subscription"
        case .trustedCertificates: "the only trusted authorities of the stores' servers, in PEM; else the system's"
        case .revocationCheck: "how to treat App Store certificates that may be revoked"
        case .log: "how much is logged to standard error"
        case .logFormat: "how log lines are written; else text on a terminal, and json otherwise"
        case .selfVerification: "which signatures are verified before they leave"
        case .appFindings: "whether answers to callers of role app name the rule that said no"
        case .publicLog: "whether the audit log's tiles and checkpoint are served without an API key"
        case .sealFile: "while this file is there, nothing is signed"
        case .clockCheck: "what to do when the clock jumps or is not synchronized"
        case .clockStepSeconds: "by how many seconds the clock must jump to be noticed"
        case .loops: "event loops; auto is one for each core"
        case .connections: "connections at once"
        case .connectionsPerAddress: "connections at once from one address"
        case .appRate: "how often each caller of role app may ask, if it was added without --rate"
        case .appRatePerAddress: "how often a caller of role app may ask from one address, or IPv6 network of 64 bits"
        case .appRatePerCustomer: "how often a caller of role app may ask about one customer that evidence proves"
        case .trustedProxy: "proxies whose Forwarded or X-Forwarded-For says where a request comes from"
        case .clientCertificateProxy: "proxies that pass on the certificates of callers"
        case .clientCertificateHeader: "the header in which they do"
        case .groupReadableSecrets: "whether secret files may be readable by their group (mode 0440)"
        case .unlockedMemory: "whether to run when memory for keys can't be locked"
        }
    }
}
