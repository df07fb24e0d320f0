import COpenSSL

/// The factors of an RSA key from its modulus and both exponents (NIST SP 800-56B, appendix C.1): for private JWKs that hold
/// `n`, `e` and `d` alone. libcrypto writes no private key without factors.
enum RSAFactors {
    /// The members that hold the factors, and libcrypto's names of them: compound macros, spelled out.
    static let members: [(jwk: String, libcrypto: String)] = [
        ("p", "rsa-factor1"), ("q", "rsa-factor2"), ("dp", "rsa-exponent1"), ("dq", "rsa-exponent2"),
        ("qi", "rsa-coefficient1"),
    ]

    /// Each base finds the factors with a chance of at least one half.
    private static let bases: ClosedRange<UInt> = 2...100

    /// Returns the numbers p, q, dp, dq and qi, in the order of `members`.
    ///
    /// - Throws: `JOSEError` with `.invalidKey` where the three numbers are not one key, `.libcrypto` without memory.
    static func find(modulus: [UInt8], exponent: [UInt8], d: SecretBytes) throws(JOSEError) -> [SecretBytes] {
        let numbers = try BigNumbers()
        defer { clearCryptoErrors() }
        guard let n = unsafe numbers.number(modulus), let e = unsafe numbers.number(exponent),
            let d = unsafe numbers.number(d), let p = unsafe numbers.number()
        else { throw BigNumbers.outOfMemory }
        guard unsafe BN_is_odd(n) == 1, unsafe BN_is_odd(e) == 1, unsafe BN_is_odd(d) == 1,
            unsafe BN_num_bits(n) <= 16384, unsafe BN_cmp(d, n) < 0, unsafe BN_cmp(e, n) < 0
        else { throw notOneKey }
        guard unsafe findFactor(p, n: n, e: e, d: d, numbers) else { throw notOneKey }
        return unsafe try members(p, n: n, d: d, numbers)
    }

    /// Writes a factor of `n` to `p`: a square root of 1 modulo n that is neither 1 nor -1 shares one with n.
    private static func findFactor(
        _ p: OpaquePointer, n: OpaquePointer, e: OpaquePointer, d: OpaquePointer, _ numbers: BigNumbers
    ) -> Bool {
        guard let odd = unsafe numbers.number(), let base = unsafe numbers.number(), let root = unsafe numbers.number(),
            let square = unsafe numbers.number(), let last = unsafe numbers.number(),
            unsafe BN_mul(odd, d, e, numbers.context) == 1, unsafe BN_sub_word(odd, 1) == 1,
            unsafe BN_sub(last, n, BN_value_one()) == 1
        else { return false }
        var halvings = 0
        while unsafe BN_is_zero(odd) == 0, unsafe BN_is_odd(odd) == 0 {
            guard unsafe BN_rshift1(odd, odd) == 1 else { return false }
            halvings += 1
        }
        unsafe BN_set_flags(odd, BN_FLG_CONSTTIME)
        for word in bases {
            guard unsafe BN_set_word(base, word) == 1,
                unsafe BN_mod_exp(root, base, odd, n, numbers.context) == 1
            else { return false }
            for _ in 0..<halvings where unsafe BN_is_one(root) == 0 && BN_cmp(root, last) != 0 {
                guard unsafe BN_mod_sqr(square, root, n, numbers.context) == 1 else { return false }
                if unsafe BN_is_one(square) == 1 {
                    return unsafe BN_sub_word(root, 1) == 1 && BN_gcd(p, root, n, numbers.context) == 1
                }
                guard unsafe BN_copy(root, square) != nil else { return false }
            }
        }
        return false
    }

    private static func members(
        _ factor: OpaquePointer, n: OpaquePointer, d: OpaquePointer, _ numbers: BigNumbers
    ) throws(JOSEError) -> [SecretBytes] {
        guard let cofactor = unsafe numbers.number(), let rest = unsafe numbers.number(),
            let less = unsafe numbers.number(), let dp = unsafe numbers.number(), let dq = unsafe numbers.number(),
            let qi = unsafe numbers.number()
        else { throw BigNumbers.outOfMemory }
        let context = unsafe numbers.context
        guard unsafe BN_div(cofactor, rest, n, factor, context) == 1, unsafe BN_is_zero(rest) == 1 else {
            throw notOneKey
        }
        // The larger one is p, as libcrypto's own keys have it.
        let isOrdered = unsafe BN_cmp(factor, cofactor) > 0
        let p = unsafe isOrdered ? factor : cofactor, q = unsafe isOrdered ? cofactor : factor
        guard unsafe BN_sub(less, p, BN_value_one()) == 1, unsafe BN_div(nil, dp, d, less, context) == 1,
            unsafe BN_sub(less, q, BN_value_one()) == 1, unsafe BN_div(nil, dq, d, less, context) == 1,
            unsafe BN_mod_inverse(qi, q, p, context) != nil
        else { throw notOneKey }
        return unsafe [p, q, dp, dq, qi].map { unsafe BigNumbers.bytes(of: $0) }
    }

    private static let notOneKey = JOSEError(
        .invalidKey, "the JWK's \"n\", \"e\" and \"d\" are not one RSA key; export it again, with p, q, dp, dq and qi")
}

/// Numbers for one computation with a secret; libcrypto overwrites them all when it is over.
@safe
private final class BigNumbers {
    let context: OpaquePointer

    static let outOfMemory = JOSEError(.libcrypto, "libcrypto is out of memory")

    init() throws(JOSEError) {
        guard let context = unsafe BN_CTX_secure_new() else { throw Self.outOfMemory }
        unsafe self.context = unsafe context
        unsafe BN_CTX_start(context)
    }

    deinit {
        unsafe BN_CTX_end(context)
        unsafe BN_CTX_free(context)
    }

    /// Returns a number that is zero.
    func number() -> OpaquePointer? { unsafe BN_CTX_get(context) }

    /// Returns the number of the big-endian `bytes`.
    func number(_ bytes: [UInt8]) -> OpaquePointer? {
        guard let number = unsafe number() else { return nil }
        return unsafe BN_bin2bn(bytes, Int32(clamping: bytes.count), number)
    }

    /// Returns the number of the big-endian `secret`.
    func number(_ secret: SecretBytes) -> OpaquePointer? {
        guard let number = unsafe number() else { return nil }
        return unsafe secret.withBytes { bytes in
            unsafe BN_bin2bn(
                bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(clamping: bytes.count), number)
        }
    }

    /// Returns the bytes of `number`, without leading zeros.
    static func bytes(of number: OpaquePointer) -> SecretBytes {
        let count = unsafe Int(BN_num_bits(number) + 7) / 8
        return unsafe SecretBytes(capacity: count) { buffer in
            unsafe Int(BN_bn2bin(number, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self)))
        }
    }
}
