// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
package import OfferDomain

/// A saved response of the service: an answer with signatures, a refusal, or a single JWS.
package enum SavedAnswer: Sendable {
    /// A grant with its signatures, at least one.
    case grant(SavedGrant)
    /// A problem: nothing was signed.
    case refusal(title: String, detail: String)

    /// Reads an answer, the answer to a batch, or one compact JWS.
    ///
    /// - Throws: What it is instead.
    package static func read(_ bytes: [UInt8]) throws(SavedAnswerError) -> [SavedAnswer] {
        let text = body(of: bytes.trimmingWhiteSpace)
        guard !text.isEmpty else { throw SavedAnswerError("it is empty; save the body of the answer") }
        guard text.first == UInt8(ascii: "{") else {
            let jws = text.first == UInt8(ascii: "\"") ? Array(text.dropFirst().dropLast()) : Array(text)
            guard let presented = PresentedSignature(jws: jws) else {
                throw SavedAnswerError("it is neither an answer of this service (JSON) nor a compact JWS of it")
            }
            return [.grant(SavedGrant(jws: presented, claims: SavedClaims(jws: jws)))]
        }
        let document: JSONDocument
        do { document = try JSONDocument(Array(text), limits: limits) } catch {
            throw SavedAnswerError("it is not JSON: \(error)")
        }
        guard let object = document.root.object else { throw SavedAnswerError("it is not a JSON object") }
        guard let results = object["results"]?.array else { return [try read(object)] }
        var answers: [SavedAnswer] = []
        for result in results {
            guard let members = result.object, let answer = (members["grant"] ?? members["problem"])?.object else {
                throw SavedAnswerError("a result of the batch has neither a grant nor a problem")
            }
            answers.append(try read(answer))
        }
        guard !answers.isEmpty else { throw SavedAnswerError("the batch has no results") }
        return answers
    }

    /// What follows the head that `curl -i` saves before the body.
    private static func body(of text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = text
        while rest.starts(with: "HTTP/".utf8) {
            guard let end = rest.firstRange(of: [0x0D, 0x0A, 0x0D, 0x0A]) ?? rest.firstRange(of: [0x0A, 0x0A]) else {
                return []
            }
            rest = rest[end.upperBound...]
        }
        return rest
    }

    private static let limits = JSONLimits(maximumBytes: 4_194_304, maximumDepth: 64, maximumNodes: 262_144)

    private static func read(_ object: JSONObject) throws(SavedAnswerError) -> SavedAnswer {
        if let type = object["type"]?.string, type.hasPrefix("/problems/") {
            return .refusal(title: object["title"]?.string ?? type, detail: object["detail"]?.string ?? "")
        }
        return .grant(try SavedGrant(object))
    }
}

/// Why a file is no saved answer.
package struct SavedAnswerError: Error, Sendable, CustomStringConvertible {
    /// What is wrong, as the end of a sentence that begins with the file.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// The signatures of one answer, as they were saved.
package struct SavedGrant: Sendable {
    /// `grantId`; `nil` of a JWS that was saved alone.
    package let grantID: String?
    /// The original signature with the fields of its payload that the answer has.
    package let v1: SavedV1?
    /// The JWS; `nil` if the answer has none.
    package let jws: PresentedSignature?
    /// What the payload of the JWS says, whether its signature is good or not.
    package let claims: SavedClaims?

    init(jws: PresentedSignature, claims: SavedClaims?) {
        (grantID, v1) = (nil, nil)
        (self.jws, self.claims) = (jws, claims)
    }

    init(_ object: JSONObject) throws(SavedAnswerError) {
        grantID = object["grantId"]?.string
        v1 = try object["signature"].map { value throws(SavedAnswerError) in try SavedV1(object, value) }
        jws = try object["jws"].map { value throws(SavedAnswerError) in
            guard let presented = value.string.flatMap({ PresentedSignature(jws: Array($0.utf8)) }) else {
                throw SavedAnswerError("its member jws is not a compact JWS of this service")
            }
            return presented
        }
        claims = object["jws"]?.string.flatMap { SavedClaims(jws: Array($0.utf8)) }
        guard v1 != nil || jws != nil else {
            throw SavedAnswerError("it has neither a signature nor a jws; save the whole body of the answer")
        }
    }
}

/// What the payload of a JWS says of the offer.
package struct SavedClaims: Sendable {
    /// `bid`; `nil` if it is missing or no bundle ID.
    package let bundleID: BundleID?
    /// `productId`; `nil` if it is missing or no product ID.
    package let productID: ProductID?
    /// The claims that tell what was signed, with their names, for people.
    package let text: String

    init?(jws: [UInt8]) {
        let parts = jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decodeURL(Array(parts[1])),
            let object = (try? JSONDocument(bytes))?.root.object
        else { return nil }
        bundleID = object["bid"]?.string.flatMap { try? BundleID($0) }
        productID = object["productId"]?.string.flatMap { try? ProductID($0) }
        let shown = ["bid", "productId", "offerIdentifier", "allowIntroductoryOffer", "transactionId", "nonce"]
        text = shown.compactMap { name in
            object[name].map { "\(name) \($0.string ?? String(decoding: $0.text, as: UTF8.self))" }
        }.joined(separator: ", ")
    }
}

extension [UInt8] {
    fileprivate var trimmingWhiteSpace: ArraySlice<UInt8> {
        func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
        return ArraySlice(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
