// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import OfferService
import ServiceRuntime
import Storage
import TestSupport
import Testing

/// Settings from flags and the environment.
struct SettingsTests {
    @Test func `has defaults that a service starts with`() throws {
        let settings = try Settings(flags: [:], environment: ["HOME": "/", "OFFER_SIGNE": "x"])
        #expect(settings.listen == ListenAddress("127.0.0.1:8080"))
        #expect(settings.keysPath == "keys" && settings.offersPath == "offers")
        #expect(settings.database == DatabaseLocation("sqlite:offer-signer.db"))
        #expect(settings.tls == nil && settings.loops == nil)
        #expect(settings.logLevel == .info && settings.selfVerification == .sampled)
        #expect(settings.connections == 4096 && settings.connectionsPerAddress == 256)
        #expect(!settings.showsFindingsToApps && !settings.admitsGroupReadableSecrets && !settings.admitsUnlockedMemory)
    }

    @Test func `takes the flag before the variable, and the variable before the default`() throws {
        let environment = ["OFFER_SIGNER_LISTEN": "[::1]:0", "OFFER_SIGNER_LOG": "debug", "OFFER_SIGNER_LOOPS": "3"]
        let settings = try Settings(flags: [.log: "error"], environment: environment)
        #expect(settings.listen.host == "::1" && settings.listen.port == 0)
        #expect(settings.logLevel == .error && settings.loops == 3)
    }

    @Test(arguments: [
        ("postgres://user:hidden@db/offers", true), ("postgres://user@db/offers?sslmode=require&password=hidden", true),
        ("postgresql://user:hidden@db1,db2:5433/offers", true), ("postgres://db/offers?password=hidden", true),
        ("postgres://user@db:5432/offers?passfile=/etc/pass", false), ("postgres://db/offers", false),
        ("postgres://db/offers?passw%6Frd=hidden", true), ("postgres://db/offers?sslpassword=hidden", true),
        ("sqlite:a:b@c?password=d", false),
    ])
    func `refuses a password on the command line`(address: String, isRefused: Bool) throws {
        let issues: [ConfigurationIssue]
        do throws(ConfigurationError) {
            _ = try Settings(flags: [.database: address], environment: [:])
            issues = []
        } catch {
            issues = error.issues
        }
        #expect(issues.isEmpty == !isRefused, "\(issues)")
        for issue in issues {
            #expect(issue.place == "--database" && issue.message.contains("PGPASSFILE"))
            #expect(!issue.message.contains("hidden"))
        }
        _ = try Settings(flags: [:], environment: ["OFFER_SIGNER_DATABASE": address])
    }

    /// What Kubernetes sets for Services that are called offer-signer and offer-signer-admin.
    @Test(arguments: [
        ("SERVICE_HOST", "10.0.0.7"), ("SERVICE_PORT", "8080"), ("SERVICE_PORT_HTTP", "8080"),
        ("PORT", "tcp://10.0.0.7:8080"), ("PORT_8080_TCP", "tcp://10.0.0.7:8080"), ("PORT_8080_TCP_PROTO", "tcp"),
        ("PORT_8080_TCP_PORT", "8080"), ("PORT_8080_TCP_ADDR", "10.0.0.7"), ("ADMIN_SERVICE_HOST", "10.0.0.8"),
        ("ADMIN_PORT", "udp://10.0.0.8:53"), ("ADMIN_PORT_53_UDP_ADDR", "10.0.0.8"),
    ])
    func `takes no variable for a setting that Kubernetes sets for a Service`(name: String, value: String) throws {
        let settings = try Settings(flags: [:], environment: ["OFFER_SIGNER_\(name)": value])
        #expect(settings.listen == ListenAddress("127.0.0.1:8080"))
    }

    @Test(arguments: [
        ("PORT", "8080"), ("PORT_TCP", "1"), ("PORT_X_TCP", "1"), ("SERVICE_PORT_HTTP", "http"),
        ("PORT_8080_HTTP", "1"),
        ("HOST", "10.0.0.7"), ("8080_TCP", "1"),
    ])
    func `refuses what only looks like a variable of Kubernetes's`(name: String, value: String) {
        #expect(throws: ConfigurationError.self) {
            try Settings(flags: [:], environment: ["OFFER_SIGNER_\(name)": value])
        }
    }

    @Test func `says everything that is wrong, all at once`() throws {
        let environment = [
            "OFFER_SIGNER_LISTN": "x", "OFFER_SIGNER_PORT": "8080", "OFFER_SIGNER_SELF_VERIFICATION": "never",
            "OFFER_SIGNER_WEATHER": "fair",
            "OFFER_SIGNER_TLS_KEY": "key.pem",
        ]
        let error = #expect(throws: ConfigurationError.self) {
            try Settings(
                flags: [
                    .listen: "localhost", .database: "mysql://x", .log: "loud", .loops: "0", .connections: "many",
                    .connectionsPerAddress: "1000001", .appFindings: "true",
                ],
                environment: environment
            )
        }
        #expect(
            error?.issues.map(\.description) == [
                "error: environment variable OFFER_SIGNER_LISTN: is not a setting; did you mean OFFER_SIGNER_LISTEN?",
                "error: environment variable OFFER_SIGNER_PORT: is not a setting; did you mean OFFER_SIGNER_LISTEN?",
                "error: environment variable OFFER_SIGNER_WEATHER: is not a setting",
                "error: --listen: expected ADDRESS:PORT, such as 127.0.0.1:8080, localhost:8080, [::1]:8080, or :8080 for every "
                    + "IPv4 address, found “localhost”",
                "error: --database: expected sqlite:PATH or postgres://HOST/DATABASE, found “mysql://x”",
                "error: --tls-certificate: is missing: TLS needs a certificate and its key",
                "error: --log: expected debug, info, warning, error, found “loud”",
                "error: environment variable OFFER_SIGNER_SELF_VERIFICATION: expected always, sampled, off, "
                    + "found “never”",
                "error: --app-findings: expected yes or no, found “true”",
                "error: --loops: expected auto, or 1 to 64, found “0”",
                "error: --connections: expected 1 to 1000000, found “many”",
                "error: --connections-per-address: expected 1 to 1000000, found “1000001”",
            ]
        )
    }

    @Test(
        arguments: [
            .keys, .offers, .logPolicy, .appStoreRoots, .trustedCertificates, .checkpointFile, .sealFile,
        ] as [Setting]
    )
    func `refuses an empty path, by the name of its setting`(setting: Setting) throws {
        let error = #expect(throws: ConfigurationError.self) {
            try Settings(flags: [:], environment: [setting.variable: ""])
        }
        #expect(
            error?.issues.map(\.description) == [
                "error: environment variable \(setting.variable): expected the path of a file, found “”"
            ]
        )
    }

    @Test func `refuses an empty path of the certificate and of its key`() throws {
        let error = #expect(throws: ConfigurationError.self) {
            try Settings(flags: [.tlsCertificate: "", .tlsKey: ""], environment: [:])
        }
        #expect(
            error?.issues.map(\.description) == [
                "error: --tls-certificate: expected the path of a file, found “”",
                "error: --tls-key: expected the path of a file, or credential:NAME, found “”",
            ]
        )
    }

    @Test(arguments: [("none/sealed", true), ("keys/sealed", true), ("sealed", false)])
    func `warns if the folder of the seal file does not exist`(
        name: String,
        isWarned: Bool
    ) throws {
        let directory = try TemporaryDirectory()
        var files = TestFiles()
        _ = try TestService.write(files, into: directory)
        files.settings[.sealFile] = directory.path(of: name)
        let found = issues(directory, try TestService.settings(in: directory, files))
        let fault = "is in a folder that is not there: until it is, no file can seal the service"
        #expect(found.errors.isEmpty && found.warnings == (isWarned ? ["warning: --seal-file: \(name) \(fault)"] : []))
    }

    @Test func `asks Google where it is, or a server on this very machine`() throws {
        let usual = try Settings(flags: [:], environment: [:])
        #expect(usual.googleOrigins == .google && usual.googlePush == nil)
        let settings = try Settings(
            flags: [
                .googlePlayURL: "http://127.0.0.1:8081", .googleOAuthURL: "https://[::1]:8443",
                .googlePushAudience: "https://offers.example/push", .googlePushEmail: "push@x.iam.gserviceaccount.com",
            ],
            environment: ["OFFER_SIGNER_GOOGLE_CERTS_URL": "http://[::1]:1"]
        )
        #expect(settings.googleOrigins.play.description == "http://127.0.0.1:8081")
        #expect(settings.googleOrigins.oauth.description == "https://[::1]:8443")
        #expect(settings.googleOrigins.certs.description == "http://[::1]:1")
        #expect(settings.googlePush?.audience == "https://offers.example/push")
        #expect(settings.googlePush?.email.text == "push@x.iam.gserviceaccount.com")
    }

    @Test func `asks Google nowhere else, and takes notifications only of one account and audience`() throws {
        let url = "expected Google's own, or http or https on 127.0.0.1 or [::1], for tests, found"
        let rows: [([Setting: String], String)] = [
            ([.googlePlayURL: "https://play.example"], "--google-play-url: \(url) “https://play.example”"),
            ([.googleOAuthURL: "https://127.0.0.1/token"], "--google-oauth-url: \(url) “https://127.0.0.1/token”"),
            ([.googleCertsURL: "www.googleapis.com"], "--google-certs-url: \(url) “www.googleapis.com”"),
            (
                [.googlePushAudience: "a"],
                "--google-push-email: is missing: notifications of Google Play need an audience and an e-mail address"
            ),
            (
                [.googlePushEmail: "a@b"],
                "--google-push-audience: is missing: notifications of Google Play need an audience and an e-mail address"
            ),
            (
                [.googlePushEmail: "a", .googlePushAudience: "x"],
                "--google-push-email: expected a service account, as push@example.iam.gserviceaccount.com, found “a”"
            ),
            (
                [.googlePushEmail: "a@b", .googlePushAudience: "x y"],
                "--google-push-audience: expected 1 to 512 visible characters, as "
                    + "https://offers.example.com/v1/notifications/google-play, found “x y”"
            ),
        ]
        for (flags, message) in rows {
            let error = #expect(throws: ConfigurationError.self) { try Settings(flags: flags, environment: [:]) }
            #expect(error?.issues.map(\.description) == ["error: \(message)"])
        }
    }

    @Test(
        arguments: [
            "https://api.storekit.apple.com", "https://API.storekit.apple.com:443", "http://127.0.0.1:8081",
            "https://127.0.0.1:8081", "http://[::1]:8081",
        ]
    )
    func `asks Apple's own server, or one on this machine`(text: String) throws {
        let settings = try Settings(flags: [.appStoreURL: text], environment: [:])
        #expect(settings.appStoreOrigins.sandbox == AppStoreOrigins.apple.sandbox)
        #expect((settings.appStoreOrigins.production == AppStoreOrigins.apple.production) == text.contains("apple"))
    }

    @Test(
        arguments: [
            "http://api.storekit.apple.com", "https://api.storekit.apple.com:8443", "https://apple.com",
            "https://api.storekit-sandbox.apple.com", "https://api.storekit.apple.com.example.net",
            "https://localhost:8081", "http://127.0.0.2:8081", "https://10.0.0.1", "https://127.0.0.1:8081/path", "",
        ]
    )
    func `refuses every other App Store URL, which would get a token for the store`(text: String) {
        #expect(throws: ConfigurationError.self) { try Settings(flags: [.appStoreURL: text], environment: [:]) }
    }

    @Test(
        arguments: [
            "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:8080", "[]:80", "127.0.0.1:+80",
            "127.0.0.1:8080 ", "localhost", "127.1:80", "[127.0.0.1:80", "[fe80::1%lo]:80", "example.com:80",
        ]
    )
    func `reads no address from what is none`(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test(arguments: [
        ("localhost:8080", "127.0.0.1:8080"), ("LOCALHOST:0", "127.0.0.1:0"), (":8080", "0.0.0.0:8080"),
        ("[::1]:8080", "[::1]:8080"), ("192.0.2.1:443", "192.0.2.1:443"),
    ])
    func `reads an address as people write it`(text: String, read: String) {
        #expect(ListenAddress(text)?.text == read)
    }

    @Test(arguments: [
        (":8080", "http://127.0.0.1:8080"), ("[::]:80", "http://[::1]:80"), ("192.0.2.1:81", "http://192.0.2.1:81"),
    ])
    func `says where a client on the machine finds it`(text: String, url: String) {
        #expect(ListenAddress(text)?.localURL == url)
    }

    @Test(arguments: Setting.allCases)
    func `names each setting as a flag and as a variable`(setting: Setting) throws {
        #expect(setting.flag.wholeMatch(of: #/--[a-z-]+/#) != nil)
        let expected = "OFFER_SIGNER_" + setting.rawValue.uppercased().replacing("-", with: "_")
        #expect(setting.variable == expected)
        if let text = setting.defaultText { _ = try Settings(flags: [setting: text], environment: [:]) }
    }
}
