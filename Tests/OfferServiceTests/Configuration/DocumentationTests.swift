// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferService
import TestSupport
import Testing

@testable import Ledger

/// The lists in the documentation, held to what the service has.
struct DocumentationTests {
    private struct ProblemText: Hashable {
        let name, title: String
    }

    /// Every problem that the source can answer with.
    private static func problems() throws -> Set<ProblemText> {
        let folder = URL(filePath: Repository.path("Sources/OfferService/Problems"))
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        let texts = try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }
        let made = #/\(\s*"([a-z0-9-]+)",\s*(?:title: )?"([^"]+)"/#
        return Set(texts.flatMap { $0.matches(of: made) }.map { ProblemText(name: String($0.1), title: String($0.2)) })
    }

    @Test func `docs/problems_md has a heading and an example for each problem, and for no other`() throws {
        let problems = try Self.problems()
        #expect(problems.count > 20)
        let page = try Repository.text("docs/problems.md")
        let headings = page.matches(of: #/(?m)^## (\S+)$/#).map { String($0.1) }
        #expect(Set(headings) == Set(problems.map(\.name)) && Set(headings).count == headings.count)
        let examples = page.matches(of: #/"type": "/problems/([^"]+)",\s*"title": "([^"]+)"/#)
        #expect(Set(examples.map { ProblemText(name: String($0.1), title: String($0.2)) }) == problems)
        let blocks = page.components(separatedBy: "\n```").dropFirst()
        #expect(blocks.count == 2 * problems.count, "each example is one block that ends")
        for block in blocks where block.hasPrefix("json\n") {
            #expect(throws: Never.self, "\(block)") { try Tree(String(block.dropFirst(5))) }
        }
    }

    @Test func `openapi_yaml names each problem, and no other`() throws {
        let page = try Repository.text("openapi.yaml")
        let listed = page.matches(of: #/(?m)^\s+- /problems/(\S+)$/#).map { String($0.1) }
        #expect(Set(listed) == Set(try Self.problems().map(\.name)) && Set(listed).count == listed.count)
        let mentioned = Set(page.matches(of: #//problems/([a-z-]+)/#).map { String($0.1) })
        #expect(mentioned.subtracting(listed).isEmpty)
    }

    /// Without quotes a comma ends a description between braces, and what follows it is a member that OpenAPI doesn't know.
    @Test func `openapi_yaml quotes each description between braces that has a comma`() throws {
        let split = #/\{[^\n]*\bdescription: (?!['"])[^{}\[\n]*?, (?![A-Za-z$]+: )[^\n]*/#
        let page = try Repository.text("openapi.yaml")
        #expect(page.matches(of: split).map { String($0.0) } == [])
        #expect("{description: Too much, or too many.}".contains(split))
        #expect(!"{name: id, description: The id., schema: {type: string}}".contains(split))
    }

    /// A choice between members beside `properties`, or an object without a name, makes generated clients unusable.
    @Test func `openapi_yaml has nothing that generators of clients stumble over`() throws {
        let page = try Repository.text("openapi.yaml")
        let choice = #/(?m)^ +(?:- required: \[|not:$)/#
        #expect(page.matches(of: choice).isEmpty && "      anyOf:\n      - required: [jws]\n".contains(choice))
        let nameless = #/(?m)^ +(?:schema|items|additionalProperties):(?: \{|\n +)(?:type: object|properties:)/#
        #expect(page.matches(of: nameless).isEmpty && "          items:\n            type: object\n".contains(nameless))
        let formats = try #require(page.range(of: "            text/csv:"))
        #expect(page[..<formats.lowerBound].hasSuffix("size: 5311\n"), "JSON comes before CSV")
    }

    @Test func `docs/audit-log_md has a row for each event, and for no other`() throws {
        let page = try Repository.text("docs/audit-log.md")
        let table = try #require(
            page.components(separatedBy: "\n\n").first { $0.hasPrefix("| event | when | further members |") }
        )
        let rows = table.split(separator: "\n").dropFirst(2).flatMap { row in
            let cell = row.dropFirst().prefix { $0 != "|" }
            return cell.matches(of: #/`([a-z]+(?:\.[a-z]+)?)`/#).map { String($0.1) }.filter { $0 != "store" }
        }
        #expect(Set(rows) == Set(AuditEventName.allCases.map(\.rawValue)))
    }

    @Test(arguments: [("docs/threat-model.md", 60), ("docs/design.md", 15)])
    func `names tests that there are`(page: String, least: Int) throws {
        let folder = try #require(
            FileManager.default.enumerator(at: URL(filePath: Repository.path("Tests")), includingPropertiesForKeys: nil)
        )
        let tests = try folder.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.flatMap { file in
            try String(contentsOf: file, encoding: .utf8).matches(of: #/func `([^`]+)`/#).map { String($0.1) }
        }
        // In tables alone: elsewhere, what leans is no name.
        let rows = try Repository.text(page).split(separator: "\n").filter {
            $0.hasPrefix("| ") && $0.contains("| *") || $0.contains("Tests: *")
        }
        let named = rows.flatMap { $0.matches(of: #/(?:[|;:] )\*([^*]+)\*(?=;| \|)/#).map { String($0.1) } }
        #expect(named.count >= least)
        #expect(Set(named).subtracting(tests).isEmpty)
    }

    @Test func `docs/monitoring_md lists each metric that a service has, and no other`() async throws {
        let place = try RunningPlace()
        var served: Set<String> = []
        try await place.run { service async throws in
            let page = try await place.send(.get("/metrics"), to: service).body
            served = Set(page.matches(of: #/(?m)^# TYPE offer_signer_(\S+)/#).map { String($0.1) })
        }
        #expect(served.count > 25)
        #expect(served.contains("instances") == TestedEngine.isPostgreSQL)
        served.insert("instances")
        // In the first column of the tables of metrics, and in sentences that begin so.
        let blocks = try Repository.text("docs/monitoring.md").components(separatedBy: "\n\n")
        let listed = blocks.flatMap { block -> [String] in
            if block.hasPrefix("| metric |") {
                return block.split(separator: "\n").dropFirst(2).map { String($0.dropFirst().prefix { $0 != "|" }) }
            }
            return block.hasPrefix("Metrics: ") ? [block.components(separatedBy: ". ")[0]] : []
        }.flatMap { text in
            text.replacing(#/\([^)]*\)/#, with: "").matches(of: #/`([a-z_]+)`/#).map { String($0.1) }
        }
        #expect(Set(listed) == served, "\(Set(listed).symmetricDifference(served).sorted())")
    }
}
