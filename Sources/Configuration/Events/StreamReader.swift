// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import JSON
import ServiceRuntime

/// Reads one element of `streams` in the events file.
struct StreamReader {
    /// The events file, beside which relative paths start.
    let path: String
    let policy: SecretFilePolicy
    let mismatches: Mismatches

    func read(_ value: JSONValue) -> LogStream? {
        var reader = ObjectReader(value, into: mismatches)
        let id = reader.required("id", "1 to 64 of a-z, 0-9, “.”, “_” and “-”") {
            $0.string.flatMap { CallerID($0)?.text }
        }
        let categories = readCategories(&reader)
        let target = readTarget(&reader)
        reader.finish()
        guard let id, let target else { return nil }
        return LogStream(id: id, target: target, categories: categories)
    }

    private func readTarget(_ reader: inout ObjectReader) -> LogStream.Target? {
        switch (reader.member("syslog"), reader.member("file")) {
        case (nil, nil):
            reader.note(
                "syslog",
                "is missing, and so is file; say where entries go: syslog: \"HOST:PORT\", or file: \"PATH\""
            )
            return nil
        case (_?, _?):
            reader.note("file", "cannot be combined with syslog; a stream has one of them, so make two streams")
            return nil
        case (nil, let file?): return readFile(file)
        case (_?, nil): return readSyslog(&reader).map { .syslog($0) }
        }
    }

    private func readCategories(_ reader: inout ObjectReader) -> Set<AuditCategory> {
        guard let found = reader.member("categories") else { return Set(AuditCategory.allCases) }
        if found.array?.isEmpty == true {
            mismatches.add(found, "is empty; leave it out to send all, or name some")
        }
        let names = AuditCategory.allCases.map(\.rawValue)
        return Set(
            reader.elements(of: found, atMost: 64) { value in
                if let category = value.string.flatMap(AuditCategory.init(rawValue:)) { return category }
                let near = value.string.flatMap { nearest(to: $0, among: names) }.map { "; did you mean “\($0)”?" }
                return mismatches.none(value, "is not a category\(near ?? "") (\(names.joined(separator: ", ")))")
            }
        )
    }

    // MARK: - Files

    private func readFile(_ value: JSONValue) -> LogStream.Target? {
        guard let name = value.string, !name.isEmpty, !name.hasSuffix("/"), !name.utf8.contains(0) else {
            return mismatches.none(value, "expected the path of a file, found \(value.summary)")
        }
        let place = resolve(name, beside: path)
        let folder = place.lastIndex(of: "/").map { $0 == place.startIndex ? "/" : String(place[..<$0]) } ?? "."
        if let fault = FolderFault(folder) {
            return mismatches.none(value, "\(printable(name)): the folder \(printable(folder)) \(fault.description)")
        }
        return .file(place)
    }

    // MARK: - Syslog

    private func readSyslog(_ reader: inout ObjectReader) -> SyslogTarget? {
        let isEncrypted = reader.optional("tls", "true or false") { $0.bool } ?? true
        let origin = reader.required("syslog", "HOST or HOST:PORT, as siem.example.com:6514") { value in
            value.string.flatMap { readOrigin($0, isEncrypted: isEncrypted) }
        }
        if let origin, !isEncrypted, !["127.0.0.1", "[::1]"].contains(origin.host) {
            reader.note("tls", "is false, which only 127.0.0.1 and [::1] allow; leave it out to use TLS")
        }
        var connection = origin.map { StreamConfiguration(origin: $0) }
        connection?.trustedCertificatesFile = readCertificates("trustedCertificates", &reader)
        let certificate = readCertificates("clientCertificate", &reader)
        let key = readKey(&reader)
        if (certificate == nil) != (key == nil),
            reader.member("clientCertificate") == nil || reader.member("clientKey") == nil
        {
            let missing: StaticString = certificate == nil ? "clientCertificate" : "clientKey"
            reader.note(missing, "is missing; clientCertificate and clientKey belong together")
        }
        connection?.clientCertificateFile = certificate
        connection?.clientKeyFile = key
        var target = connection.map { SyslogTarget(connection: $0) }
        readForm(&reader, &target)
        return target
    }

    private func readForm(_ reader: inout ObjectReader, _ target: inout SyslogTarget?) {
        let facility = reader.optional("facility", "a number from 0 to 23 (RFC 5424)") { Self.number($0, in: 0...23) }
        let enterprise = reader.optional("enterpriseNumber", "your IANA private enterprise number") {
            Self.number($0, in: 1...4_294_967_295)
        }
        let bytes = reader.optional("maximumBytes", "a number from 2048 to 65536") {
            Self.number($0, in: 2048...65_536)
        }
        let mark = reader.optional("byteOrderMark", "true or false") { $0.bool }
        if let facility { target?.facility = facility }
        if let enterprise { target?.enterpriseNumber = enterprise }
        if let bytes { target?.maximumBytes = bytes }
        if let mark { target?.hasByteOrderMark = mark }
    }

    private static func number(_ value: JSONValue, in range: ClosedRange<Int>) -> Int? {
        value.integer.flatMap { range.contains(Int($0)) ? Int($0) : nil }
    }

    private func readOrigin(_ text: String, isEncrypted: Bool) -> Origin? {
        let authority =
            text.utf8.last == UInt8(ascii: "]") || !text.contains(":") ? "\(text):\(SyslogTarget.defaultPort)" : text
        return try? Origin(parsing: "\(isEncrypted ? "https" : "http")://\(authority)")
    }

    private func readCertificates(_ name: StaticString, _ reader: inout ObjectReader) -> String? {
        guard let file = reader.optional(name, "the path of a file in PEM", as: { $0.string }) else { return nil }
        let place = resolve(file, beside: path)
        do {
            _ = try TextFile.read(place)
            try CertificateFile.check(path: place)
            return place
        } catch {
            reader.note(name, "\(printable(file)) \(error)")
            return nil
        }
    }

    private func readKey(_ reader: inout ObjectReader) -> String? {
        guard let written = reader.optional("clientKey", "a path, or credential:NAME", as: { $0.string }) else {
            return nil
        }
        do {
            let location = try SecretLocation(written, beside: path)
            _ = try SecretFile.read(path: location.path, policy: policy)
            return location.path
        } catch {
            reader.note("clientKey", "\(printable(written)) \(error)")
            return nil
        }
    }
}
