// SPDX-License-Identifier: Apache-2.0
import Foundation

// AuthenticationServices as far as the documents use it, with Apple's signatures, for Linux.
// Source: https://developer.apple.com/documentation/authenticationservices/asauthorizationcontrollerdelegate

@MainActor
public protocol ASAuthorizationControllerDelegate: NSObjectProtocol {
    // Optional in Apple's module, which only Objective-C has.
    func authorizationController(
        controller: ASAuthorizationController,
        didCompleteWithAuthorization authorization: ASAuthorization
    )
}

@MainActor
open class ASAuthorizationController: NSObject {}

public protocol ASAuthorizationCredential: NSObjectProtocol {}

open class ASAuthorization: NSObject {
    open var credential: any ASAuthorizationCredential { ASAuthorizationAppleIDCredential() }
}

open class ASAuthorizationAppleIDCredential: NSObject, ASAuthorizationCredential {
    /// A JWT, in UTF-8.
    open var identityToken: Data? { nil }
}
