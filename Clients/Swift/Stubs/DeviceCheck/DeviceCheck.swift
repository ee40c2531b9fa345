// SPDX-License-Identifier: Apache-2.0
import Foundation

// DeviceCheck as far as the documents use it, with Apple's signatures, for Linux.
// Source: https://developer.apple.com/documentation/devicecheck/dcappattestservice

open class DCAppAttestService: NSObject {
    open class var shared: DCAppAttestService { DCAppAttestService() }

    open var isSupported: Bool { false }

    // Swift 6.2 imports methods of Objective-C like this: they run where they are called from.
    open nonisolated(nonsending) func generateKey() async throws -> String { throw DCError(.featureUnsupported) }

    open nonisolated(nonsending) func attestKey(_ keyId: String, clientDataHash: Data) async throws -> Data {
        throw DCError(.featureUnsupported)
    }

    open nonisolated(nonsending) func generateAssertion(_ keyId: String, clientDataHash: Data) async throws -> Data {
        throw DCError(.featureUnsupported)
    }
}

public struct DCError: Error, Hashable, Sendable {
    public enum Code: Int, Sendable {
        case unknownSystemFailure, featureUnsupported, invalidInput, invalidKey, serverUnavailable
    }

    public let code: Code

    public init(_ code: Code) { self.code = code }

    public static var unknownSystemFailure: Code { .unknownSystemFailure }
    public static var featureUnsupported: Code { .featureUnsupported }
    public static var invalidInput: Code { .invalidInput }
    public static var invalidKey: Code { .invalidKey }
    public static var serverUnavailable: Code { .serverUnavailable }
}

extension DCError.Code {
    /// `catch DCError.invalidKey`, as with each error code that Objective-C defines.
    public static func ~= (code: Self, error: any Error) -> Bool { (error as? DCError)?.code == code }
}
