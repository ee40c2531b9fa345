// SPDX-License-Identifier: Apache-2.0

extension FakeAppStore {
    /// An app in App Store Connect.
    package struct ConnectApp: Encodable, Sendable {
        let id: String
        let bundleId: String
        let name: String
        let groups: [ConnectGroup]

        package init(id: String, bundleID: String, name: String, groups: [ConnectGroup]) {
            (self.id, bundleId, self.name, self.groups) = (id, bundleID, name, groups)
        }
    }

    /// A group of subscriptions.
    package struct ConnectGroup: Encodable, Sendable {
        let id: String
        let name: String
        let subscriptions: [ConnectSubscription]

        package init(id: String, name: String, subscriptions: [ConnectSubscription]) {
            (self.id, self.name, self.subscriptions) = (id, name, subscriptions)
        }
    }

    /// A subscription with the identifiers of its promotional offers.
    package struct ConnectSubscription: Encodable, Sendable {
        let id: String
        let productId: String
        let state: String
        let offers: [String]

        package init(id: String, productID: String, state: String = "APPROVED", offers: [String]) {
            (self.id, productId, self.state, self.offers) = (id, productID, state, offers)
        }
    }
}
