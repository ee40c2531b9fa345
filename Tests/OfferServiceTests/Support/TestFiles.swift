// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferService
import ServiceRuntime

@testable import Ledger
@testable import Stores

/// The files of a service under test: two apps, each with its own key, and an offer for each thing to be tried.
struct TestFiles: Sendable {
    /// Further files with secrets, by their names.
    var secrets: [String: String] = [:]
    /// What the disk of the database has, if it is not to be looked at.
    var disk: DiskReserve.Room?
    static let issuerID = "57246542-96fe-1a63-e053-0824d011072a"

    /// Without a key that may ask the store, so that what is stated decides alone.
    var keys = """
        {
          keys: [
            {id: "ACTIVE0001", issuerId: "\(issuerID)", file: "active.p8", bundleIds: ["com.example.app"],
             purposes: ["promotional-offer", "introductory-offer-eligibility"]},
            {id: "OTHER00001", issuerId: "\(issuerID)", file: "other.p8", bundleIds: ["com.example.other"],
             purposes: ["promotional-offer", "introductory-offer-eligibility"]},
          ],
          customerIds: {epoch: "1", file: "customer-ids.key"},
          auditLog: {origin: "example.com/log", file: "audit-log.key"},
        }
        """

    var offers = """
        {
          apps: [
            {
              bundleId: "com.example.app",
              plans: [
                {
                  appStore: {productId: "pro.monthly"},
                  offers: [
                    {id: "open", appStore: {offerId: "store_open"}},
                    {id: "spaced", appStore: {offerId: "pay_as_you_go.3 months"}},
                    {id: "once", appStore: {offerId: "store_once"}, eligibility: {grants: {atMost: 1}}},
                    {id: "twice_a_month", appStore: {offerId: "store_twice_a_month"},
                     eligibility: {grants: {atMost: 2, perDays: 30}}},
                    {id: "once_each", appStore: {offerId: "store_once_each"},
                     eligibility: {grants: {atMost: 1, per: "originalTransaction"}}},
                    {id: "cooldown", appStore: {offerId: "store_cooldown"}, eligibility: {cooldown: {days: 30}}},
                    {id: "budget", appStore: {offerId: "store_budget"}, eligibility: {budget: {atMost: 3, perDays: 1}}},
                    {id: "lapsed", appStore: {offerId: "store_lapsed"}, eligibility: {lapsed: {atLeastDays: 30}}},
                    {id: "gold", appStore: {offerId: "store_gold"},
                     eligibility: {attribute: {name: "tier", equals: "gold"}}},
                  ],
                },
                {
                  appStore: {productId: "pro.yearly"},
                  offers: [{id: "yearly", appStore: {offerId: "store_yearly"}}],
                },
              ],
            },
            {
              bundleId: "com.example.other",
              plans: [
                {
                  appStore: {productId: "pro.monthly"},
                  offers: [
                    {id: "open", appStore: {offerId: "store_open"}},
                    {id: "once", appStore: {offerId: "store_once"}, eligibility: {grants: {atMost: 1}}},
                  ],
                },
              ],
            },
          ],
        }
        """

    /// The private keys that are generated beside these files.
    var privateKeys = ["active.p8", "other.p8"]

    /// Where a fake App Store is; nil leaves Apple's own addresses, which nothing should ask.
    var appStore: StorePlace?

    struct StorePlace: Sendable {
        let productionURL: String
        let sandboxURL: String
        let rootsPath: String
        let trustedCertificatesPath: String
        var retries = RetryPolicy.patient
    }

    /// More settings.
    var settings: [Setting: String] = [:]

    /// Which fresh signatures are verified.
    var selfVerification = SelfVerificationMode.always

    /// Whether a signature verifies; a machine that errs says no to good ones.
    var verifies: SelfVerification.Verify = { $0.verifies($1, of: $2) }

    /// A Google Play that pushes and is asked; nil leaves the call for its notifications unset.
    var googlePlay: ScriptedPlay?

    /// After how long a retention request is answered with a message; longer than by default, since a test may be slow.
    var retentionMilliseconds: Int64 = 60_000
    /// Waits for that time; a test may say when it is over.
    var retentionPause = Pause.system
    /// How long a request waits for the keys of its token's provider; longer than by default, as above.
    var userTokens: UserTokenOptions = {
        var options = UserTokenOptions()
        options.keysMilliseconds = 60_000
        return options
    }()
    /// How long a sign-in to the console waits for the provider's token endpoint; longer than by default, as above.
    var signInMilliseconds = 60_000

    /// Whether other instances may share the database, if a server has it; then a test leaves the clock alone.
    var isShared = false

    /// Whether the service shows callers of role `app` which rule refused.
    var showsFindingsToApps = false
}
