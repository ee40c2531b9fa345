// SPDX-License-Identifier: Apache-2.0

/// One known mistake, as a change of the payload that should have been signed.
struct Variation: Sendable {
    /// What it changes; of two mistakes at once, each is of another dimension.
    enum Dimension: Sendable {
        case account, nonce, timestamp, keyID, bundleID, productID, offerID, separator, order, hashing
    }

    let dimension: Dimension
    let faults: [SignatureFault]
    /// Whether it is looked for together with another one.
    let isFrequent: Bool
    let change: @Sendable (inout PayloadForm) -> Void

    init(
        _ dimension: Dimension,
        _ faults: SignatureFault...,
        isFrequent: Bool = true,
        change: @escaping @Sendable (inout PayloadForm) -> Void
    ) {
        self.dimension = dimension
        self.faults = faults
        self.isFrequent = isFrequent
        self.change = change
    }

    /// A change of one field.
    init(_ field: PayloadForm.Field, _ fault: SignatureFault, isFrequent: Bool = true, text: String) {
        let bytes = Array(text.utf8)
        self.init(Dimension(field), fault, isFrequent: isFrequent) { $0[field] = bytes }
    }
}

extension Variation.Dimension {
    init(_ field: PayloadForm.Field) {
        self =
            switch field {
            case .bundleID: .bundleID
            case .keyID: .keyID
            case .productID: .productID
            case .offerID: .offerID
            case .account: .account
            case .nonce: .nonce
            case .timestamp: .timestamp
            }
    }
}
