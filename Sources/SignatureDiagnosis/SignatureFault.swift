// SPDX-License-Identifier: Apache-2.0

/// What can be wrong with a signature, by the code that programs know it by.
///
/// Source: Apple, [Generating a signature for promotional offers](https://developer.apple.com/documentation/storekit/generating-a-signature-for-promotional-offers)
/// and public reports of refused offers.
package enum SignatureFault: String, CaseIterable, Hashable, Sendable {
    case tokenCase = "token-case"
    case tokenForm = "token-form"
    case tokenNotSigned = "token-not-signed"
    case tokenNotAttached = "token-not-attached"
    case otherTokenSigned = "other-token-signed"
    case customerIDSigned = "customer-id-signed"
    case usernameSigned = "username-signed"
    case usernameForm = "username-form"
    case tokenObfuscated = "token-obfuscated"
    case nonceCase = "nonce-case"
    case nonceForm = "nonce-form"
    case otherNonce = "other-nonce"
    case timestampUnit = "timestamp-unit"
    case timestampAttached = "timestamp-attached-in-other-unit"
    case otherTimestamp = "other-timestamp"
    case separator = "separator"
    case trailingSeparator = "trailing-separator"
    case fieldOrder = "field-order"
    case emptyFieldDropped = "empty-field-dropped"
    case lineEnd = "trailing-line-end"
    case placeholder = "placeholder"
    case keyIDInPayload = "key-id-in-payload"
    case keyIDMismatch = "key-id-mismatch"
    case otherKeyIDAttached = "other-key-id-attached"
    case bundleOfOtherApp = "bundle-id-of-other-app"
    case otherProduct = "other-product"
    case otherOffer = "other-offer"
    case otherBundleAttached = "other-bundle-id-attached"
    case otherProductAttached = "other-product-attached"
    case otherOfferAttached = "other-offer-attached"
    case hashedTwice = "hashed-twice"
    case rawSignature = "signature-raw"
    case derNotStrict = "der-not-strict"
    case base64URL = "base64url"
    case base64Unpadded = "base64-unpadded"
    case base64LineBreaks = "base64-line-breaks"
    case base64Twice = "base64-twice"
    case percentEncoded = "percent-encoded"
    case hexadecimal = "hexadecimal"
    case dataURL = "data-url"
    case quoted = "signature-quoted"
    case notDecodable = "signature-not-decodable"
    case expired = "expired"
    case notEligible = "not-eligible-at-store"
    case offerUnknown = "offer-unknown"
    case offerPrice = "offer-price"
    case productUnavailable = "product-unavailable"
    case missingParameters = "missing-parameters"
    case cancelled = "cancelled"
    case xcodeEnvironment = "xcode-environment"
    case offerNotApplied = "offer-not-applied"
    case jwsForm = "jws-form"
    case jwsHeader = "jws-header"
    case jwsSignatureDER = "jws-signature-der"
    case jwsNotVerified = "jws-signature"
    case jwsAudience = "jws-audience"
    case jwsIssuer = "jws-issuer"
    case jwsTime = "jws-issued-at"
    case jwsClaims = "jws-claims"
    case jwsNonce = "jws-nonce"
    case jwsOffer = "jws-offer"
    case jwsTransaction = "jws-transaction"
    case reused = "reused"
    case notOnRecord = "not-on-record"
    case familyShared = "family-shared"
    case keyRefused = "key-refused-by-store"

    /// Where it is to be put right.
    package enum Place: String, CaseIterable, Sendable {
        case server, app, customer
        case appStoreConnect = "app-store-connect"
    }

    /// Who has to correct it.
    package var place: Place { text.place }
    /// What shows it, as the end of a sentence about the signature.
    package var because: String { text.because }
    /// What to do.
    package var fix: String { text.fix }

    private struct Text {
        let place: Place
        let because: String
        let fix: String

        init(_ place: Place, _ because: String, _ fix: String) {
            (self.place, self.because, self.fix) = (place, because, fix)
        }
    }

    private var text: Text {
        switch self {
        case .tokenCase:
            Text(
                .server,
                "it was made over the account token in a form other than lower case",
                "Write appAccountToken in lower case before you sign; the app attaches the same UUID."
            )
        case .tokenForm:
            Text(
                .server,
                "it was made over the account token in a different form than 8-4-4-4-12",
                "Sign the token with its hyphens, in lower case."
            )
        case .tokenNotSigned:
            Text(
                .app,
                "it was made over no account token, and the app attached one",
                "Sign the token that the app attaches, or attach none."
            )
        case .tokenNotAttached:
            Text(
                .app,
                "it was made over an account token, and the app attached none",
                "Attach the very token that was signed (appAccountToken, or applicationUsername with StoreKit 1)."
            )
        case .otherTokenSigned:
            Text(
                .app,
                "it was made over a different customer's name than the app attached",
                "Ask for a new signature when the customer changes, and attach the token of that answer."
            )
        case .customerIDSigned:
            Text(
                .server,
                "it was made over the customer's id, and the app attached another account token",
                "Sign the token that the app attaches; name the customer in customerId and the token in appAccountToken."
            )
        case .usernameSigned:
            Text(
                .server,
                "it was made over applicationUsername, and the app attached an appAccountToken",
                "Use one of the two, on the server and in the app."
            )
        case .usernameForm:
            Text(
                .server,
                "it was made over the user name in a different form than the app attached",
                "Sign the user name byte by byte as the app attaches it."
            )
        case .tokenObfuscated:
            Text(
                .app,
                "the client library makes a UUID from a name by MD5; one of the two was signed, and the other attached",
                "Attach the token yourself, or sign the UUID that the library attaches."
            )
        case .nonceCase:
            Text(
                .server,
                "it was made over the nonce in upper case",
                "Write the nonce in lower case before you sign; uuidString of Swift is upper case."
            )
        case .nonceForm:
            Text(
                .server,
                "it was made over the nonce without its hyphens",
                "Sign the nonce in the form 8-4-4-4-12, in lower case."
            )
        case .otherNonce:
            Text(
                .app,
                "it was made over a different nonce than the app attached",
                "Attach the nonce that came with this very signature."
            )
        case .timestampUnit:
            Text(
                .server,
                "it was made over the time in a different unit than milliseconds",
                "Sign milliseconds since 1970, without a fraction, and answer the same number."
            )
        case .timestampAttached:
            Text(
                .app,
                "it was made over milliseconds, and the app attached another unit, a fraction or a text",
                "Pass the timestamp on as the integer that it is; do not divide, and do not make a floating-point number of it."
            )
        case .otherTimestamp:
            Text(
                .app,
                "it was made over a different time than the app attached",
                "Attach the timestamp that came with this very signature, not the device's clock."
            )
        case .separator:
            Text(
                .server,
                "the fields are not joined by U+2063 INVISIBLE SEPARATOR",
                "Join the seven fields by the character U+2063 (in UTF-8: E2 81 A3)."
            )
        case .trailingSeparator:
            Text(
                .server,
                "a separator was signed after the last field",
                "Put U+2063 between the seven fields alone: six separators, and none after the timestamp."
            )
        case .fieldOrder:
            Text(
                .server,
                "the fields are in another order",
                "Sign in this order: bundle id, key id, product id, offer id, token, nonce, timestamp."
            )
        case .emptyFieldDropped:
            Text(
                .server,
                "the empty token's field was left out with its separator",
                "Keep all six separators, even around an empty token."
            )
        case .lineEnd:
            Text(
                .server,
                "a line end was signed after the last field",
                "Sign the bytes without a line end; echo adds one, printf %s does not."
            )
        case .placeholder:
            Text(
                .server,
                "a field held a placeholder, such as undefined, or nothing",
                "Look at how the server reads its request: a value was missing there, and was signed as text."
            )
        case .keyIDInPayload:
            Text(
                .server,
                "the payload names a different key id than the answer",
                "Put the id of the key that signs into the payload and into the answer."
            )
        case .keyIDMismatch:
            Text(
                .server,
                "it was made with the key of a different id than the answer names",
                "Name the id of the key that signs; key files are called SubscriptionKey_ID.p8."
            )
        case .otherKeyIDAttached:
            Text(
                .app,
                "it was made over the key id of the answer, and the app attached another one",
                "Attach the keyIdentifier that came with this very signature."
            )
        case .bundleOfOtherApp:
            Text(
                .server,
                "it was made for a different bundle id than that of the running app",
                "Sign with the bundle id of the app that buys: development builds, extensions and Mac Catalyst have ids of their own."
            )
        case .otherProduct:
            Text(
                .server,
                "it was made for a different product than the app buys",
                "Sign the product that is bought, not the one that the customer has."
            )
        case .otherOffer:
            Text(
                .server,
                "it was made for a different offer than the app attached",
                "Sign the promotional offer's identifier, not its reference name."
            )
        case .otherBundleAttached:
            Text(
                .app,
                "it was made for the bundle id of the answer, and another app attached it",
                "Ask for the signature with the bundle id of the running app."
            )
        case .otherProductAttached:
            Text(
                .app,
                "it was made for the product of the answer, and the app buys another one",
                "Buy the product that the answer names, or ask for a signature for the one that is bought."
            )
        case .otherOfferAttached:
            Text(
                .app,
                "it was made for the offer of the answer, and the app attached another one",
                "Attach the offer identifier that came with this very signature."
            )
        case .hashedTwice:
            Text(
                .server,
                "the payload was hashed before it was given to a function that hashes",
                "Give the payload itself to the signing function with SHA-256, or its digest to one that does not hash."
            )
        case .rawSignature:
            Text(
                .server,
                "the signature is r and s side by side (64 bytes) instead of DER",
                "Convert it to DER; in .NET: DSASignatureFormat.Rfc3279DerSequence."
            )
        case .derNotStrict:
            Text(
                .server,
                "the signature's DER is not strict: lengths, zeros in front, negative numbers or bytes after it",
                "Use the DER that the cryptographic library makes, unchanged."
            )
        case .base64URL:
            Text(
                .server,
                "the signature is in the alphabet of Base64 for URLs",
                "Encode the signature in standard Base64 (+ and /) with padding."
            )
        case .base64Unpadded:
            Text(
                .server,
                "the signature's Base64 has no padding",
                "Pad the Base64 with = to a multiple of four characters."
            )
        case .base64LineBreaks:
            Text(
                .server,
                "the signature's Base64 has line breaks or blanks in it",
                "Encode without line breaks: base64 -w0, openssl base64 -A."
            )
        case .base64Twice:
            Text(
                .app,
                "the signature is Base64 of Base64",
                "Encode once. StoreKit 2 takes the decoded bytes as Data; some libraries encode again."
            )
        case .percentEncoded:
            Text(
                .app,
                "the signature is percent-encoded, or its plus signs became blanks",
                "Decode the value as it comes out of a URL or form before you attach it."
            )
        case .hexadecimal:
            Text(
                .server,
                "the signature is in hexadecimal",
                "Encode the signature in standard Base64."
            )
        case .dataURL:
            Text(
                .app,
                "the signature has a data: prefix",
                "Attach the Base64 after the comma alone."
            )
        case .quoted:
            Text(
                .app,
                "the signature is between quotation marks",
                "Parse the JSON of the answer, and attach the text without its quotation marks."
            )
        case .notDecodable:
            Text(
                .server,
                "the text is not a signature in any known encoding",
                "Attach the signature of the answer unchanged."
            )
        case .expired:
            Text(
                .app,
                "more than 24 hours lay between signing and buying, by the device's clock",
                "Ask for the signature when the customer taps buy."
            )
        case .notEligible:
            Text(
                .customer,
                "the App Store says that this Apple account may not have the offer (code 18)",
                "Promotional offers are for accounts that have or had a subscription of this app. Check whose account is on the device; in the sandbox, subscribe once first."
            )
        case .offerUnknown:
            Text(
                .appStoreConnect,
                "the App Store (code 11) or the catalog does not know the offer's identifier for this product",
                "Compare the identifier with App Store Connect. A new offer needs about an hour; billing plans have offers of their own."
            )
        case .offerPrice:
            Text(
                .appStoreConnect,
                "the App Store says that the offer's price is no longer valid (code 14)",
                "Look in App Store Connect whether the product's price has fallen below the offer's."
            )
        case .productUnavailable:
            Text(
                .appStoreConnect,
                "the App Store says that the product can't be bought (code 5), or does not know it (code 3, which some libraries report for a wrong signature, too)",
                "Look in App Store Connect whether the product is cleared for sale in this storefront, and compare its identifier."
            )
        case .missingParameters:
            Text(
                .app,
                "a parameter of the offer was empty on the device",
                "Log the five values right before the purchase; a timestamp over 2^53 or passed as text often gets lost."
            )
        case .cancelled:
            Text(
                .customer,
                "the customer cancelled (code 2)",
                "Nothing is wrong; some libraries report other failures as this one."
            )
        case .xcodeEnvironment:
            Text(
                .app,
                "the purchase was made in Xcode's StoreKit testing, which has a signing key of its own",
                "Set the Subscription Offers Key in the .storekit file's editor, or test in the sandbox."
            )
        case .offerNotApplied:
            Text(
                .app,
                "the purchase went through without the offer",
                "The client library did not hand the offer to StoreKit; look at its version and at how offers are passed."
            )
        case .jwsForm:
            Text(
                .server,
                "the JWS is not three parts of Base64 for URLs without padding",
                "Make a compact JWS (RFC 7515 section 7.1)."
            )
        case .jwsHeader:
            Text(
                .server,
                "the JWS header is not as Apple expects it: alg ES256, typ JWT and a kid, all text",
                "Set alg, typ and kid, and nothing else."
            )
        case .jwsSignatureDER:
            Text(
                .server,
                "the signature of the JWS is DER instead of r and s side by side",
                "Use ES256 of a JWT library, which writes 64 bytes."
            )
        case .jwsNotVerified:
            Text(
                .server,
                "the signature of the JWS does not verify under the key that it names",
                "Sign header and claims exactly as they are sent, with the key that kid names."
            )
        case .jwsAudience:
            Text(
                .server,
                "aud is none of the audiences that Apple names",
                "Use promotional-offer, introductory-offer-eligibility or advanced-commerce-api."
            )
        case .jwsIssuer:
            Text(
                .server,
                "iss is no UUID",
                "Use the issuer id of App Store Connect, Users and Access, Integrations."
            )
        case .jwsTime:
            Text(
                .server,
                "iat is not a number of seconds, is more than five minutes ahead, or more than 24 hours old (how old it may be is not published)",
                "Set iat to seconds since 1970 by a correct clock."
            )
        case .jwsClaims:
            Text(
                .server,
                "the claims are not exactly those that Apple names: one is missing, more than asked, or of another type",
                "Send iss, iat, aud, bid, nonce and the members of that audience; no exp and no others."
            )
        case .jwsNonce:
            Text(
                .server,
                "nonce is no UUID",
                "Use a fresh UUID for each JWS."
            )
        case .jwsOffer:
            Text(
                .server,
                "the catalog has no offer with that offerIdentifier for that productId",
                "Sign an offer of the product that is bought, by its identifier in App Store Connect."
            )
        case .jwsTransaction:
            Text(
                .server,
                "transactionId is not one of the reported purchase",
                "Sign a transaction of the customer who buys: another customer's makes the JWS invalid. A renewal of the same subscription will do."
            )
        case .reused:
            Text(
                .app,
                "it was used before, or reported before",
                "Ask for a new signature for each attempt to buy: even an attempt that fails uses one up."
            )
        case .notOnRecord:
            Text(
                .server,
                "one of this service's keys made it, and the audit log has no record of it",
                "Find out who else signs with this key. If you cannot, treat the key as stolen: disable it here, and revoke it in App Store Connect."
            )
        case .keyRefused:
            Text(
                .appStoreConnect,
                "the App Store refuses the key that made it: the key was revoked, belongs to another team, or is no In-App Purchase key",
                "Compare the key id and the issuer id with App Store Connect, Users and Access, Integrations, In-App Purchase; create a new key if this one was revoked."
            )
        case .familyShared:
            Text(
                .customer,
                "the reported purchase is shared by a family member, who alone may have offers",
                "Offer it to the family member who pays."
            )
        }
    }
}
