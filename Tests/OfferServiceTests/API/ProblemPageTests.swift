// SPDX-License-Identifier: Apache-2.0
import OfferService
import TestSupport
import Testing

/// `type` of a problem, resolved against the service, is its explanation.
struct ProblemPageTests {
    @Test func `answers for each problem with its section, and for no other`() async throws {
        let names = try Repository.text("docs/problems.md").matches(of: #/(?m)^## (\S+)$/#).map { String($0.1) }
        #expect(names.count > 20)
        try await withService { service async throws in
            for name in names {
                let reply = try await service.get("/problems/\(name)", as: "nobody")
                #expect(reply.status == 200 && reply.body.hasPrefix("# \(name)\n"), "\(name)")
                #expect(reply.body.contains("**What to do.**") && !reply.body.contains("\n## "), "\(name)")
            }
            #expect(try await service.get("/problems/", as: "nobody").body.hasPrefix("# Problems\n"))
            #expect(try await service.get("/problems/nothing", as: "nobody").status == 404)
        }
    }
}
