// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
package import HTTP
import JSON
package import OfferDomain

/// Reads what App Store Connect has of an app: its subscription groups, subscriptions and promotional offers.
///
/// Source: Apple, [App Store Connect API](https://developer.apple.com/documentation/appstoreconnectapi).
package struct AppStoreConnectAPI: Sendable {
    private let server: AuthorizedServer

    package init(_ server: AuthorizedServer) { self.server = server }

    /// Pages of one list; of 200 resources each.
    private static let mostPages = 20

    /// Everything that is sold by subscription in an app; `nil` if the key sees no such app.
    package func app(_ bundleID: BundleID) async throws(AppStoreConnectError) -> ConnectApp? {
        let found = try await list(
            ["v1", "apps"],
            [("filter[bundleId]", bundleID.text), ("fields[apps]", "bundleId,name")]
        )
        // The filter may match more than the very id.
        guard let app = found.data.first(where: { $0.attribute("bundleId") == bundleID.text }) else { return nil }
        let groups = try await list(
            ["v1", "apps", app.id, "subscriptionGroups"],
            [("include", "subscriptions"), ("limit", "200"), ("limit[subscriptions]", "50")]
        )
        var subscriptions: [ConnectSubscription] = []
        for group in groups.data {
            for id in group.related("subscriptions") {
                guard let found = groups.included.first(where: { $0.id == id && $0.type == "subscriptions" }) else {
                    continue
                }
                subscriptions.append(try await subscription(found, in: group))
            }
        }
        return ConnectApp(id: app.id, name: app.attribute("name") ?? "", subscriptions: subscriptions)
    }

    private func subscription(
        _ resource: ConnectResource,
        in group: ConnectResource
    ) async throws(AppStoreConnectError) -> ConnectSubscription {
        let offers = try await list(["v1", "subscriptions", resource.id, "promotionalOffers"], [("limit", "200")])
        return ConnectSubscription(
            productID: resource.attribute("productId") ?? "",
            state: resource.attribute("state") ?? "",
            groupID: group.id,
            groupName: group.attribute("referenceName") ?? "",
            // What the API calls the offer's code is the identifier that is signed.
            offerIDs: offers.data.compactMap { $0.attribute("offerCode") }
        )
    }

    private func list(
        _ path: [String],
        _ query: [(name: String, value: String)]
    ) async throws(AppStoreConnectError) -> (data: [ConnectResource], included: [ConnectResource]) {
        let (origin, headers) = (server.origin, server.headers)
        var (data, included): ([ConnectResource], [ConnectResource]) = ([], [])
        var request: ClientRequest
        do { request = try ClientRequest(.get, origin, path: path, query: query, headers: headers) } catch {
            throw .notReached(error)
        }
        for _ in 0..<Self.mostPages {
            let object = try await answer(to: request)
            data += ConnectResource.all(object["data"])
            included += ConnectResource.all(object["included"])
            // The token goes nowhere else.
            guard let next = object["links"]?.object?["next"]?.string, next.hasPrefix("\(origin)/") else {
                return (data, included)
            }
            do { request = try ClientRequest(.get, url: next, headers: headers) } catch { throw .notReached(error) }
        }
        return (data, included)
    }

    private func answer(to request: ClientRequest) async throws(AppStoreConnectError) -> JSONObject {
        let response: ClientResponse
        do { response = try await server.transport.send(request) } catch { throw .notReached(error) }
        switch response.status {
        case 200: break
        case 401: throw .refused
        case 403: throw .forbidden
        default: throw .failed(status: response.status)
        }
        guard let object = AuthorizedServer.object(in: response) else {
            throw .failed(status: 200)
        }
        return object
    }
}

/// Why App Store Connect did not give its data.
package enum AppStoreConnectError: Error, Hashable, Sendable, CustomStringConvertible {
    case refused
    case forbidden
    case failed(status: Int)
    case notReached(ClientError)

    /// Whether the operator has to change something.
    var isWrong: Bool { self == .refused || self == .forbidden }

    /// A text for an operator, with what to do.
    package var description: String {
        switch self {
        case .refused:
            "App Store Connect refuses the key (401): check id, issuerId and file of appStoreConnect in the keys file, and "
                + "the clock. It takes a team key (AuthKey_….p8), not an In-App Purchase key."
        case .forbidden:
            "App Store Connect does not let the key read this (403): give it the role App Manager, Developer or Marketing."
        case .failed(let status): "App Store Connect answered with status \(status); try again later."
        case .notReached(let error): "App Store Connect could not be reached: \(error)"
        }
    }
}

/// One resource of JSON:API.
struct ConnectResource {
    let id: String
    let type: String
    private let object: JSONObject

    static func all(_ value: JSONValue?) -> [ConnectResource] {
        let objects = value?.array.map { $0.compactMap(\.object) } ?? value?.object.map { [$0] } ?? []
        return objects.compactMap { object in
            guard let id = object["id"]?.string, let type = object["type"]?.string else { return nil }
            return ConnectResource(id: id, type: type, object: object)
        }
    }

    func attribute(_ name: String) -> String? { object["attributes"]?.object?[name]?.string }

    /// The ids of what a relationship names.
    func related(_ name: String) -> [String] {
        let data = object["relationships"]?.object?[name]?.object?["data"]
        return data?.array?.compactMap { $0.object?["id"]?.string } ?? []
    }
}

/// An app as App Store Connect has it.
package struct ConnectApp: Hashable, Sendable {
    /// App Store Connect's resource ID, which is the app's Apple ID.
    package let id: String
    /// The app's name; empty if the answer has none.
    package let name: String
    /// The subscriptions of all groups, in the order of the groups.
    package let subscriptions: [ConnectSubscription]

    package init(id: String, name: String, subscriptions: [ConnectSubscription]) {
        (self.id, self.name, self.subscriptions) = (id, name, subscriptions)
    }
}

/// A subscription as App Store Connect has it.
package struct ConnectSubscription: Hashable, Sendable {
    /// `productId`, as StoreKit has it; empty if the answer has none.
    package let productID: String
    /// `state`, with Apple's names, such as `APPROVED`; empty if the answer has none.
    package let state: String
    /// The resource ID of the subscription group, which is `subscriptionGroupIdentifier` in signed data.
    package let groupID: String
    /// `referenceName` of the group: only the team sees it.
    package let groupName: String
    /// The promotional offers' identifiers that are signed; App Store Connect's `offerCode`.
    package let offerIDs: [String]

    package init(productID: String, state: String, groupID: String, groupName: String, offerIDs: [String]) {
        (self.productID, self.state, self.groupID) = (productID, state, groupID)
        (self.groupName, self.offerIDs) = (groupName, offerIDs)
    }
}
