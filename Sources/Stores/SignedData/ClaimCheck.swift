// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain

/// Checks what signed data claims: its app, its environment and its time.
struct ClaimCheck {
    let apps: [AppStoreApp]
    let now: Timestamp
    /// Data signed earlier is too old; nil takes any.
    var notSignedBefore: Timestamp?

    /// The app with that bundle ID; an ID that no app could have counts as another app's.
    func app(_ reader: PayloadReader) throws(SignedDataFault) -> AppStoreApp {
        let bundleID = try reader.required("bundleId", reader.text("bundleId"))
        guard let app = apps.first(where: { $0.bundleID.text.utf8.elementsEqual(bundleID.utf8) }) else {
            throw .otherApp(pointer: reader.place(of: "bundleId"))
        }
        return app
    }

    /// The environment, if `app` takes it.
    func environment(
        _ reader: PayloadReader,
        _ name: String = "environment",
        of app: AppStoreApp
    ) throws(SignedDataFault) -> StoreEnvironment {
        try environment(reader, name, takenBy: [app])
    }

    func environment(
        _ reader: PayloadReader,
        _ name: String = "environment",
        takenBy apps: [AppStoreApp]
    ) throws(SignedDataFault) -> StoreEnvironment {
        let text = try reader.required(name, reader.text(name))
        if text == "Xcode" || text == "LocalTesting" { throw .localTestData }
        let environment: StoreEnvironment? = Reported<StoreEnvironment>(text).known
        guard let environment, apps.contains(where: { $0.environments.contains(environment) }) else {
            throw .environmentNotTaken(pointer: reader.place(of: name))
        }
        return environment
    }

    /// The app's number, which production data must have and the sandbox's need not.
    func appAppleID(
        _ reader: PayloadReader,
        of app: AppStoreApp,
        _ environment: StoreEnvironment
    ) throws(SignedDataFault) -> Int64? {
        let found = try reader.integer("appAppleId")
        guard environment == .production else { return found }
        guard let expected = app.appAppleID else { throw .appAppleIDNotSet }
        guard try reader.required("appAppleId", found) == expected else {
            throw .otherAppAppleID(pointer: reader.place(of: "appAppleId"))
        }
        return found
    }

    /// The time of signing, if it is neither in the future nor too long ago.
    func signedAt(_ reader: PayloadReader, _ name: String = "signedDate") throws(SignedDataFault) -> Timestamp {
        let signedAt = try reader.required(name, reader.instant(name))
        guard signedAt <= now.adding(minutes: 5) else { throw .signedInFuture }
        if let notSignedBefore, signedAt < notSignedBefore { throw .tooOld }
        return signedAt
    }
}
