// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// Computes which P-256 keys may have made one signature, from the signature and what it may have been made over.
///
/// A signature over a digest fits two keys as a rule, and never more than four. Everything here is public, so nothing runs in
/// constant time.
///
/// Source: [SEC 1](https://www.secg.org/sec1-v2.pdf) section 4.1.6.
package struct KeyRecovery: ~Copyable {
    private let curve: Owned
    private let context: Owned
    /// r⁻¹, modulo the order of the curve.
    private let inverse: Owned
    /// s·r⁻¹·R, uncompressed, for each point R whose first coordinate may be r; they are the same for every digest.
    private let points: [[UInt8]]

    /// Prepares for a signature.
    package init(_ signature: ECDSASignature) throws(OpenSSLError) {
        let raw = signature.rawRS
        let curve = try unsafe Owned(
            EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1),
            freedBy: { unsafe EC_GROUP_free($0) },
            while: Self.recovering
        )
        let context = try unsafe Owned(BN_CTX_new(), freedBy: { unsafe BN_CTX_free($0) }, while: Self.recovering)
        let r = try Self.number(raw.prefix(32))
        let s = try Self.number(raw.suffix(32))
        let inverse = try Self.number()
        let factor = try Self.number()
        let order = unsafe EC_GROUP_get0_order(curve.pointer)
        guard unsafe BN_mod_inverse(inverse.pointer, r.pointer, order, context.pointer) != nil,
            unsafe BN_mod_mul(factor.pointer, s.pointer, inverse.pointer, order, context.pointer) == 1
        else { throw .drain(Self.recovering) }
        var points: [[UInt8]] = []
        for point in try Self.points(r, on: curve, context) {
            if let product = try Self.product(of: point, factor, on: curve, context) { points.append(product) }
        }
        self.points = points
        self.curve = curve
        self.context = context
        self.inverse = inverse
    }

    /// The SubjectPublicKeyInfo of each key that may have signed the digest.
    package func candidates(_ digest: SHA256Digest) throws(OpenSSLError) -> [[UInt8]] {
        let hash = try Self.number(Array(digest.bytes)[...])
        let negated = try Self.number()
        let order = unsafe EC_GROUP_get0_order(curve.pointer)
        // −e·r⁻¹: the order minus the product, which is below it.
        guard unsafe BN_mod_mul(hash.pointer, hash.pointer, inverse.pointer, order, context.pointer) == 1,
            unsafe BN_sub(negated.pointer, order, hash.pointer) == 1
        else { throw .drain(Self.recovering) }
        let shift = try Self.point(curve)
        guard
            unsafe EC_POINT_mul(curve.pointer, shift.pointer, negated.pointer, nil, nil, context.pointer) == 1
        else { throw .drain(Self.recovering) }
        var found: [[UInt8]] = []
        for point in points {
            let key = try Self.point(curve)
            guard
                unsafe EC_POINT_oct2point(curve.pointer, key.pointer, point, point.count, context.pointer) == 1,
                unsafe EC_POINT_add(curve.pointer, key.pointer, key.pointer, shift.pointer, context.pointer) == 1
            else { throw .drain(Self.recovering) }
            if let bytes = Self.bytes(of: key, on: curve, context) { found.append(PublicKey.spkiPrefix + bytes) }
        }
        return found
    }

    /// A point times a number; `nil` of the point at infinity.
    private static func product(
        of point: [UInt8],
        _ factor: borrowing Owned,
        on curve: borrowing Owned,
        _ context: borrowing Owned
    ) throws(OpenSSLError) -> [UInt8]? {
        let product = try Self.point(curve)
        guard
            unsafe EC_POINT_oct2point(curve.pointer, product.pointer, point, point.count, context.pointer) == 1,
            unsafe EC_POINT_mul(
                curve.pointer,
                product.pointer,
                nil,
                product.pointer,
                factor.pointer,
                context.pointer
            ) == 1
        else { throw .drain(recovering) }
        return bytes(of: product, on: curve, context)
    }

    private static let recovering = "recover a public key"

    private static func number() throws(OpenSSLError) -> Owned {
        try unsafe Owned(BN_new(), freedBy: { unsafe BN_free($0) }, while: recovering)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) throws(OpenSSLError) -> Owned {
        let bytes = Array(bytes)
        return try unsafe Owned(
            BN_bin2bn(bytes, Int32(bytes.count), nil),
            freedBy: { unsafe BN_free($0) },
            while: recovering
        )
    }

    private static func point(_ curve: borrowing Owned) throws(OpenSSLError) -> Owned {
        try unsafe Owned(EC_POINT_new(curve.pointer), freedBy: { unsafe EC_POINT_free($0) }, while: recovering)
    }

    /// r and, where that is below the field's prime, r plus the order; each with both of its second coordinates.
    private static func points(
        _ r: borrowing Owned,
        on curve: borrowing Owned,
        _ context: borrowing Owned
    ) throws(OpenSSLError) -> [[UInt8]] {
        let prime = try number()
        let larger = try number()
        guard unsafe EC_GROUP_get_curve(curve.pointer, prime.pointer, nil, nil, context.pointer) == 1,
            unsafe BN_add(larger.pointer, r.pointer, EC_GROUP_get0_order(curve.pointer)) == 1
        else { throw .drain(recovering) }
        var found = try points(at: r, on: curve, context)
        if unsafe BN_cmp(larger.pointer, prime.pointer) < 0 { found += try points(at: larger, on: curve, context) }
        return found
    }

    /// None of a number that is no point's first coordinate.
    private static func points(
        at x: borrowing Owned,
        on curve: borrowing Owned,
        _ context: borrowing Owned
    ) throws(OpenSSLError) -> [[UInt8]] {
        var found: [[UInt8]] = []
        for parity: Int32 in [0, 1] {
            let point = try point(curve)
            let isOnCurve = unsafe EC_POINT_set_compressed_coordinates(
                curve.pointer,
                point.pointer,
                x.pointer,
                parity,
                context.pointer
            )
            guard isOnCurve == 1 else {
                OpenSSLError.forget()
                continue
            }
            if let bytes = bytes(of: point, on: curve, context) { found.append(bytes) }
        }
        return found
    }

    /// Uncompressed, 65 bytes; `nil` of the point at infinity.
    private static func bytes(
        of point: borrowing Owned,
        on curve: borrowing Owned,
        _ context: borrowing Owned
    ) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65)
        let count = unsafe EC_POINT_point2oct(
            curve.pointer,
            point.pointer,
            POINT_CONVERSION_UNCOMPRESSED,
            &bytes,
            bytes.count,
            context.pointer
        )
        return count == bytes.count ? bytes : nil
    }
}

extension PublicKey {
    /// The bytes before the point in the SubjectPublicKeyInfo of a key on P-256 (RFC 5480).
    fileprivate static let spkiPrefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
        0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
}
