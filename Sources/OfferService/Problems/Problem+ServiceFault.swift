// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import OfferDomain
import TransparencyLog

/// Problems of the service itself.
extension Problem {
    init(_ fault: ServiceFault) {
        switch fault {
        case .keyUnavailable(let purpose): self.init(keyUnavailable: purpose)
        case .storeUnavailable(let seconds): self.init(storeUnavailable: seconds ?? 5)
        case .changeUnconfirmed(let seconds): self.init(changeUnconfirmed: seconds ?? 5)
        case .storeLimitReached(let seconds): self.init(storeLimitReached: seconds ?? 5)
        case .refusedByStore(let store, let app): self.init(serviceRefusedBy: store, for: app)
        case .auditUnavailable:
            self.init(auditUnavailable: "Only what is on record is signed, so nothing was signed. Try again.")
        case .overloaded:
            self.init(
                "overloaded",
                title: "Too many requests are waiting",
                status: 503,
                detail: "Nothing was decided. Try again."
            )
            headers = [("Retry-After", "1")]
        case .logUnreadable(let error):
            self.init(
                "log-unreadable",
                title: "The audit log could not be read",
                status: 503,
                detail: error.description
            )
        case .signingFailed: self.init(signingFailed: ())
        case .sealed(let causes):
            let names = causes.map(\.rawValue).joined(separator: ", ")
            self.init("sealed", title: "The service is sealed", status: 503, detail: Self.sealed(names, causes))
            if causes.allSatisfy(\.endsByItself) { headers = [("Retry-After", "5")] }
        case .stopNotRecorded:
            self.init(
                auditUnavailable:
                    "The change is in effect, but it is not recorded yet, and a restart might lose it. "
                    + "The service tries again each second."
            )
        case .stillSealed(let obstacles): self.init(stillSealed: obstacles)
        }
    }

    private init(keyUnavailable purpose: KeyPurpose) {
        self.init(
            "key-unavailable",
            title: "No active key",
            status: 503,
            detail: "No key is active for this app and the purpose \(purpose.rawValue)."
        )
    }

    private init(storeUnavailable seconds: Int) {
        self.init(
            "store-unavailable",
            title: "The store could not be asked",
            status: 503,
            detail: "Whether the customer is eligible is not known, so nothing was signed. Try again."
        )
        headers = [("Retry-After", String(seconds))]
    }

    private init(serviceRefusedBy store: Store, for app: AppName) {
        self.init(
            "store-refuses-service",
            title: "The store refuses this service",
            status: 500,
            detail:
                "\(store.title.capitalizedFirst) refuses this service's credentials for \(app). Waiting does not help: an operator has to "
                + "run offer-signer check --live."
        )
    }

    private init(auditUnavailable detail: String) {
        self.init(
            "audit-unavailable",
            title: "The record could not be written",
            status: 503,
            detail: detail
        )
        headers = [("Retry-After", "5")]
    }

    private init(signingFailed: Void) {
        self.init(
            "signing-failed",
            title: "The signature could not be made",
            status: 500,
            detail: "The grant is on record, and so is this failure; no signature left the service."
        )
    }

    /// Names the causes, and for the operator what ends each.
    private static func sealed(_ names: String, _ causes: [SealCause]) -> String {
        let remedies = causes.map { causes.count == 1 ? $0.remedy : "\($0.rawValue): \($0.remedy)" }
        return "Nothing is signed or authorized now: \(names). For the operator: \(remedies.joined(separator: "; "))."
    }

    private init(stillSealed obstacles: [SealObstacle]) {
        let reasons = obstacles.map { "\($0.cause.rawValue): \($0.reason); \($0.cause.remedy)." }
            .joined(separator: " ")
        self.init(
            "still-sealed",
            title: "What sealed the service still holds",
            status: 409,
            detail: "Nothing was lifted. \(reasons)"
        )
    }
}

extension String {
    /// The same at the beginning of a sentence.
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
