// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import HTTP
import JSON
import OfferDomain
import ServiceRuntime

/// Reads the events file, and every secret that it names.
package struct EventsFile {
    private let path: String
    private let policy: SecretFilePolicy

    /// The file at `path`; `policy` says what is demanded of the files with secrets that it names.
    package init(path: String, policy: SecretFilePolicy) {
        self.path = path
        self.policy = policy
    }

    /// The most receivers together: each has a thread of its own.
    package static let mostEndpoints = 16

    /// The file at `path`, if there is one.
    package static func load(_ path: String?, policy: SecretFilePolicy) throws(ConfigurationError) -> EventSettings? {
        guard let path else { return nil }
        return try EventsFile(path: path, policy: policy).load()
    }

    /// - Throws: Everything that is wrong, all at once.
    package func load() throws(ConfigurationError) -> EventSettings {
        let file = try ConfigurationFile(path: path, of: .events)
        let ((endpoints, streams, networks, certificates), issues) = file.read { root, mismatches in
            let networks = root.elements("privateNetworks", atMost: 64) { value in
                value.string.flatMap { AddressNetwork($0) }
                    ?? mismatches.none(value, "expected an address or a network, as 10.20.0.0/16")
            }
            let endpoints = root.elements("endpoints", atMost: Self.mostEndpoints) { readEndpoint($0, mismatches) }
            let relays = root.elements("relays", atMost: Self.mostEndpoints) { readRelay($0, mismatches) }
            let reader = StreamReader(path: path, policy: policy, mismatches: mismatches)
            let streams = root.elements("streams", atMost: Self.mostEndpoints) { reader.read($0) }
            reportConflicts((endpoints + relays).map(\.id) + streams.map(\.id), root)
            let files = streams.compactMap(\.file)
            if Set(files).count < files.count { root.note("streams", "two of them have the same file") }
            return (endpoints + relays, streams, networks, readCertificates(&root))
        }
        guard issues.isEmpty else { throw ConfigurationError(issues) }
        return EventSettings(
            endpoints: endpoints,
            streams: streams.map { $0.admitting(networks, trusting: certificates) },
            privateNetworks: networks,
            trustedCertificatesPath: certificates,
            digest: file.digest
        )
    }

    private func readCertificates(_ root: inout ObjectReader) -> String? {
        guard let file = root.optional("trustedCertificates", "the path of a file in PEM", as: { $0.string }) else {
            return nil
        }
        let place = resolve(file, beside: path)
        do {
            _ = try TextFile.read(place)
            try CertificateFile.check(path: place)
        } catch {
            root.note("trustedCertificates", "\(printable(file)) \(error)")
        }
        return place
    }

    private func reportConflicts(_ ids: [String], _ root: ObjectReader) {
        var known: Set<String> = []
        for id in ids where !known.insert(id).inserted {
            root.note("endpoints", "\(id) is listed twice; endpoints, relays and streams need different names")
        }
        if ids.count > Self.mostEndpoints {
            root.note("endpoints", "with relays and streams has \(ids.count) receivers, at most \(Self.mostEndpoints)")
        }
    }

    private func readEndpoint(_ value: JSONValue, _ mismatches: Mismatches) -> EventEndpoint? {
        var reader = ObjectReader(value, into: mismatches)
        let (id, url) = (readID(&reader), readURL(&reader))
        let secrets = reader.elements("secrets", atMost: 8) { readSecret($0, mismatches) }
        let keys = reader.elements("signingKeys", atMost: 8) { readSigningKey($0, mismatches) }
        let types = readTypes(&reader, mismatches)
        let apps = readApps(&reader, mismatches)
        let formats = WebhookFormat.allCases.map(\.rawValue).joined(separator: ", ")
        let format = reader.optional("format", formats) { $0.string.flatMap(WebhookFormat.init(rawValue:)) }
        if secrets.isEmpty, keys.isEmpty, reader.member("secrets") == nil, reader.member("signingKeys") == nil {
            reader.note("secrets", "is missing, and so is signingKeys; a message without a signature can be forged")
        }
        reader.finish()
        guard let id, let url else { return nil }
        return EventEndpoint(
            id: id,
            url: url,
            source: .events(types: Set(types), format ?? .standard),
            secrets: secrets,
            signingKeys: keys,
            apps: Set(apps)
        )
    }

    private func readRelay(_ value: JSONValue, _ mismatches: Mismatches) -> EventEndpoint? {
        var reader = ObjectReader(value, into: mismatches)
        let (id, url) = (readID(&reader), readURL(&reader))
        let store = reader.required("store", "app-store or google-play") { value in
            Store.allCases.first { $0.recordName == value.string }
        }
        let token = reader.optional("tokenFile", "a path, or credential:NAME") { $0.string }
            .flatMap { readToken($0, reader) }
        let apps = readApps(&reader, mismatches)
        reader.finish()
        guard let id, let url, let store else { return nil }
        return EventEndpoint(
            id: id,
            url: url,
            source: .notifications(store, token: token),
            secrets: [],
            signingKeys: [],
            apps: Set(apps)
        )
    }

    private func readID(_ reader: inout ObjectReader) -> String? {
        reader.required("id", "1 to 64 of a-z, 0-9, “.”, “_” and “-”") { $0.string.flatMap { CallerID($0)?.text } }
    }

    /// https, or http to this very machine: what is signed is not secret by that.
    private func readURL(_ reader: inout ObjectReader) -> String? {
        reader.required("url", "a URL with https, or http on 127.0.0.1 or [::1], of at most 2,048 characters") {
            value in
            guard let url = value.string, url.utf8.count <= 2048,
                let request = try? ClientRequest(.post, url: url)
            else { return nil }
            let isLocal = ["127.0.0.1", "[::1]"].contains(request.origin.host)
            return request.origin.scheme == .https || isLocal ? url : nil
        }
    }

    private func readTypes(_ reader: inout ObjectReader, _ mismatches: Mismatches) -> [EventType] {
        reader.elements("types", atMost: 64) { value in
            if let type = value.string.flatMap(EventType.init(rawValue:)) { return type }
            let names = EventType.allCases.map(\.rawValue)
            let near = value.string.flatMap { nearest(to: $0, among: names) }.map { "; did you mean “\($0)”?" } ?? ""
            return mismatches.none(value, "is not an event\(near) (\(names.joined(separator: ", ")))")
        }
    }

    private func readApps(_ reader: inout ObjectReader, _ mismatches: Mismatches) -> [AppName] {
        reader.elements("apps", atMost: 256) { value in
            value.string.flatMap { try? AppName($0) }
                ?? mismatches.none(value, "expected a bundle ID, or the package name of an app at Google Play alone")
        }
    }

    // MARK: - Secrets

    private func readSecret(_ value: JSONValue, _ mismatches: Mismatches) -> HMACKey? {
        guard let secret = bytes(value, mismatches) else { return nil }
        do { return try HMACKey.ofWebhook(secret) } catch { return mismatches.none(value, error.description) }
    }

    private func readSigningKey(_ value: JSONValue, _ mismatches: Mismatches) -> Ed25519PrivateKey? {
        guard let pem = bytes(value, mismatches) else { return nil }
        do { return try Ed25519PrivateKey(pem: pem) } catch { return mismatches.none(value, error.description) }
    }

    private func bytes(_ value: JSONValue, _ mismatches: Mismatches) -> SecureBytes? {
        guard let written = value.string, !written.isEmpty else {
            return mismatches.none(value, "expected a path, or credential:NAME")
        }
        do {
            let location = try SecretLocation(written, beside: path)
            return try SecretFile.read(path: location.path, policy: policy)
        } catch {
            return mismatches.none(value, "\(printable(written)) \(error)")
        }
    }

    private func readToken(_ written: String, _ reader: ObjectReader) -> RelayToken? {
        do {
            let location = try SecretLocation(written, beside: path)
            // Checked like every secret, and read again: a header needs it as text.
            _ = try SecretFile.read(path: location.path, policy: policy)
            let text = String(decoding: try TextFile.read(location.path, maximumBytes: 1024), as: UTF8.self)
            let token = RelayToken(
                String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
            )
            if token == nil { reader.note("tokenFile", "must hold 16 to 512 visible characters without spaces") }
            return token
        } catch {
            reader.note("tokenFile", "\(printable(written)) \(error)")
            return nil
        }
    }
}
