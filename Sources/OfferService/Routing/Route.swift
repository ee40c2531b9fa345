// SPDX-License-Identifier: Apache-2.0
package import HTTP

/// The calls of the service, by topic; ``RouteMatch`` finds the one of a path.
package enum Route: Hashable, Sendable {
    case offers(OfferRoute)
    case compatibility(CompatibilityRoute)
    case stores(StoreRoute)
    case customers(CustomerRoute)
    case outcomes(OutcomeRoute)
    case log(LogRoute)
    case searches(SearchRoute)
    case records(RecordRoute)
    case stops(StopRoute)
    case operation(OperationRoute)
    case console(ConsoleRoute)
    case signIn(SignInRoute)
    /// Any other path; metrics count all of them together.
    case unknown

    /// The call within its topic; `nil` where there is no call.
    private var call: (any TopicRoute)? {
        switch self {
        case .offers(let route): route
        case .compatibility(let route): route
        case .stores(let route): route
        case .customers(let route): route
        case .outcomes(let route): route
        case .log(let route): route
        case .searches(let route): route
        case .records(let route): route
        case .stops(let route): route
        case .operation(let route): route
        case .console(let route): route
        case .signIn(let route): route
        case .unknown: nil
        }
    }

    /// The path of the call, with its parameters; `other` where there is no call.
    package var path: String { call?.rawValue ?? "other" }

    /// The methods of the call, for `Allow` in a 405 (RFC 9110, 10.2.1); none where there is no call.
    package var allowedMethods: [HTTP.Method] { call?.allowedMethods ?? [] }

    /// All calls.
    ///
    /// The first one whose path fits gets a request; of those without parameters, the most frequent comes first.
    package static let all: [Route] =
        OfferRoute.allCases.map(Route.offers) + CompatibilityRoute.allCases.map(Route.compatibility)
        + StoreRoute.allCases.map(Route.stores) + CustomerRoute.allCases.map(Route.customers)
        + OutcomeRoute.allCases.map(Route.outcomes) + LogRoute.allCases.map(Route.log)
        + SearchRoute.allCases.map(Route.searches) + RecordRoute.allCases.map(Route.records)
        + StopRoute.allCases.map(Route.stops) + OperationRoute.allCases.map(Route.operation)
        + ConsoleRoute.allCases.map(Route.console) + SignInRoute.allCases.map(Route.signIn)
}
