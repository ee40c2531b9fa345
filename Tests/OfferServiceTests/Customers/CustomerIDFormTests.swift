// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

/// A team can say which customer ids it has, so that one that can be guessed is noticed before it is counted under.
@Suite(.overSQLite) struct CustomerIDFormTests {
    private static func files(_ forms: String) -> TestFiles {
        var files = TestFiles()
        files.offers = files.offers.replacing(
            "bundleId: \"com.example.app\",",
            with: "bundleId: \"com.example.app\", customers: {idForms: [\(forms)]},"
        )
        return files
    }

    private static let uuid = "5b9d3c1e-7a10-4c55-9d7e-2f6b8f0a4c11"
    private static let digest = String(repeating: "0123456789abcdef", count: 4)
    private static let ulid = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

    @Test(arguments: [
        (#""uuid""#, [uuid, uuid.uppercased()], [digest, ulid, "42", "anna@example.com"]),
        (
            #""sha256", "ulid""#, [digest, digest.uppercased(), ulid],
            [uuid, "42", String(digest.dropLast()), "81ARZ3NDEKTSV4RRFFQ69G5FAV"]
        ),
        ("", [uuid, digest, "42", "anna@example.com"], []),
    ])
    func `takes customer ids of the forms that the offers file names, and says so of others`(
        forms: String,
        taken: [String],
        refused: [String]
    ) async throws {
        try await withService(.inProcess, Self.files(forms)) { service in
            for id in taken {
                let reply = try await service.sign(offer: "open", #""customerId": "\#(id)""#)
                #expect(reply.status == 200, "\(id): \(reply)")
            }
            for id in refused {
                let reply = try await service.sign(offer: "open", #""customerId": "\#(id)""#)
                #expect(reply.status == 400 && reply.problem == "invalid-request", "\(id): \(reply)")
                #expect(reply.body.contains("/customerId") && reply.body.contains("customers.idForms"))
                // Not the whole answer: its `instance` is random, and has any short id in it now and then.
                let error = reply.json["errors"][0]["detail"].text ?? ""
                #expect(error.contains("idForms") && !error.contains(id), "\(id): \(reply)")
            }
        }
    }

    @Test(arguments: ["signatures", "batch", "eligibility", "transfer"])
    func `every call that takes a customer id holds it to the forms`(call: String) async throws {
        try await withService(.inProcess, Self.files(#""uuid""#)) { service in
            let request = """
                {"bundleId": "com.example.app", "productId": "pro.monthly", "offerId": "open", "customerId": "42",
                 "facts": {"subscribedBefore": true}}
                """
            var asked: Call
            switch call {
            case "signatures": asked = service.call(request)
            case "batch":
                asked = service.call(#"{"requests": [\#(request)]}"#)
                asked.path = "/v1/app-store/promotional-offers/signatures/batch"
            case "eligibility":
                asked = service.call(#"{"bundleId": "com.example.app", "customerId": "42"}"#)
                asked.path = "/v1/eligibility"
            default:
                asked = service.call(
                    #"{"bundleId": "com.example.app", "from": {"anonymousId": "a"}, "to": {"customerId": "42"}}"#
                )
                asked.path = "/v1/customers/transfers"
            }
            let reply = try await service.send(asked)
            #expect(reply.status == (call == "batch" ? 200 : 400), "\(reply)")
            #expect(reply.body.contains("customers.idForms"), "\(reply)")
        }
    }
}
