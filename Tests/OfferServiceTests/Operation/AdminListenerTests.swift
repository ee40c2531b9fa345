// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferService
import TestSupport
import Testing

/// Health, metrics and administration have an address of their own, if the operator wants one.
@Suite(.overSQLite, .mayBlock) struct AdminListenerTests {
    @Test func `answers administration there, and nothing else`() async throws {
        var files = TestFiles()
        files.settings = [.adminListen: "127.0.0.1:0"]
        try await withService(.loopback, files) { service in
            let port = try #require(service.adminPort)
            let calls: [(Call, Int)] = [
                (.get("/health/live"), 200), (.get("/health/ready"), 200), (.get("/metrics"), 200),
                (.get("/v1/keys"), 401), (.get("/nowhere"), 404), (service.call(offer: "open"), 404),
            ]
            for (call, status) in calls {
                #expect(try await sendOverLoopback([call], to: port)[0].status == status, "\(call.path)")
            }
            let seal = service.call(as: "admin", #"{"reason": "leak"}"#).at("/v1/seal")
            #expect(try await sendOverLoopback([seal], to: port)[0].status == 200)
            #expect(try await service.sign(offer: "open").problem == "sealed")
        }
    }

    @Test func `there is none without a setting`() async throws {
        try await withService(.loopback) { service in #expect(service.adminPort == nil) }
    }
}
