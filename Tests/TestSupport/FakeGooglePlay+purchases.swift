// SPDX-License-Identifier: Apache-2.0

extension FakeGooglePlay {
    /// What a customer buys, and how.
    package struct Purchase: Encodable, Sendable {
        package var productID, basePlanID: String
        package var offerID: String?
        package var packageName: String
        /// Otherwise a new one.
        package var token: String?
        package var obfuscatedAccountID, obfuscatedProfileID: String?
        package var region: String
        /// Milliseconds since 1970; otherwise `daysAgo` days before the fake's clock.
        package var at: Int64?
        package var daysAgo: Double
        /// Otherwise as the base plan says, or 30.
        package var periodDays: Double?
        /// By a license tester.
        package var isTest: Bool
        package var isAcknowledged: Bool?
        /// Not paid for yet.
        package var pending: Bool
        /// A purchase that it links to without more ado, as one that was signed up for again before it ended.
        package var linkedToken: String?
        /// The purchase that ends by this one, as by a change of plan.
        package var replaces: String?
        /// The purchase that had ended, if the customer bought in the Play Store instead of in the app.
        package var resubscribes: String?
        /// What differs in the line of the answer.
        package var members: FakeMembers

        package init(
            _ productID: String,
            _ basePlanID: String = "monthly",
            offer offerID: String? = nil,
            in packageName: String = firstApp,
            token: String? = nil,
            obfuscatedAccountID: String? = nil,
            obfuscatedProfileID: String? = nil,
            region: String = "US",
            at: Int64? = nil,
            daysAgo: Double = 0,
            periodDays: Double? = nil,
            isTest: Bool = false,
            isAcknowledged: Bool? = nil,
            pending: Bool = false,
            linkedToken: String? = nil,
            replaces: String? = nil,
            resubscribes: String? = nil,
            members: FakeMembers = [:]
        ) {
            self.productID = productID
            self.basePlanID = basePlanID
            self.offerID = offerID
            self.packageName = packageName
            self.token = token
            self.obfuscatedAccountID = obfuscatedAccountID
            self.obfuscatedProfileID = obfuscatedProfileID
            self.region = region
            self.at = at
            self.daysAgo = daysAgo
            self.periodDays = periodDays
            self.isTest = isTest
            self.isAcknowledged = isAcknowledged
            self.pending = pending
            self.linkedToken = linkedToken
            self.replaces = replaces
            self.resubscribes = resubscribes
            self.members = members
        }

        enum CodingKeys: String, CodingKey {
            case productID = "productId"
            case basePlanID = "basePlanId"
            case offerID = "offerId"
            case obfuscatedAccountID = "obfuscatedAccountId"
            case obfuscatedProfileID = "obfuscatedProfileId"
            case packageName, token, region, at, daysAgo, periodDays, isTest, isAcknowledged, pending, linkedToken
            case replaces, resubscribes, members
        }
    }

    /// What happens to a purchase; ``notificationType`` is what Google sends of it.
    package struct Event: Sendable {
        let name: String
        let arguments: FakeMembers

        /// Any event that `Tests/Fakes/GooglePlay/life.py` has.
        package init(_ name: String, _ arguments: FakeMembers = [:]) {
            self.name = name
            self.arguments = arguments
        }

        /// 2: into the next period, and the next phase if this one is over.
        package static let renew = Event("renew")
        package static func renew(periods: Int) -> Event { Event("renew", ["periods": .integer(periods)]) }
        /// 1: paid after all; a period begins now.
        package static let recover = Event("recover")
        /// 3: runs to its end, and then expires by itself, without a message.
        package static let cancel = Event("cancel")
        package static func cancel(by: Canceller, survey: FakeMembers? = nil) -> Event {
            var arguments: FakeMembers = ["by": .text(by.rawValue)]
            if let survey { arguments["survey"] = .object(survey) }
            return Event("cancel", arguments)
        }
        /// 7: the cancellation was taken back.
        package static let restart = Event("restart")
        /// 6: payment failed, and access goes on for three days.
        package static let grace = Event("grace")
        /// 5: payment failed, and access has ended.
        package static let hold = Event("hold")
        /// 11: at the end of the period it will pause.
        package static let schedulePause = Event("schedulePause")
        /// 10: no access, and no payment, for a month.
        package static let pause = Event("pause")
        /// 9: the next payment was moved.
        package static func `defer`(days: Double) -> Event { Event("defer", ["days": .number(days)]) }
        /// 13: it ended now.
        package static let expire = Event("expire")
        package static func expire(by: Canceller) -> Event { Event("expire", ["by": .text(by.rawValue)]) }
        /// 12, and a message that the purchase is void: the money went back.
        package static let revoke = Event("revoke")
        /// A message that the money went back, or a part of it; the purchase goes on.
        package static func void(isPartial: Bool) -> Event { Event("void", ["refundType": isPartial ? 2 : 1]) }
        /// 18: of installments.
        package static let scheduleCancellation = Event("scheduleCancellation")
        /// 17: a further line.
        package static func addItem(_ productID: String, _ basePlanID: String, offer: String? = nil) -> Event {
            var arguments: FakeMembers = ["productId": .text(productID), "basePlanId": .text(basePlanID)]
            if let offer { arguments["offerId"] = .text(offer) }
            return Event("addItem", arguments)
        }
        /// 19: a new price is announced.
        package static let changePrice = Event("changePrice")
        /// 22: whether the customer agrees to a higher price is asked, or answered; that many days are left.
        package static func stepUpPrice(_ state: String, daysLeft: Int = 7) -> Event {
            Event("stepUpPrice", ["state": .text(state), "days": .integer(daysLeft)])
        }
        /// 4: what was pending is paid.
        package static let completePending = Event("completePending")
        /// 20: what was pending is not going to be paid.
        package static let cancelPending = Event("cancelPending")
        /// No message: earlier messages about the purchase go.
        package static let acknowledge = Event("acknowledge")
        /// No message: 410 from now on.
        package static let delete = Event("delete")
    }

    package enum Canceller: String, CaseIterable, Sendable {
        case user, system, developer
    }

    /// What was done to a purchase, and the notifications that come of it, to be given to ``push(_:_:)``.
    package struct Outcome: Decodable, Hashable, Sendable {
        package let token: String
        package let messageIDs: [String]

        enum CodingKeys: String, CodingKey {
            case token
            case messageIDs = "messageIds"
        }
    }

    /// Buys.
    ///
    /// The notification of the new purchase comes first, then the one of the purchase that it replaces.
    @discardableResult
    package func buy(_ purchase: Purchase) throws -> Outcome {
        try call("purchase", purchase)
    }

    /// Lets something happen to a purchase, now by the fake's clock, or in milliseconds since 1970.
    ///
    /// What the store answers about it is at once as after the event.
    @discardableResult
    package func happen(
        _ event: Event,
        to token: String,
        at milliseconds: Int64? = nil,
        daysAgo: Double = 0
    ) throws -> Outcome {
        var arguments = event.arguments
        arguments["token"] = .text(token)
        arguments["event"] = .text(event.name)
        arguments["daysAgo"] = .number(daysAgo)
        if let milliseconds { arguments["at"] = .integer(Int(milliseconds)) }
        return try call("happen", arguments)
    }

    /// Sets what a JSON pointer names in every answer about a purchase from now on; `.null` takes it away.
    package func editPurchase(_ token: String, _ path: String, _ value: FakeValue) throws {
        try perform("editPurchase", ["token": .text(token), "path": .text(path), "value": value] as FakeMembers)
    }

    /// The JSON that a good answer has for a purchase, also for one that is gone.
    package func json(ofPurchase token: String) throws -> String {
        let written: Written = try call("readPurchase", ["token": token])
        return written.text
    }
}
