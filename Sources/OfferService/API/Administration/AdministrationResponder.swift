// SPDX-License-Identifier: Apache-2.0
import HTTP

/// Answers only health, metrics and administration calls, on a separate listener that keeps working whatever happens at
/// the other one, and that only operators can reach.
struct AdministrationResponder: Responder {
    let api: API

    func respond(to request: Request) async -> Response {
        guard RouteMatch(path: request.path).route.isOfAdministration else {
            return Problem(.request(.noSuchPath)).response(requestID: nil)
        }
        return await api.respond(to: request)
    }

    func turnEnded() { api.turnEnded() }
}

extension Route {
    /// Whether it is for those who run the service, or read its records.
    var isOfAdministration: Bool {
        switch self {
        case .offers, .compatibility, .stores, .customers, .outcomes, .unknown: false
        case .log, .searches, .records, .stops, .operation, .console, .signIn: true
        }
    }
}
