// SPDX-License-Identifier: Apache-2.0
import HTTP
import OfferService
import Testing

/// Paths, methods, content types and sizes.
struct ProtocolTests {
    @Test(
        arguments: Wire.allCases,
        [
            "application/json", "application/json; charset=utf-8", "application/json;charset=UTF-8",
            #"application/json; charset="utf-8""#, "Application/JSON",
        ]
    )
    func `takes JSON in UTF-8`(wire: Wire, contentType: String) async throws {
        try await withService(wire) { service in
            let reply = try await service.send(call(service, contentType: [contentType]))
            #expect(reply.status == 200, "\(reply)")
        }
    }

    /// The tests of the HTTP server show when it says so.
    @Test func `is overloaded while large bodies take as much as they may`() throws {
        let problem = Problem(.request(.rejected(.tooManyBodyBytes)))
        #expect(problem.name == "overloaded" && problem.status == 503)
        #expect(problem.headers.map(\.name) == ["Retry-After"] && problem.headers.map(\.value) == ["1"])
    }

    @Test(
        arguments: Wire.allCases,
        [
            [], [""], ["text/plain"], ["text/json"], ["application/json; charset=utf-16"],
            ["application/json; charset=latin1"], ["application/jsonx"], ["application/x-www-form-urlencoded"],
            ["application/json, application/json"], ["application/json", "application/json"],
            ["application/problem+json"],
        ]
    )
    func `refuses every other content type`(wire: Wire, contentType: [String]) async throws {
        try await withService(wire) { service in
            let reply = try await service.send(call(service, contentType: contentType))
            #expect(reply.status == 415)
            #expect(reply.problem == "unsupported-media-type", "\(reply)")
        }
    }

    private func call(_ service: TestService, contentType: [String]) -> Call {
        var call = service.call(offer: "open")
        call.fields = call.fields.filter { $0.name != "Content-Type" } + contentType.map { ("Content-Type", $0) }
        return call
    }

    static let routes: [(path: String, allowed: [String])] = [
        ("/v1/app-store/promotional-offers/signatures", ["POST"]),
        ("/health/live", ["GET", "HEAD"]), ("/health/ready", ["GET", "HEAD"]), ("/metrics", ["GET", "HEAD"]),
        ("/openapi.yaml", ["GET", "HEAD"]),
    ]

    @Test(arguments: Wire.allCases, routes)
    func `allows each call its methods, and names them when it refuses another method`(
        wire: Wire,
        route: (path: String, allowed: [String])
    ) async throws {
        try await withService(wire) { service in
            for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
                let reply = try await service.send(Call(method: method, path: route.path))
                if route.allowed.contains(method) {
                    #expect(reply.status != 405, "\(method) \(reply)")
                } else {
                    #expect(reply.status == 405, "\(method) \(reply)")
                    #expect(reply.headers["allow"] == route.allowed.joined(separator: ", "))
                    if method != "HEAD" { #expect(reply.problem == "method-not-allowed") }
                }
            }
        }
    }

    @Test(
        arguments: Wire.allCases,
        [
            "/", "/v1", "/v1/app-store/promotional-offers", "/v1/app-store/promotional-offers/signatures/",
            "/V1/app-store/promotional-offers/signatures", "/v1//app-store/promotional-offers/signatures",
            "/v1/app-store/promotional-offers/%73ignatures", "/v1/../v1/app-store/promotional-offers/signatures",
            "/v1/keys/", "/v1/audit", "/audit", "/other", "/metrics/",
        ]
    )
    func `has nothing at any other path, however near`(wire: Wire, path: String) async throws {
        try await withService(wire) { service in
            var call = service.call(offer: "open")
            call.path = path
            let reply = try await service.send(call)
            #expect(reply.status == 404)
            #expect(reply.problem == "not-found", "\(reply)")
        }
    }

    @Test(arguments: Wire.allCases)
    func `takes a body up to its limit and no byte more`(wire: Wire) async throws {
        try await withService(wire) { service in
            var call = service.call(offer: "open")
            let padding = { count in [UInt8](repeating: UInt8(ascii: " "), count: count - call.body.count) }
            let (limit, body) = (65_536, call.body)
            call.body = body + padding(limit)
            #expect(try await service.send(call).status == 200)
            call.body.append(UInt8(ascii: " "))
            let reply = try await service.send(call)
            switch wire {
            case .loopback:
                #expect(reply.status == 413)
                #expect(reply.problem == "too-large", "\(reply)")
            case .inProcess:
                #expect(reply.problem == "malformed-json", "without the server its reader still has a limit: \(reply)")
            }
        }
    }

    @Test(arguments: [("/health/live", 200), ("/health/ready", 200), ("/metrics", 505), ("/problems", 505)])
    func `answers health checks of HTTP/1.0, and nothing else of it`(path: String, status: Int) async throws {
        try await withService(.loopback) { service in
            for method in ["GET", "HEAD"] {
                var call = Call(method: method, path: path)
                call.version = "HTTP/1.0"
                let answer = try await service.send(call)
                #expect(answer.status == status, "\(method): \(answer)")
                #expect(answer.headers["connection"] == "close")
            }
        }
    }

    @Test func `says in its own form what the HTTP server refuses by itself`() async throws {
        try await withService(.loopback) { service in
            let long = service.call(offer: "open").with("X-Long", String(repeating: "x", count: 9000))
            let head = try await service.send(long)
            #expect(head.status == 431)
            #expect(head.problem == "too-large", "\(head)")
            let twice = service.call(offer: "open").with("Content-Length", "3")
            let length = try await service.send(twice)
            #expect(length.status == 400)
            #expect(length.problem == "malformed-http", "\(length)")
            let unknown = try await service.send(Call(method: "BREW", path: "/health/live"))
            #expect(unknown.status == 501)
            #expect(unknown.problem == "malformed-http", "\(unknown)")
        }
    }

    @Test(arguments: Wire.allCases)
    func `gives every problem a type, a title, its status and, once it is read, an instance`(
        wire: Wire
    ) async throws {
        try await withService(wire) { service in
            let calls = [
                Call.get("/nothing"), Call(method: "PUT", path: "/metrics"), Call(), service.call("{"),
                service.call(offer: "nothing"), service.call(as: "auditor", offer: "open"),
            ]
            for reply in try await service.send(calls) {
                #expect(reply.headers["cache-control"] == "no-store")
                #expect(reply.json.names.isSuperset(of: ["type", "title", "status", "detail", "instance"]), "\(reply)")
                #expect(reply.json["instance"].text?.hasPrefix("urn:uuid:") == true)
            }
        }
    }
}
