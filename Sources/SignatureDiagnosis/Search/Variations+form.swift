// SPDX-License-Identifier: Apache-2.0

/// How the fields are joined, and what they contain where a value was missing.
extension Variations {
    mutating func addForms() {
        for (separator, isFrequent) in Self.separators {
            let bytes = Array(separator.utf8)
            local.append(Variation(.separator, .separator, isFrequent: isFrequent) { $0.separator = bytes })
        }
        // UTF-16, big-endian, between fields that are UTF-8.
        local.append(Variation(.separator, .separator, isFrequent: false) { $0.separator = [0x20, 0x63] })
        for (place, order) in Self.orders.enumerated() {
            local.append(Variation(.order, .fieldOrder, isFrequent: place < 3) { $0.order = order })
        }
        if fields[.account] == nil {
            local.append(Variation(.separator, .emptyFieldDropped) { $0.dropsEmptyFields = true })
        } else {
            local.append(
                Variation(.account, .tokenNotSigned, .emptyFieldDropped) {
                    $0[.account] = []
                    $0.dropsEmptyFields = true
                }
            )
        }
        for ending in ["\n", "\r\n", "\0", " "] {
            local.append(Variation(.order, .lineEnd, isFrequent: ending == "\n") { $0.ending = Array(ending.utf8) })
        }
        local.append(
            Variation(.order, .trailingSeparator, isFrequent: false) { $0.ending = Array("\u{2063}".utf8) }
        )
        local.append(Variation(.hashing, .hashedTwice) { $0.hashing = .twice })
        local.append(Variation(.hashing, .hashedTwice) { $0.hashing = .ofHexadecimal })
    }

    private static let separators: [(String, isFrequent: Bool)] = [
        ("\u{2060}", true), ("\u{2062}", true), ("\u{2064}", true), ("\u{200B}", true), ("", true), ("\\u2063", true),
        (" ", true), ("\u{1F}", true), ("\u{2061}", false), ("\u{200C}", false), ("\u{FEFF}", false), (",", false),
        ("|", true), (":", false), ("-", false), ("\n", false), ("\t", false), ("\u{E2}\u{81}\u{A3}", false),
        ("&#8291;", false), ("%E2%81%A3", false), ("\\\\u2063", false), ("u2063", false), (";", false), ("\0", false),
        (".", false), ("_", false), ("\\u{2063}", false), ("\\U00002063", false), ("\u{2063}\u{2063}", false),
        ("U+2063", false), (" c", false), ("&#x2063;", false), ("\u{2029}", false), ("\u{200D}", false),
        ("\u{E2}\u{20AC}\u{A3}", false), ("\u{2063} ", false), (" \u{2063} ", false),
    ]

    /// The right order with two neighbors, or the token, in another place; the documented variants first.
    private static let orders: [[PayloadForm.Field]] = {
        let right = PayloadForm.Field.allCases
        var orders: [[PayloadForm.Field]] = [
            [.bundleID, .keyID, .offerID, .productID, .account, .nonce, .timestamp],
            [.bundleID, .keyID, .productID, .offerID, .account, .timestamp, .nonce],
            [.bundleID, .keyID, .productID, .offerID, .nonce, .timestamp, .account],
        ]
        for first in right.indices {
            for second in right.indices where second > first {
                var order = right
                order.swapAt(first, second)
                if !orders.contains(order) { orders.append(order) }
            }
        }
        let others = right.filter { $0 != .account }
        for place in 0...others.count where place != 4 {
            var order = others
            order.insert(.account, at: place)
            if !orders.contains(order) { orders.append(order) }
        }
        return orders
    }()

    // MARK: - Placeholders

    mutating func addPlaceholders() {
        for field in PayloadForm.Field.allCases {
            for text in Self.placeholders {
                let isFrequent = Self.oftenLacking.contains(field) && ["undefined", "null"].contains(text)
                add(field, .placeholder, isFrequent: isFrequent, texts: text)
            }
            if field != .account { add(field, .placeholder, isFrequent: Self.oftenLacking.contains(field), texts: "") }
        }
        // What a request lacked, it often lacked together.
        let sets: [[PayloadForm.Field]] = [
            [.productID, .offerID], [.productID, .account], [.offerID, .account], [.productID, .offerID, .account],
        ]
        for text in Self.placeholders + [""] {
            let bytes = Array(text.utf8)
            for fields in sets {
                local.append(
                    Variation(.productID, .placeholder, isFrequent: false) { form in
                        for field in fields { form[field] = bytes }
                    }
                )
            }
        }
    }

    /// What a request names, and so may lack.
    private static let oftenLacking: [PayloadForm.Field] = [.productID, .offerID, .account]

    private static let placeholders = ["undefined", "null", "nil", "None", "[object Object]", "NaN"]
}
