// SPDX-License-Identifier: Apache-2.0
import Foundation

// CryptoKit as far as the documents use it, with Apple's signatures, for Linux; it computes nothing.
// Source: https://developer.apple.com/documentation/cryptokit/sha256 and …/cryptokit/secureenclave/p256/signing/privatekey

public struct SHA256: Sendable {
    public static func hash<D: DataProtocol>(data: D) -> SHA256Digest { SHA256Digest() }
}

public struct SHA256Digest: Sequence, Sendable {
    public func makeIterator() -> Array<UInt8>.Iterator { Array(repeating: 0, count: 32).makeIterator() }
}

public enum P256 {
    public enum Signing: Sendable {
        public struct PublicKey: Sendable {
            public var rawRepresentation: Data { Data(count: 64) }
        }

        public struct ECDSASignature: Sendable {
            public var rawRepresentation: Data { Data(count: 64) }
        }
    }
}

public enum SecureEnclave: Sendable {
    public enum P256: Sendable {
        public enum Signing: Sendable {
            // Not declared Sendable in Apple's module either, so that no snippet relies on it.
            public struct PrivateKey {
                public let dataRepresentation: Data
                private let keepsItUnsendable: AnyObject?

                /// Apple's have more parameters, which all have defaults.
                public init() throws { (dataRepresentation, keepsItUnsendable) = (Data(), nil) }

                public init(dataRepresentation: Data) throws {
                    (self.dataRepresentation, keepsItUnsendable) = (dataRepresentation, nil)
                }

                public var publicKey: CryptoKit.P256.Signing.PublicKey { CryptoKit.P256.Signing.PublicKey() }

                public func signature<D: DataProtocol>(for data: D) throws -> CryptoKit.P256.Signing.ECDSASignature {
                    CryptoKit.P256.Signing.ECDSASignature()
                }
            }
        }
    }
}
