// SPDX-License-Identifier: Apache-2.0
import COpenSSL
import Glibc

extension CertificateChain {
    /// The path that OpenSSL finds, and finds good at the instant, from the leaf to one of the roots.
    func path(to anchors: TrustAnchors, at unixSeconds: Int64) throws(ChainError) -> [Certificate] {
        let answer: Result<[Certificate], ChainError>
        do throws(OpenSSLError) {
            answer = try found(to: anchors, at: unixSeconds)
        } catch {
            throw .openSSL(error)
        }
        return try answer.get()
    }

    private func found(
        to anchors: TrustAnchors,
        at unixSeconds: Int64
    ) throws(OpenSSLError) -> Result<[Certificate], ChainError> {
        let untrusted = try Self.stack([intermediate])
        let trusted = try Self.stack(anchors.certificates)
        let context = try unsafe Owned(
            X509_STORE_CTX_new(),
            freedBy: { unsafe X509_STORE_CTX_free($0) },
            while: Self.operation
        )
        try unsafe start(context.pointer, untrusted, trusted, at: unixSeconds)
        guard unsafe X509_verify_cert(context.pointer) == 1 else {
            OpenSSLError.forget()
            let code = unsafe X509_STORE_CTX_get_error(context.pointer)
            return .failure(unsafe ChainError(code: code, depth: X509_STORE_CTX_get_error_depth(context.pointer)))
        }
        let chain = unsafe X509_STORE_CTX_get0_chain(context.pointer)
        return .success(unsafe Self.certificates(in: chain, [leaf, intermediate], anchors))
    }

    private func start(
        _ context: OpaquePointer,
        _ untrusted: borrowing Owned,
        _ trusted: borrowing Owned,
        at unixSeconds: Int64
    ) throws(OpenSSLError) {
        // No store, so that not one certificate of the system is known.
        let isStarted = unsafe leaf.body.withX509 { leaf in
            unsafe X509_STORE_CTX_init(context, nil, leaf, untrusted.pointer) == 1
        }
        guard isStarted, let parameters = unsafe X509_STORE_CTX_get0_param(context) else {
            throw .drain(Self.operation)
        }
        unsafe X509_STORE_CTX_set0_trusted_stack(context, trusted.pointer)
        unsafe X509_VERIFY_PARAM_set_time(parameters, time_t(unixSeconds))
        // Between leaf and root.
        unsafe X509_VERIFY_PARAM_set_depth(parameters, 1)
        // Keys and digests of at least 112 bits of security: no SHA-1, no RSA below 2048 bits.
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, 2)
    }

    /// Our own values for what is in OpenSSL's chain, which are all of those that it was given.
    private static func certificates(
        in chain: OpaquePointer?,
        _ sent: [Certificate],
        _ anchors: TrustAnchors
    ) -> [Certificate] {
        unsafe (0..<shim_sk_X509_num(chain)).compactMap { index in
            guard let found = unsafe shim_sk_X509_value(chain, index) else { return nil }
            return (sent + anchors.certificates).first { certificate in
                unsafe certificate.body.withX509 { unsafe X509_cmp($0, found) == 0 }
            }
        }
    }

    /// OpenSSL's list of certificates; what it is made of lives as long as the list.
    private static func stack(_ certificates: [Certificate]) throws(OpenSSLError) -> Owned {
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

    private static let operation = "check the certificate chain"
}
