// SPDX-License-Identifier: Apache-2.0

// The sentences about each fault, for people.
extension SignatureFault {
    /// The side that has to correct the fault.
    package var place: Place { text.place }
    /// What shows it, as the end of a sentence about the signature.
    package var because: String { text.because }
    /// What to do.
    package var fix: String { text.fix }

    private struct Text {
        let place: Place
        let because: String
        let fix: String
    }

    private var text: Text {
        switch self {
        case .tokenCase:
            Text(
                place: .server,
                because: "it was made over the account token in a form other than lower case",
                fix: "Write appAccountToken in lower case before you sign; the app attaches the same UUID."
            )
        case .tokenForm:
            Text(
                place: .server,
                because: "it was made over the account token in a different form than 8-4-4-4-12",
                fix: "Sign the token with its hyphens, in lower case."
            )
        case .tokenNotSigned:
            Text(
                place: .app,
                because: "it was made over no account token, and the app attached one",
                fix: "Sign the token that the app attaches, or attach none."
            )
        case .tokenNotAttached:
            Text(
                place: .app,
                because: "it was made over an account token, and the app attached none",
                fix: "Attach the very token that was signed (appAccountToken, or applicationUsername with StoreKit 1)."
            )
        case .otherTokenSigned:
            Text(
                place: .app,
                because: "it was made over a different customer's name than the app attached",
                fix: "Ask for a new signature when the customer changes, and attach the token of that answer."
            )
        case .customerIDSigned:
            Text(
                place: .server,
                because: "it was made over the customer's id, and the app attached another account token",
                fix:
                    "Sign the token that the app attaches; name the customer in customerId and the token in appAccountToken."
            )
        case .usernameSigned:
            Text(
                place: .server,
                because: "it was made over applicationUsername, and the app attached an appAccountToken",
                fix: "Use one of the two, on the server and in the app."
            )
        case .usernameForm:
            Text(
                place: .server,
                because: "it was made over the user name in a different form than the app attached",
                fix: "Sign the user name byte by byte as the app attaches it."
            )
        case .tokenObfuscated:
            Text(
                place: .app,
                because:
                    "the client library makes a UUID from a name by MD5; one of the two was signed, and the other attached",
                fix: "Attach the token yourself, or sign the UUID that the library attaches."
            )
        case .nonceCase:
            Text(
                place: .server,
                because: "it was made over the nonce in upper case",
                fix: "Write the nonce in lower case before you sign; uuidString of Swift is upper case."
            )
        case .nonceForm:
            Text(
                place: .server,
                because: "it was made over the nonce without its hyphens",
                fix: "Sign the nonce in the form 8-4-4-4-12, in lower case."
            )
        case .otherNonce:
            Text(
                place: .app,
                because: "it was made over a different nonce than the app attached",
                fix: "Attach the nonce that came with this very signature."
            )
        case .timestampUnit:
            Text(
                place: .server,
                because: "it was made over the time in a different unit than milliseconds",
                fix: "Sign milliseconds since 1970, without a fraction, and answer the same number."
            )
        case .timestampAttached:
            Text(
                place: .app,
                because: "it was made over milliseconds, and the app attached another unit, a fraction or a text",
                fix:
                    "Pass the timestamp on as the integer that it is; do not divide, and do not make a floating-point number of it."
            )
        case .otherTimestamp:
            Text(
                place: .app,
                because: "it was made over a different time than the app attached",
                fix: "Attach the timestamp that came with this very signature, not the device's clock."
            )
        case .separator:
            Text(
                place: .server,
                because: "the fields are not joined by U+2063 INVISIBLE SEPARATOR",
                fix: "Join the seven fields by the character U+2063 (in UTF-8: E2 81 A3)."
            )
        case .trailingSeparator:
            Text(
                place: .server,
                because: "a separator was signed after the last field",
                fix: "Put U+2063 between the seven fields alone: six separators, and none after the timestamp."
            )
        case .fieldOrder:
            Text(
                place: .server,
                because: "the fields are in another order",
                fix: "Sign in this order: bundle id, key id, product id, offer id, token, nonce, timestamp."
            )
        case .emptyFieldDropped:
            Text(
                place: .server,
                because: "the empty token's field was left out with its separator",
                fix: "Keep all six separators, even around an empty token."
            )
        case .lineEnd:
            Text(
                place: .server,
                because: "a line end was signed after the last field",
                fix: "Sign the bytes without a line end; echo adds one, printf %s does not."
            )
        case .placeholder:
            Text(
                place: .server,
                because: "a field held a placeholder, such as undefined, or nothing",
                fix: "Look at how the server reads its request: a value was missing there, and was signed as text."
            )
        case .keyIDInPayload:
            Text(
                place: .server,
                because: "the payload names a different key id than the answer",
                fix: "Put the id of the key that signs into the payload and into the answer."
            )
        case .keyIDMismatch:
            Text(
                place: .server,
                because: "it was made with the key of a different id than the answer names",
                fix: "Name the id of the key that signs; key files are called SubscriptionKey_ID.p8."
            )
        case .otherKeyIDAttached:
            Text(
                place: .app,
                because: "it was made over the key id of the answer, and the app attached another one",
                fix: "Attach the keyIdentifier that came with this very signature."
            )
        case .bundleOfOtherApp:
            Text(
                place: .server,
                because: "it was made for a different bundle id than that of the running app",
                fix:
                    "Sign with the bundle id of the app that buys: development builds, extensions and Mac Catalyst have ids of their own."
            )
        case .otherProduct:
            Text(
                place: .server,
                because: "it was made for a different product than the app buys",
                fix: "Sign the product that is bought, not the one that the customer has."
            )
        case .otherOffer:
            Text(
                place: .server,
                because: "it was made for a different offer than the app attached",
                fix: "Sign the promotional offer's identifier, not its reference name."
            )
        case .otherBundleAttached:
            Text(
                place: .app,
                because: "it was made for the bundle id of the answer, and another app attached it",
                fix: "Ask for the signature with the bundle id of the running app."
            )
        case .otherProductAttached:
            Text(
                place: .app,
                because: "it was made for the product of the answer, and the app buys another one",
                fix: "Buy the product that the answer names, or ask for a signature for the one that is bought."
            )
        case .otherOfferAttached:
            Text(
                place: .app,
                because: "it was made for the offer of the answer, and the app attached another one",
                fix: "Attach the offer identifier that came with this very signature."
            )
        case .hashedTwice:
            Text(
                place: .server,
                because: "the payload was hashed before it was given to a function that hashes",
                fix:
                    "Give the payload itself to the signing function with SHA-256, or its digest to one that does not hash."
            )
        case .rawSignature:
            Text(
                place: .server,
                because: "the signature is r and s side by side (64 bytes) instead of DER",
                fix: "Convert it to DER; in .NET: DSASignatureFormat.Rfc3279DerSequence."
            )
        case .derNotStrict:
            Text(
                place: .server,
                because:
                    "the signature's DER is not strict: lengths, zeros in front, negative numbers or bytes after it",
                fix: "Use the DER that the cryptographic library makes, unchanged."
            )
        case .base64URL:
            Text(
                place: .server,
                because: "the signature is in the alphabet of Base64 for URLs",
                fix: "Encode the signature in standard Base64 (+ and /) with padding."
            )
        case .base64Unpadded:
            Text(
                place: .server,
                because: "the signature's Base64 has no padding",
                fix: "Pad the Base64 with = to a multiple of four characters."
            )
        case .base64LineBreaks:
            Text(
                place: .server,
                because: "the signature's Base64 has line breaks or blanks in it",
                fix: "Encode without line breaks: base64 -w0, openssl base64 -A."
            )
        case .base64Twice:
            Text(
                place: .app,
                because: "the signature is Base64 of Base64",
                fix: "Encode once. StoreKit 2 takes the decoded bytes as Data; some libraries encode again."
            )
        case .percentEncoded:
            Text(
                place: .app,
                because: "the signature is percent-encoded, or its plus signs became blanks",
                fix: "Decode the value as it comes out of a URL or form before you attach it."
            )
        case .hexadecimal:
            Text(
                place: .server,
                because: "the signature is in hexadecimal",
                fix: "Encode the signature in standard Base64."
            )
        case .dataURL:
            Text(
                place: .app,
                because: "the signature has a data: prefix",
                fix: "Attach the Base64 after the comma alone."
            )
        case .quoted:
            Text(
                place: .app,
                because: "the signature is between quotation marks",
                fix: "Parse the JSON of the answer, and attach the text without its quotation marks."
            )
        case .notDecodable:
            Text(
                place: .server,
                because: "the text is not a signature in any known encoding",
                fix: "Attach the signature of the answer unchanged."
            )
        case .expired:
            Text(
                place: .app,
                because: "more than 24 hours lay between signing and buying, by the device's clock",
                fix: "Ask for the signature when the customer taps buy."
            )
        case .notEligible:
            Text(
                place: .customer,
                because: "the App Store says that this Apple account may not have the offer (code 18)",
                fix:
                    "Promotional offers are for accounts that have or had a subscription of this app. Check whose account is on the device; in the sandbox, subscribe once first."
            )
        case .offerUnknown:
            Text(
                place: .appStoreConnect,
                because: "the App Store (code 11) or the catalog does not know the offer's identifier for this product",
                fix:
                    "Compare the identifier with App Store Connect. A new offer needs about an hour; billing plans have offers of their own."
            )
        case .offerPrice:
            Text(
                place: .appStoreConnect,
                because: "the App Store says that the offer's price is no longer valid (code 14)",
                fix: "Look in App Store Connect whether the product's price has fallen below the offer's."
            )
        case .productUnavailable:
            Text(
                place: .appStoreConnect,
                because:
                    "the App Store says that the product can't be bought (code 5), or does not know it (code 3, which some libraries report for a wrong signature, too)",
                fix:
                    "Look in App Store Connect whether the product is cleared for sale in this storefront, and compare its identifier."
            )
        case .missingParameters:
            Text(
                place: .app,
                because: "a parameter of the offer was empty on the device",
                fix:
                    "Log the five values right before the purchase; a timestamp over 2^53 or passed as text often gets lost."
            )
        case .cancelled:
            Text(
                place: .customer,
                because: "the customer cancelled (code 2)",
                fix: "Nothing is wrong; some libraries report other failures as this one."
            )
        case .xcodeEnvironment:
            Text(
                place: .app,
                because: "the purchase was made in Xcode's StoreKit testing, which has a signing key of its own",
                fix: "Set the Subscription Offers Key in the .storekit file's editor, or test in the sandbox."
            )
        case .offerNotApplied:
            Text(
                place: .app,
                because: "the purchase went through without the offer",
                fix:
                    "The client library did not hand the offer to StoreKit; look at its version and at how offers are passed."
            )
        case .jwsForm:
            Text(
                place: .server,
                because: "the JWS is not three parts of Base64 for URLs without padding",
                fix: "Make a compact JWS (RFC 7515 section 7.1)."
            )
        case .jwsHeader:
            Text(
                place: .server,
                because: "the JWS header is not as Apple expects it: alg ES256, typ JWT and a kid, all text",
                fix: "Set alg, typ and kid, and nothing else."
            )
        case .jwsSignatureDER:
            Text(
                place: .server,
                because: "the signature of the JWS is DER instead of r and s side by side",
                fix: "Use ES256 of a JWT library, which writes 64 bytes."
            )
        case .jwsNotVerified:
            Text(
                place: .server,
                because: "the signature of the JWS does not verify under the key that it names",
                fix: "Sign header and claims exactly as they are sent, with the key that kid names."
            )
        case .jwsAudience:
            Text(
                place: .server,
                because: "aud is none of the audiences that Apple names",
                fix: "Use promotional-offer, introductory-offer-eligibility or advanced-commerce-api."
            )
        case .jwsIssuer:
            Text(
                place: .server,
                because: "iss is no UUID",
                fix: "Use the issuer id of App Store Connect, Users and Access, Integrations."
            )
        case .jwsTime:
            Text(
                place: .server,
                because:
                    "iat is not a number of seconds, is more than five minutes ahead, or more than 24 hours old (how old it may be is not published)",
                fix: "Set iat to seconds since 1970 by a correct clock."
            )
        case .jwsClaims:
            Text(
                place: .server,
                because:
                    "the claims are not exactly those that Apple names: one is missing, more than asked, or of another type",
                fix: "Send iss, iat, aud, bid, nonce and the members of that audience; no exp and no others."
            )
        case .jwsNonce:
            Text(
                place: .server,
                because: "nonce is no UUID",
                fix: "Use a fresh UUID for each JWS."
            )
        case .jwsOffer:
            Text(
                place: .server,
                because: "the catalog has no offer with that offerIdentifier for that productId",
                fix: "Sign an offer of the product that is bought, by its identifier in App Store Connect."
            )
        case .jwsTransaction:
            Text(
                place: .server,
                because: "transactionId is not one of the reported purchase",
                fix:
                    "Sign a transaction of the customer who buys: another customer's makes the JWS invalid. A renewal of the same subscription will do."
            )
        case .reused:
            Text(
                place: .app,
                because: "it was used before, or reported before",
                fix: "Ask for a new signature for each attempt to buy: even an attempt that fails uses one up."
            )
        case .notOnRecord:
            Text(
                place: .server,
                because: "one of this service's keys made it, and the audit log has no record of it",
                fix:
                    "Find out who else signs with this key. If you cannot, treat the key as stolen: disable it here, and revoke it in App Store Connect."
            )
        case .keyRefused:
            Text(
                place: .appStoreConnect,
                because:
                    "the App Store refuses the key that made it: the key was revoked, belongs to another team, or is no In-App Purchase key",
                fix:
                    "Compare the key id and the issuer id with App Store Connect, Users and Access, Integrations, In-App Purchase; create a new key if this one was revoked."
            )
        case .familyShared:
            Text(
                place: .customer,
                because: "the reported purchase is shared by a family member, who alone may have offers",
                fix: "Offer it to the family member who pays."
            )
        }
    }
}
