// SPDX-License-Identifier: Apache-2.0
import OfferService
import TestSupport
import Testing

@testable import Ledger

/// Every message about a seal ends with the command or the setting that helps.
struct SealRemedyTests {
    private static var helps: Regex<Substring> { #/offer-signer |--[a-z-]+|POST /v1/|chrony/# }

    @Test(arguments: SealCause.allCases)
    func `names a command or a setting`(cause: SealCause) {
        #expect(cause.remedy.contains(Self.helps))
        let problem = Problem(.service(.sealed([cause])))
        #expect(problem.detail.contains(cause.rawValue) && problem.detail.contains(cause.remedy))
    }

    @Test func `readiness and the log say so too`() async throws {
        try await withService { service async throws in
            service.seal.seal(.clockUnsynchronised, detail: "nothing keeps the clock right")
            let ready = try await service.get("/health/ready", as: "nobody")
            #expect(ready.body.contains("serve with --clock-check warn"), "\(ready.body)")
            let refused = try await service.sign(offer: "store_open")
            #expect(refused.json["detail"].text?.contains("--clock-check warn") == true, "\(refused.body)")
            #expect(service.log.lines.contains { $0.contains("sealed") && $0.contains("--clock-check warn") })
        }
    }
}
