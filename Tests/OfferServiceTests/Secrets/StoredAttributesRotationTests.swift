// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

/// What is stored of customers when the secret of their IDs changes.
@Suite(.overBothEngines) struct StoredAttributesRotationTests {
    private static let rows: [StaticString] = ["SELECT hex(subject) FROM customer_attributes"]

    private func ask(_ service: TestService, _ customer: String) async throws -> Int {
        try await service.sign(offer: "gold", #""customerId": "\#(customer)""#).status
    }

    @Test func `it follows its customer to a new secret, by whichever request names them first`() async throws {
        try await withService { service async throws in
            for customer in ["ada", "grace", "zoe"] { try await service.store(#"{"tier": "gold"}"#, of: customer) }
            let before = Set(try service.rows(Self.rows))
            try service.beginSecretVersion("2")
            #expect(try await ask(service, "ada") == 200)
            #expect(try await service.send(service.attributesCall("GET", of: "grace")).status == 200)
            #expect(try await service.send(service.attributesCall("DELETE", of: "zoe")).status == 200)
            let after = Set(try service.rows(Self.rows))
            #expect(after.count == 2 && after.isDisjoint(with: before))
            try await service.store(#"{"tier": "silver"}"#, of: "ada")
            #expect(try await ask(service, "ada") == 403)
            try service.beginSecretVersion("3")
            #expect(try await ask(service, "ada") == 403)
            #expect(try await ask(service, "grace") == 200)
        }
    }

    @Test func `what was stored under a secret is erased with it, named since or not`() async throws {
        try await withService { service async throws in
            for customer in ["ada", "grace"] { try await service.store(#"{"tier": "gold"}"#, of: customer) }
            try service.beginSecretVersion("2")
            try await service.store(#"{"tier": "gold"}"#, of: "zoe")
            #expect(try await ask(service, "ada") == 200)
            try service.destroySecretVersion("1")
            #expect(try service.rows(Self.rows).count == 1)
            for (customer, status) in [("ada", 403), ("grace", 403), ("zoe", 200)] {
                #expect(try await ask(service, customer) == status, "\(customer)")
            }
        }
    }

    @Test func `what was moved to a secret is erased with it, though an earlier one is kept`() async throws {
        try await withService { service async throws in
            for customer in ["ada", "grace", "zoe"] { try await service.store(#"{"tier": "gold"}"#, of: customer) }
            try service.beginSecretVersion("2")
            for customer in ["ada", "zoe"] { #expect(try await ask(service, customer) == 200) }
            try service.beginSecretVersion("3")
            #expect(try await ask(service, "zoe") == 200)
            try service.destroySecretVersion("2")
            for (customer, status) in [("ada", 403), ("grace", 200), ("zoe", 200)] {
                #expect(try await ask(service, customer) == status, "\(customer)")
            }
            #expect(try service.rows(Self.rows).count == 2)
        }
    }

    @Test func `a service that has not read a new secret yet stores and tells nothing`() async throws {
        try await withService { service async throws in
            try await service.store(#"{"tier": "gold"}"#, of: "ada")
            let outdated = service.current.value
            try service.beginSecretVersion("2")
            service.current.swap(outdated)
            let body = #"{"attributes": {"tier": "silver"}, "expiresInSeconds": 60}"#
            for method in ["PUT", "GET", "DELETE"] {
                let reply = try await service.send(service.attributesCall(method, of: "ada", body))
                #expect(reply.status == 503 && reply.problem == "audit-unavailable", "\(method): \(reply)")
            }
            #expect(try service.entries("customer.attributes").count == 1)
        }
    }
}
