// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Glibc

/// The question to OpenSSL whether certificates lead to a trusted certificate.
struct CertificatePath {
    let leaf: Certificate
    /// What may lie between.
    let untrusted: [Certificate]
    /// Where the path may end.
    let trusted: [Certificate]
    /// Whether a trusted certificate ends the path although another issued it.
    var endsAnywhere = false

    /// The path that OpenSSL finds, and finds good at the instant, from the leaf to a trusted certificate.
    func found(at unixSeconds: Int64) throws(ChainError) -> [Certificate] {
        let answer: Result<[Certificate], ChainError>
        do throws(OpenSSLError) {
            answer = try asked(at: unixSeconds)
        } catch {
            throw .openSSL(error)
        }
        return try answer.get()
    }

    private func asked(at unixSeconds: Int64) throws(OpenSSLError) -> Result<[Certificate], ChainError> {
        let untrusted = try CertificateStack.make(untrusted)
        let trusted = try CertificateStack.make(trusted)
        let context = try unsafe Owned(
            X509_STORE_CTX_new(),
            freedBy: { unsafe X509_STORE_CTX_free($0) },
            while: CertificateStack.operation
        )
        try unsafe start(context.pointer, untrusted: untrusted, trusted: trusted, at: unixSeconds)
        guard unsafe X509_verify_cert(context.pointer) == 1 else {
            OpenSSLError.forget()
            let code = unsafe X509_STORE_CTX_get_error(context.pointer)
            return .failure(unsafe ChainError(code: code, depth: X509_STORE_CTX_get_error_depth(context.pointer)))
        }
        return .success(unsafe certificates(in: X509_STORE_CTX_get0_chain(context.pointer)))
    }

    private func start(
        _ context: OpaquePointer,
        untrusted: borrowing Owned,
        trusted: borrowing Owned,
        at unixSeconds: Int64
    ) throws(OpenSSLError) {
        // No store, so that not one certificate of the system is known.
        let isStarted = unsafe leaf.body.withX509 { leaf in
            unsafe X509_STORE_CTX_init(context, nil, leaf, untrusted.pointer) == 1
        }
        guard isStarted, let parameters = unsafe X509_STORE_CTX_get0_param(context) else {
            throw .drain(CertificateStack.operation)
        }
        unsafe X509_STORE_CTX_set0_trusted_stack(context, trusted.pointer)
        unsafe X509_VERIFY_PARAM_set_time(parameters, time_t(unixSeconds))
        unsafe X509_VERIFY_PARAM_set_depth(parameters, Int32(self.untrusted.count))
        // Keys and digests of at least 112 bits of security: no SHA-1, no RSA below 2048 bits.
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 2)
        if endsAnywhere { unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN)) }
    }

    /// Our own values for what is in OpenSSL's chain, which are all of those that it was given.
    private func certificates(in chain: OpaquePointer?) -> [Certificate] {
        let given = [leaf] + untrusted + trusted
        return unsafe (0..<shim_sk_X509_num(chain)).compactMap { index in
            guard let found = unsafe shim_sk_X509_value(chain, index) else { return nil }
            return given.first { certificate in
                unsafe certificate.body.withX509 { unsafe X509_cmp($0, found) == 0 }
            }
        }
    }
}

/// OpenSSL's lists of certificates.
enum CertificateStack {
    static let operation = "check the certificate chain"

    /// A list; what it is made of lives as long as it does.
    static func make(_ certificates: [Certificate]) throws(OpenSSLError) -> Owned {
        let stack = try unsafe Owned(
            shim_sk_X509_new(),
            freedBy: { stack in withExtendedLifetime(certificates) { unsafe shim_sk_X509_free(stack) } },
            while: operation
        )
        for certificate in certificates {
            let count = unsafe certificate.body.withX509 { unsafe shim_sk_X509_push(stack.pointer, $0) }
            guard count > 0 else { throw .drain(operation) }
        }
        return stack
    }
}
