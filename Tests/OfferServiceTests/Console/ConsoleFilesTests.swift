// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferDomain
import Testing

@testable import Configuration
@testable import Ledger
@testable import OfferService

/// The console's files: that all are served, as what they are, and under a policy that lets nothing else happen.
struct ConsoleFilesTests {
    private static let folder = "Sources/OfferService/Console/Assets"

    private static func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Repository.path(folder)).sorted()
    }

    private static let types = ["html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8"]
        .merging(["js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"]) { $1 }

    @Test(arguments: Wire.allCases)
    func `serves every file of the folder as it is there, and no other`(wire: Wire) async throws {
        let names = try Self.names()
        #expect(Set(ConsoleFile.all.keys) == Set(names.map { $0 == "index.html" ? "" : $0 }))
        try await withService(wire) { service in
            for name in names {
                let path = "/console/\(name == "index.html" ? "" : name)"
                let reply = try await service.send(.get(path))
                #expect(reply.status == 200, "\(path)")
                #expect(try reply.body == Repository.text("\(Self.folder)/\(name)"), "\(path)")
                #expect(reply.headers["content-type"] == Self.types[(name as NSString).pathExtension], "\(path)")
                let head = try await service.send(Call(method: "HEAD", path: path))
                #expect(head.status == 200 && head.headers["etag"] == reply.headers["etag"])
            }
            for path in ["/console/index.html", "/console/none.js", "/console//", "/console/../console/", "/consolex"] {
                #expect(try await service.send(.get(path)).problem == "not-found", "\(path)")
            }
        }
    }

    @Test(arguments: Wire.ofRun)
    func `tells the browser to load and to send nothing but to here`(wire: Wire) async throws {
        try await withService(wire) { service in
            for path in ["/console/", "/console/console.js", "/console"] {
                let headers = try await service.send(.get(path)).headers
                let policy = try #require(headers["content-security-policy"])
                let directives = policy.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
                let expected: Set = [
                    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'",
                    "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
                    "require-trusted-types-for 'script'", "trusted-types 'none'",
                ]
                #expect(Set(directives) == expected && directives.count == expected.count)
                #expect(headers["x-content-type-options"] == "nosniff")
                #expect(headers["referrer-policy"] == "no-referrer")
                #expect(headers["cross-origin-opener-policy"] == "same-origin")
                #expect(headers["cross-origin-resource-policy"] == "same-origin")
            }
        }
    }

    @Test(arguments: Wire.allCases)
    func `leads from the path without its slash to the one with it`(wire: Wire) async throws {
        try await withService(wire) { service in
            let reply = try await service.send(.get("/console"))
            #expect(reply.status == 308)
            #expect(reply.headers["location"] == "console/", "relative, as behind a proxy with a path of its own")
        }
    }

    @Test(arguments: Wire.ofRun)
    func `sends a file again only if it has changed`(wire: Wire) async throws {
        try await withService(wire) { service in
            let first = try await service.send(.get("/console/console.css"))
            let tag = try #require(first.headers["etag"])
            #expect(tag.hasPrefix("\"") && first.headers["cache-control"] == "no-cache")
            for known in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                let reply = try await service.send(.get("/console/console.css").with("If-None-Match", known))
                #expect(reply.status == 304 && reply.body.isEmpty, "\(known)")
                #expect(reply.headers["etag"] == tag)
            }
            for other in ["\"x\"", String(tag.dropLast(3)), ""] {
                let reply = try await service.send(.get("/console/console.css").with("If-None-Match", other))
                #expect(reply.status == 200 && !reply.body.isEmpty, "\(other)")
            }
        }
    }

    @Test func `the files have no way to turn text into markup or code, and name no other place`() throws {
        let forbidden = [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser",
            "createContextualFragment", "setHTML", "srcdoc", "javascript:", "import(", "http://", "https://", "<style",
            "style=", " onclick", " onload", " onerror", "document.cookie", "indexedDB",
        ]
        for name in try Self.names() {
            let text = try Repository.text("\(Self.folder)/\(name)")
                .replacing(#/http:\/\/www\.w3\.org\/(1999\/xhtml|2000\/svg)/#, with: "")
            for word in forbidden { #expect(!text.contains(word), "\(name) has \(word)") }
            #expect(!text.contains(#/<script(?![^>]* src=)/#), "\(name)")
            #expect(text.utf8.count < 20_000, "\(name) is too large to be read in one go")
        }
    }

    @Test func `every file says under which license it is, and every module is reached from the page`() throws {
        for name in try Self.names() where name != "icon.svg" {
            let text = try Repository.text("\(Self.folder)/\(name)")
            #expect(text.prefix(80).contains("SPDX-License-Identifier: Apache-2.0"), "\(name)")
        }
        var (reached, open) = (Set<String>(), ["console.js"])
        while let name = open.popLast() {
            guard reached.insert(name).inserted else { continue }
            let text = try Repository.text("\(Self.folder)/\(name)")
            open += text.matches(of: #/from "\.\/([a-z]+\.js)"/#).map { String($0.1) }
        }
        #expect(reached == Set(try Self.names().filter { $0.hasSuffix(".js") }))
    }

    /// The names to which a table of words.js gives words.
    private static func explained(by table: String) throws -> [String] {
        let text = try Repository.text("\(folder)/words.js")
        let start = try #require(text.range(of: "export const \(table) = {")).upperBound
        let list = text[start...].prefix { $0 != "}" }
        return list.matches(of: #/(?m)^  "([a-z.-]+)": "[^"]+",$/#).map { String($0.1) }
    }

    @Test func `the console has words for every event and every finding that there is, and suggests no other`() throws {
        let events = try Self.explained(by: "events")
        #expect(Set(events) == Set(AuditEventName.allCases.map(\.rawValue)) && Set(events).count == events.count)
        let findings = try Self.explained(by: "findings")
        #expect(Set(findings) == Set(FindingCode.allCases.map(\.rawValue)) && Set(findings).count == findings.count)
    }

    @Test(arguments: Wire.allCases)
    func `returns the caller's own ID in every role, and refuses unauthenticated calls`(wire: Wire) async throws {
        try await withService(wire) { service in
            for (name, credential) in service.credentials {
                let call = Call.get("/v1/callers/self").with("Authorization", "Bearer \(credential)")
                let reply = try await service.send(call)
                #expect(reply.status == 200 && reply.json["id"].text == name, "\(reply)")
                #expect(CallerRole(rawValue: reply.json["role"].text ?? "") != nil)
                #expect(reply.headers["cache-control"] == "no-store")
            }
            #expect(try await service.send(.get("/v1/callers/self")).problem == "unauthenticated")
        }
    }
}
