// SPDX-License-Identifier: Apache-2.0
import Configuration
import Ledger
import ServiceRuntime
import Stores

/// What decides about offers.
struct OfferParts: Sendable {
    let signer: SignOffer
    let authorizer: AuthorizeOffer
    let previewer: PreviewEligibility
    let appStore: AppStore
    let committer: Committer
    let appAttest: AppAttestCall

    init(
        _ writing: WritingParts,
        stores: StoreClients,
        play: GooglePlaySources,
        settings: Settings,
        verify: @escaping SelfVerification.Verify
    ) {
        let runtime = writing.runtime
        (appStore, committer) = (stores.appStore, writing.committer)
        appAttest = AppAttestCall(
            committer: committer,
            stores: stores,
            admission: writing.admission,
            runtime: runtime
        )
        let decider = OfferDecider(
            committer: committer,
            genuineApps: appAttest.checks,
            showsFindingsToApps: settings.showsFindingsToApps,
            runtime: runtime
        )
        let verification = SelfVerification(settings.selfVerification, clock: runtime.clock, verify: verify)
        let (seal, log) = (writing.seal, runtime.log)
        let intents = IntentSigner(committer: committer, seal: seal, verification: verification, runtime: runtime)
        signer = SignOffer(decider: decider, store: stores.appStore, signer: intents, runtime: runtime)
        authorizer = AuthorizeOffer(
            decider: decider,
            playCatalogs: stores.playCatalogs,
            purchases: play.purchases,
            log: log
        )
        previewer = PreviewEligibility(
            decider: decider,
            seal: seal,
            stores: stores,
            purchases: play.purchases,
            log: log
        )
    }
}

extension OfferCalls {
    init(
        _ parts: OfferParts,
        _ admission: Admission,
        traffic: MinuteCounter<UnauthenticatedTraffic>,
        patience: Patience,
        runtime: Runtime
    ) {
        let decisions = DecisionLog(runtime)
        signatures = SignatureCall(signer: parts.signer, admission: admission, decisions: decisions)
        batches = SignatureBatchCall(
            signer: parts.signer,
            admission: admission,
            decisions: decisions,
            random: runtime.random,
            traffic: traffic,
            metrics: runtime.metrics
        )
        authorizations = AuthorizationCall(authorizer: parts.authorizer, admission: admission, decisions: decisions)
        eligibility = EligibilityCall(previewer: parts.previewer, admission: admission, decisions: decisions)
        compatible = CompatibilityCall(
            signer: parts.signer,
            admission: admission,
            decisions: decisions,
            traffic: traffic
        )
        appAttest = parts.appAttest
        retention = RetentionCall(
            store: parts.appStore,
            decider: RetentionDecider(
                signer: parts.signer,
                committer: parts.committer,
                lookup: RetentionLookup(store: parts.appStore, committer: parts.committer, log: runtime.log),
                decisions: decisions
            ),
            admission: admission,
            patience: patience,
            runtime: runtime
        )
    }
}

extension EvidenceCalls {
    init(_ writing: WritingParts, stores: StoreClients, play: GooglePlaySources) {
        let (runtime, committer) = (writing.runtime, writing.committer)
        appStoreNotifications = NotificationCall(
            receiver: NotificationReceiver(
                store: stores.appStore,
                committer: committer,
                metrics: runtime.metrics,
                log: runtime.log
            ),
            admission: writing.admission
        )
        googlePlayNotifications = GooglePlayNotificationCall(
            receiver: play.push.map { push in
                GooglePlayNotificationReceiver(
                    authentication: push,
                    store: play.purchases,
                    committer: committer,
                    metrics: runtime.metrics,
                    log: runtime.log
                )
            }
        )
        transactions = TransactionsCall(
            store: stores.appStore,
            admission: writing.admission,
            committer: committer
        )
        transfers = TransfersCall(admission: writing.admission, committer: committer)
        attributes = CustomerAttributesCall(admission: writing.admission, committer: committer)
        accountTokens = AppAccountTokenCall(
            setter: SetAppAccountToken(store: stores.appStore, committer: committer, log: runtime.log),
            admission: writing.admission
        )
    }
}
