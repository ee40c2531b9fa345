// SPDX-License-Identifier: Apache-2.0

/// All calls of the service, by what they are about.
struct APICalls: Sendable {
    let offers: OfferCalls
    let evidence: EvidenceCalls
    let records: RecordCalls
    let stops: StopCalls
    let operation: OperationCalls
    let signIn: ConsoleSignInCall
}

/// The calls that decide about offers.
struct OfferCalls: Sendable {
    let signatures: SignatureCall
    let batches: SignatureBatchCall
    let authorizations: AuthorizationCall
    let eligibility: EligibilityCall
    let compatible: CompatibilityCall
    let retention: RetentionCall
    let appAttest: AppAttestCall
}

/// The calls that submit evidence of purchases, and that say to which customer it belongs.
struct EvidenceCalls: Sendable {
    let appStoreNotifications: NotificationCall
    let googlePlayNotifications: GooglePlayNotificationCall
    let transactions: TransactionsCall
    let transfers: TransfersCall
    let attributes: CustomerAttributesCall
    let accountTokens: AppAccountTokenCall
}

/// The calls that read what is on record.
struct RecordCalls: Sendable {
    let searches: SearchCalls
    let log: LogCalls
    let checkpoints: CheckpointCalls
    let reconciliation: ReconciliationCall
    let grants: GrantCall
    let events: EventsCall
    let eventEndpoints: EventEndpointsCall
    let diagnoses: DiagnosesCall
}

/// The calls that seal the service and disable keys.
struct StopCalls: Sendable {
    let keys: KeysCall
    let seal: SealCall
}
