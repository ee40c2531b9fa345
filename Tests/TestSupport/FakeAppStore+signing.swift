// SPDX-License-Identifier: Apache-2.0

extension FakeAppStore {
    /// What to sign: which transaction, with which members changed, and with which fault.
    private struct Signing: Encodable {
        var transactionId: String?
        var customer: String?
        /// Whether the id that begins a subscription means its latest transaction.
        var latest: Bool?
        var members: Members?
        var fault: Fault?
    }

    private struct Signed: Decodable {
        let jws: String
    }

    /// A JWS and the request body that brings it.
    package struct SignedBody: Decodable, Hashable, Sendable {
        package let jws: String
        /// The JSON object with the member signedPayload.
        package let body: String
    }

    /// A signed transaction; of an id that begins a subscription, its latest one.
    ///
    /// Dated now unless `members` has another signedDate, in milliseconds.
    package func signTransaction(
        _ transactionID: String,
        latest: Bool? = nil,
        changing members: Members = [:],
        fault: Fault? = nil
    ) throws -> String {
        let signing = Signing(transactionId: transactionID, latest: latest, members: members, fault: fault)
        let signed: Signed = try call("signTransaction", signing)
        return signed.jws
    }

    /// The renewal info of the subscription that the transaction belongs to.
    package func signRenewalInfo(
        _ transactionID: String,
        changing members: Members = [:],
        fault: Fault? = nil
    ) throws -> String {
        let signing = Signing(transactionId: transactionID, members: members, fault: fault)
        let signed: Signed = try call("signRenewalInfo", signing)
        return signed.jws
    }

    /// The app transaction of a customer, by name.
    package func signAppTransaction(
        customer: String,
        changing members: Members = [:],
        fault: Fault? = nil
    ) throws -> String {
        let signed: Signed = try call("signAppTransaction", Signing(customer: customer, members: members, fault: fault))
        return signed.jws
    }

    /// What Apple sends to ask for a retention message.
    package func signRealtimeRequest(
        _ transactionID: String,
        changing members: Members = [:],
        fault: Fault? = nil
    ) throws -> SignedBody {
        try call("signRealtimeRequest", Signing(transactionId: transactionID, members: members, fault: fault))
    }

    private struct Payload: Encodable {
        let payload: Members
        let fault: Fault?
    }

    /// Any payload, signed as it is.
    package func signPayload(_ payload: Members, fault: Fault? = nil) throws -> String {
        let signed: Signed = try call("signPayload", Payload(payload: payload, fault: fault))
        return signed.jws
    }

    /// A notification of version 2.
    package struct Notification: Encodable, Sendable {
        package var type: String
        package var subtype: String?
        /// Of the transaction and the renewal info in it; without one there is neither.
        package var transactionID: String?
        /// Otherwise a new one.
        package var notificationUUID: String?
        /// In milliseconds, also for the data in it; otherwise now.
        package var signedDate: Int?
        /// For one without a transaction; otherwise those of the transaction.
        package var environment: Environment?
        package var bundleID: String?
        /// Apple's number; otherwise the subscription's.
        package var status: Int?
        /// What differs in the notification itself, in its `data`, in its transaction and in its renewal info.
        package var members, data, transaction, renewalInfo: Members
        /// Instead of `data`.
        package var summary, externalPurchaseToken, appData: Members?
        package var fault, transactionFault, renewalInfoFault: Fault?
        /// With the results of the attempts to send it ("SUCCESS", "TIMED_OUT"…), it is in the notification history.
        package var sendAttempts: [String]?

        package init(_ type: String, _ subtype: String? = nil, transactionID: String? = nil, fault: Fault? = nil) {
            self.type = type
            self.subtype = subtype
            self.transactionID = transactionID
            self.fault = fault
            (members, data, transaction, renewalInfo) = ([:], [:], [:], [:])
        }

        enum CodingKeys: String, CodingKey {
            case transactionID = "transactionId"
            case bundleID = "bundleId"
            case type, subtype, notificationUUID, signedDate, environment, status, members, data, transaction
            case renewalInfo, summary, externalPurchaseToken, appData, fault, transactionFault, renewalInfoFault
            case sendAttempts
        }
    }

    /// A signed notification and the request body that brings it.
    package struct SignedNotification: Decodable, Hashable, Sendable {
        package let jws: String
        /// The JSON object with the member signedPayload.
        package let body: String
        package let notificationUUID: String
    }

    package func signNotification(_ notification: Notification) throws -> SignedNotification {
        try call("signNotification", notification)
    }
}
