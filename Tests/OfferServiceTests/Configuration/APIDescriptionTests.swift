// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import TestSupport
import Testing

/// What openapi.yaml lists, held to what the service has: a list that lacks a name makes generated clients refuse an answer.
struct APIDescriptionTests {
    /// The values of an enum, which follow that beginning.
    private static func names(after beginning: String) throws -> [String] {
        let page = try Repository.text("openapi.yaml")
        let rest = try #require(page.firstRange(of: beginning)).upperBound
        let lines = page[rest...].split(separator: "\n")
        return lines.prefix { $0.contains(#/^ +- [A-Za-z-]+$/#) }.map { String($0.trimmingPrefix(#/ +- /#)) }
    }

    @Test func `it has each rule and each code of a finding, and no other`() throws {
        let rules = try Self.names(
            after:
                "    Finding:\n      type: object\n      required: [rule, answer, code, because]\n      properties:\n        rule:\n          type: string\n          enum:\n"
        )
        #expect(Set(rules) == Set(Rule.names + ["provenCustomer", "appStoreFloor", "storeAnswer"]))
        let codes = try Self.names(
            after:
                "    FindingCode:\n      description: The reason, for programs; docs/rules.md explains each.\n      type: string\n      enum:\n"
        )
        #expect(Set(codes) == Set(FindingCode.allCases.map(\.rawValue)) && Set(codes).count == codes.count)
    }

    @Test func `it has each path of the service, and no other`() throws {
        let page = try Repository.text("openapi.yaml")
        let paths = Set(page.matches(of: #/(?m)^  (/\S*):$/#).map { String($0.1) })
        let routes = Route.all.filter { $0 != .console(.redirect) }.map(\.path)
        #expect(paths == Set(routes.map { $0.replacing("{+", with: "{") }))
    }

    @Test func `each rule can be written in an offers file`() throws {
        for name in Rule.names {
            let directory = try TemporaryDirectory()
            let file = """
                {apps: [{bundleId: "com.example.app", plans: [{appStore: {productId: "p"}, offers: [
                  {id: "o", appStore: {offerId: "x"}, eligibility: {\(name): 1}}]}]}]}
                """
            let path = try directory.write(Array(file.utf8), to: "offers")
            var text = ""
            do throws(ConfigurationError) { _ = try CatalogFile.read(path) } catch {
                text = error.issues.map { "\($0)" }.joined(separator: "\n")
            }
            #expect(!text.isEmpty && !text.contains("is not a rule"), "\(name): \(text)")
        }
    }
}
