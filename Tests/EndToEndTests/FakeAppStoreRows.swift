// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// A token that the API must refuse.
struct BadToken: CustomTestStringConvertible {
    /// As `bearer_token.py` takes them.
    let changes: String
    /// Part of what the fake says to the test.
    let reason: String

    var testDescription: String { changes }

    private init(_ changes: String, _ reason: String) {
        self.changes = changes
        self.reason = reason
    }

    static let rows = [
        BadToken(#"{"header":{"kid":"ZZZ123DEFG"}}"#, "no key"),
        BadToken(#"{"header":{"typ":"JWS"}}"#, "typ"),
        BadToken(#"{"signature":"AAAA"}"#, "signature"),
        BadToken(#"{"claims":{"iss":"somebody"}}"#, "iss"),
        BadToken(#"{"claims":{"aud":"promotional-offer"}}"#, "aud"),
        BadToken(#"{"claims":{"bid":"com.example.other"}}"#, "bid"),
        BadToken(#"{"claims":{"bid":null}}"#, "bid"),
        BadToken(#"{"claims":{"iat":null}}"#, "whole numbers"),
        BadToken(#"{"claims":{"exp":null}}"#, "whole numbers"),
        BadToken(#"{"claims":{"exp":3601}}"#, "60 minutes"),
        BadToken(#"{"claims":{"iat":-600,"exp":-1}}"#, "expired"),
        BadToken(#"{"claims":{"iat":600,"exp":900}}"#, "future"),
    ]
}

/// What curl makes of rudeness: its exit code in both versions of HTTP, and the status that it saw.
struct Rudeness: CustomTestStringConvertible {
    let name: String
    let misbehaviour: FakeAppStore.Misbehaviour
    /// `nil`: anything but success.
    let endOfHTTP1, endOfHTTP2: Int32?
    let status: Int
    /// Part of the answer's head.
    var head: String?

    var testDescription: String { name }

    /// How long curl waits, in seconds: long enough to see a head before an answer that does not end.
    var patience: String { endOfHTTP1 == 28 ? status == 0 ? "0.5" : "2" : "60" }

    private init(
        _ name: String,
        _ misbehaviour: FakeAppStore.Misbehaviour,
        _ endOfHTTP1: Int32?,
        _ endOfHTTP2: Int32?,
        _ status: Int,
        head: String? = nil
    ) {
        self.name = name
        self.misbehaviour = misbehaviour
        self.endOfHTTP1 = endOfHTTP1
        self.endOfHTTP2 = endOfHTTP2
        self.status = status
        self.head = head
    }

    // curl's exit codes: 18 less than declared, 28 time over, 52 no answer, 56 receiving, 92 HTTP/2 stream.
    static let rows = [
        Rudeness("hang", .hang, 28, 28, 0),
        Rudeness("slow", .slow(milliseconds: 100), 0, 0, 200),
        Rudeness("drip", .drip(milliseconds: 5, bytes: 1000), 0, 0, 200),
        Rudeness("cut off", .cutOff, 18, 18, 200),
        Rudeness("stall", .stall, 28, 28, 200),
        Rudeness("close", .close, 52, nil, 0),
        Rudeness("reset stream", .resetStream, 52, 92, 0),
        Rudeness("go away", .goAway, 0, 0, 200),
        Rudeness("garbage", .garbage, nil, nil, 0),
        Rudeness("any answer", .answer(status: 299, body: "x"), 0, 0, 299),
        Rudeness("status", .status(502), 0, 0, 502, head: "text/html"),
        Rudeness("error", .error(5_000_001), 0, 0, 500),
        Rudeness("unknown error", .error(9_990_000), 0, 0, 500),
        Rudeness("unauthorized", .unauthorized, 0, 0, 401, head: "content-length: 0"),
        Rudeness("rate limit", .rateLimit, 0, 0, 429),
        Rudeness("redirect", .redirect(to: "http://127.0.0.1:1/"), 0, 0, 302, head: "location: http://127.0.0.1:1/"),
        Rudeness("wrong content type", .wrongContentType, 0, 0, 200, head: "text/html"),
        Rudeness("oversized", .oversized(bytes: 4 << 20), 0, 0, 200, head: "content-length: 4194"),
        Rudeness("oversized, undeclared", .oversized(bytes: 1 << 20, declaresLength: false), 0, 0, 200),
        Rudeness("endless", .endlessBody, 28, 28, 200),
        Rudeness("gzip bomb", .gzipBomb, 0, 0, 200, head: "content-encoding: gzip"),
        Rudeness("wrong shape", .wrongShape, 0, 0, 200),
        Rudeness("wrong JSON", .wrongJSON, 0, 0, 200),
        Rudeness("unknown values", .unknownValues, 0, 0, 200),
    ]
}

/// What `openssl ocsp` says of an answer.
struct OCSPRow: CustomTestStringConvertible {
    let behaviour: FakeAppStore.OCSPBehaviour
    let words: [String]

    var testDescription: String { behaviour.rawValue }

    private init(_ behaviour: FakeAppStore.OCSPBehaviour, _ words: String...) {
        self.behaviour = behaviour
        self.words = words
    }

    static let rows = [
        OCSPRow(.good, "Response verify OK", "0.pem: good"),
        OCSPRow(.delegated, "Response verify OK", "0.pem: good"),
        OCSPRow(.revoked, "Response verify OK", "0.pem: revoked"),
        OCSPRow(.unknown, "Response verify OK", "0.pem: unknown"),
        OCSPRow(.stale, "status expired"),
        OCSPRow(.future, "status not yet valid"),
        OCSPRow(.withoutEnd, "Response verify OK", "0.pem: good"),
        OCSPRow(.delegatedWithoutUsage, "missing ocspsigning usage"),
        OCSPRow(.signedByStranger, "Response Verify Failure"),
        OCSPRow(.otherCertificate, "No Status found"),
        OCSPRow(.withoutNonce, "no nonce in response"),
        OCSPRow(.otherNonce, "Nonce Verify error"),
        OCSPRow(.tryLater, "trylater"),
        OCSPRow(.internalError, "internalerror"),
        OCSPRow(.unauthorized, "unauthorized"),
        OCSPRow(.malformed, "Error"),
    ]
}
