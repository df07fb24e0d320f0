/// The form of a file that was given as a private key in PEM, recognized by its first bytes and the labels of its
/// blocks.
///
/// Nothing of the file but its labels leaves the secret's memory.
struct KeyFileForm {
    /// A block of PEM: `-----BEGIN RSA PRIVATE KEY-----`.
    struct Block {
        let label: String
        /// The line it begins at, from 1.
        let line: Int

        var isPrivateKey: Bool { label.hasSuffix("PRIVATE KEY") }
    }

    /// The blocks in the order of the file.
    let blocks: [Block]
    /// The cipher of the first block that names one in a header (RFC 1421, section 4.6.1.3), as PKCS#1 and SEC1 do.
    let headerCipher: String?
    private let binary: Binary?

    fileprivate enum Binary {
        case pkcs12, der, javaKeyStore, puTTY, json
    }

    private static let mark = Array("-----BEGIN ".utf8)
    private static let cipherHeader = Array("DEK-Info: ".utf8)
    /// `ENCRYPTED PRIVATE KEY` and its like.
    private static let longestLabel = 40

    init(_ text: SecretBytes) {
        (blocks, headerCipher, binary) = unsafe text.withBytes { bytes in
            let (blocks, cipher) = unsafe Self.blocks(in: bytes)
            return unsafe (blocks, cipher, blocks.isEmpty ? Self.binary(bytes) : nil)
        }
    }

    private static func blocks(in bytes: UnsafeRawBufferPointer) -> ([Block], String?) {
        var blocks: [Block] = []
        var cipher: String?
        var line = 1
        var start = 0
        while start < bytes.count {
            let rest = unsafe bytes[start...]
            if unsafe rest.starts(with: mark) {
                let label = unsafe rest.dropFirst(mark.count).prefix(longestLabel).prefix { byte in
                    byte != UInt8(ascii: "-") && byte >= 0x20
                }
                unsafe blocks.append(Block(label: String(decoding: label, as: UTF8.self), line: line))
            } else if cipher == nil, unsafe rest.starts(with: cipherHeader) {
                let name = unsafe rest.dropFirst(cipherHeader.count).prefix(longestLabel).prefix { byte in
                    byte != UInt8(ascii: ",") && byte > 0x20
                }
                unsafe cipher = String(decoding: name, as: UTF8.self)
            }
            guard let end = unsafe rest.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) else { break }
            // The two bytes of a Windows line end are one end.
            let isPair = unsafe bytes[end] == 0x0D && end + 1 < bytes.count && bytes[end + 1] == 0x0A
            start = end + (isPair ? 2 : 1)
            line += 1
        }
        return (blocks, cipher)
    }

    private static func binary(_ bytes: UnsafeRawBufferPointer) -> Binary? {
        if unsafe bytes.starts(with: [0xFE, 0xED, 0xFE, 0xED]) || bytes.starts(with: [0xCE, 0xCE, 0xCE, 0xCE]) {
            return .javaKeyStore
        }
        if unsafe bytes.starts(with: "PuTTY-User-Key-File".utf8) { return .puTTY }
        guard let first = unsafe bytes.first(where: { $0 > 0x20 }) else { return nil }
        if first == UInt8(ascii: "{") { return .json }
        guard unsafe bytes[0] == 0x30, bytes.count > 8 else { return nil }
        // The length's own width, and what begins behind it: PKCS#12 begins with the version 3 (RFC 7292, section 4).
        let width = unsafe bytes[1] < 0x80 ? 0 : Int(bytes[1] & 0x7F)
        guard width <= 4 else { return nil }
        return unsafe bytes[(2 + width)...].starts(with: [2, 1, 3]) ? .pkcs12 : .der
    }

    /// Checks that the file holds one private key and no second one.
    ///
    /// - Throws: `JOSEError` with `.invalidKey`.
    func requireOneKey() throws(JOSEError) {
        let keys = blocks.filter(\.isPrivateKey)
        guard keys.count > 1 else { return }
        let places = keys.map { "\($0.label) in line \($0.line)" }.joined(separator: ", ")
        throw JOSEError(
            .invalidKey, "the file holds \(keys.count.of("private key")): \(places); leave the one that is to sign")
    }

    /// The refusal of a file that libcrypto reads no private key from.
    var refusal: JOSEError {
        let labels = blocks.map(\.label)
        if labels.contains("OPENSSH PRIVATE KEY") {
            return JOSEError(
                .invalidKey,
                "this is OpenSSH's own format; rewrite a copy of the file: ssh-keygen -p -m PEM -f FILE (RSA and ECDSA; OpenSSH keeps Ed25519 in its own format, so generate a new key: remint keys generate)"
            )
        }
        if !labels.contains(where: { $0.hasSuffix("PRIVATE KEY") }) {
            if labels.contains(where: { $0.contains("CERTIFICATE") }) {
                return JOSEError(
                    .privateKeyRequired,
                    "this is a certificate, which holds a public key; a private one is needed to sign")
            }
            if labels.contains(where: { $0.contains("PUBLIC KEY") }) {
                return JOSEError(.privateKeyRequired, "this is a public key; a private one is needed to sign")
            }
        }
        return binary?.refusal ?? JOSEError(.invalidKey, "not a private key in PEM (PKCS#8, PKCS#1 or SEC1)")
    }
}

extension KeyFileForm.Binary {
    fileprivate var refusal: JOSEError {
        let text =
            switch self {
            case .pkcs12:
                "this is PKCS#12 and not PEM; take its key out: openssl pkcs12 -in FILE -nocerts -out key.pem"
            case .der: "this is DER and not PEM; convert it: openssl pkey -inform DER -in FILE -out key.pem"
            case .javaKeyStore:
                "this is a Java keystore and not PEM; convert it: keytool -importkeystore -srckeystore FILE -destkeystore key.p12 -deststoretype PKCS12, then: openssl pkcs12 -in key.p12 -nocerts -out key.pem"
            case .puTTY: "this is PuTTY's own format; convert it: puttygen FILE -O private-openssh -o key.pem"
            case .json: "this is JSON and not PEM; a JWK is imported with --jwk"
            }
        return JOSEError(.invalidKey, text)
    }
}
