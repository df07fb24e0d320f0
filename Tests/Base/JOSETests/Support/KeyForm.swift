import Foundation
import JOSE
import ProgramTestSupport
import Testing

/// A private key as some tool leaves it in the file `key`.
struct KeyForm: Sendable, CustomTestStringConvertible {
    enum Content { case pem, jwk }

    let testDescription: String
    let algorithm: Algorithm
    let content: Content
    /// A line of shell that makes `key`.
    let command: String
    /// The program it needs besides openssl; nil for none.
    let tool: Maker?

    enum Maker: String, Sendable { case keytool, python = "python3", sshKeygen = "ssh-keygen" }

    static let passphrase = "pass-phrase"

    private init(
        _ name: String, _ algorithm: Algorithm, _ command: String, _ content: Content = .pem, tool: Maker? = nil
    ) {
        (testDescription, self.algorithm, self.command, self.content) = (name, algorithm, command, content)
        self.tool = tool
    }

    private static let rsa = "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out plain"
    private static func ec(_ curve: String) -> String { "openssl ecparam -name \(curve) -genkey -noout" }
    private static let aes = "-aes256 -passout pass:\(passphrase)"

    static let accepted = openSSL + unusual + java + python
    /// Those that a passphrase opens, by a cipher whose refusal of another one is certain.
    static let encrypted = openSSL.filter {
        ["PKCS#1, encrypted", "SEC1, P-521, encrypted", "PKCS#8, PBES2 with AES"].contains($0.testDescription)
    }

    private static let openSSL = [
        KeyForm("PKCS#8, RSA", .rs256, "\(rsa) && cp plain key"),
        KeyForm("PKCS#1", .ps256, "openssl genrsa -traditional -out key 2048"),
        KeyForm("PKCS#1, encrypted", .rs512, "openssl genrsa -traditional \(aes) -out key 2048"),
        KeyForm("SEC1, P-256", .es256, "\(ec("prime256v1")) -out key"),
        KeyForm("SEC1, P-384", .es384, "\(ec("secp384r1")) -out key"),
        KeyForm("SEC1, P-521, encrypted", .es512, "\(ec("secp521r1")) | openssl ec \(aes) -out key"),
        KeyForm("PKCS#8, Ed25519", .eddsa, "openssl genpkey -algorithm ED25519 -out key"),
        KeyForm(
            "PKCS#8, PBES2 with AES", .rs256,
            "\(rsa) && openssl pkcs8 -topk8 -v2 aes-256-cbc -in plain -out key -passout pass:\(passphrase)"),
        KeyForm(
            "PKCS#8, PBES2 with AES and scrypt", .es256,
            "\(ec("prime256v1")) | openssl pkcs8 -topk8 -scrypt -out key -passout pass:\(passphrase)"),
        KeyForm(
            "PKCS#8, 3DES", .rs256,
            "\(rsa) && openssl pkcs8 -topk8 -v1 PBE-SHA1-3DES -in plain -out key -passout pass:\(passphrase)"),
        KeyForm(
            "PEM after Bag Attributes", .rs256,
            "\(rsa) && openssl req -x509 -new -key plain -subj /CN=x -out c.pem && openssl pkcs12 -export -inkey plain -in c.pem -name n -passout pass:p -out k.p12 && openssl pkcs12 -in k.p12 -nodes -passin pass:p -out key && grep -q Bag key"
        ),
        KeyForm("PEM with Windows line ends", .es256, "\(ec("prime256v1")) | sed 's/$/\\r/' > key"),
    ]

    private static let unusual = [
        KeyForm(
            "EC with explicit parameters", .es256,
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit -out key"),
        KeyForm(
            "EC with explicit parameters, P-521", .es512,
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-521 -pkeyopt ec_param_enc:explicit -out key"),
        KeyForm(
            "EC with a compressed point", .es256, "\(ec("prime256v1")) | openssl ec -conv_form compressed -out key"),
        KeyForm("EC with a hybrid point", .es384, "\(ec("secp384r1")) | openssl ec -conv_form hybrid -out key"),
        KeyForm("EC without its public half", .es256, "\(ec("prime256v1")) | openssl ec -no_public -out key"),
        KeyForm(
            "RSA with the exponent 3", .rs256,
            "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_keygen_pubexp:3 -out key"),
        KeyForm(
            "RSA with an exponent of 72 bits", .rs256,
            "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_keygen_pubexp:2361183241434822606849 -out key"
        ),
        KeyForm(
            "OpenSSH's RSA key, rewritten", .rs256,
            "ssh-keygen -q -t rsa -b 2048 -N '' -f key && ssh-keygen -q -p -m PEM -N '' -P '' -f key", tool: .sshKeygen),
    ]

    private static let java = [
        KeyForm(
            "keytool's PKCS#12, RSA", .rs256,
            "keytool -genkeypair -keyalg RSA -keysize 2048 -storetype PKCS12 -keystore k.p12 -storepass changeit -dname CN=x -alias a && openssl pkcs12 -in k.p12 -nodes -nocerts -passin pass:changeit -out key",
            tool: .keytool),
        KeyForm(
            "keytool's PKCS#12, EC", .es256,
            "keytool -genkeypair -keyalg EC -groupname secp256r1 -storetype PKCS12 -keystore k.p12 -storepass changeit -dname CN=x -alias a && openssl pkcs12 -in k.p12 -nodes -nocerts -passin pass:changeit -out key",
            tool: .keytool),
    ]

    private static func jwk(_ key: String, _ rest: String = "k.as_dict(private=True)") -> String {
        "python3 -c 'import json; from joserfc.jwk import *; k = \(key); d = \(rest); json.dump(d, open(\"key\", \"w\"))'"
    }
    private static let microsoft = """
        dict(k.as_dict(private=True), alg=None, use=None, kid=None, key_ops=[], x5c=[], x5t=None, x5u=None, oth=None, k=None)
        """

    private static let python = [
        KeyForm("joserfc's JWK, RSA", .rs256, jwk("RSAKey.generate_key(2048)"), .jwk, tool: .python),
        KeyForm("joserfc's JWK, P-256", .es256, jwk("ECKey.generate_key(\"P-256\")"), .jwk, tool: .python),
        KeyForm("joserfc's JWK, P-521", .es512, jwk("ECKey.generate_key(\"P-521\")"), .jwk, tool: .python),
        KeyForm("joserfc's JWK, Ed25519", .eddsa, jwk("OKPKey.generate_key(\"Ed25519\")"), .jwk, tool: .python),
        KeyForm(
            "a JWK of n, e and d", .rs256,
            jwk(
                "RSAKey.generate_key(2048)",
                "{n: v for n, v in k.as_dict(private=True).items() if n in (\"kty\", \"n\", \"e\", \"d\")}"), .jwk,
            tool: .python),
        KeyForm(
            "a JWK with every member, most of them null", .rs256, jwk("RSAKey.generate_key(2048)", microsoft), .jwk,
            tool: .python),
        KeyForm(
            "a JWK with the alg Ed25519", .eddsa,
            jwk("OKPKey.generate_key(\"Ed25519\")", "dict(k.as_dict(private=True), alg=\"Ed25519\")"), .jwk,
            tool: .python),
        KeyForm(
            "a JWK Set with one private key", .es256,
            jwk(
                "ECKey.generate_key(\"P-256\")",
                "{\"keys\": [ECKey.generate_key(\"P-256\").as_dict(private=False), k.as_dict(private=True)]}"), .jwk,
            tool: .python),
        KeyForm(
            "cryptography's best encryption", .rs256,
            "python3 -c 'from cryptography.hazmat.primitives.asymmetric import rsa; from cryptography.hazmat.primitives.serialization import *; open(\"key\", \"wb\").write(rsa.generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b\"\(passphrase)\")))'",
            tool: .python),
    ]

    /// The tools that this machine lacks, as a list for people.
    static let missingTools = ["keytool", "python3", "ssh-keygen"].filter { !Tool.isInstalled($0) }.joined(
        separator: ", ")

    private static let hasModules = PythonModules.areInstalled("joserfc, cryptography")

    static let available = accepted.filter { form in
        guard let tool = form.tool else { return true }
        guard tool == .python else { return Tool.isInstalled(tool.rawValue) }
        return hasModules
    }

    /// Makes the file and returns its bytes.
    func make() async throws -> [UInt8] {
        let folder = try CommandFolder()
        try await folder.shell(command)
        return try folder.read("key")
    }

    fileprivate func read(_ bytes: [UInt8]) throws -> SigningKey {
        let text = SecretBytes(copying: bytes)
        return switch content {
        case .pem:
            try SigningKey(
                importing: text, passphrase: SecretBytes(text: Self.passphrase), algorithm: algorithm)
        case .jwk: try JWK.signingKey(from: text, algorithm: algorithm)
        }
    }
}

/// The keys of all forms, each made once for all tests.
actor MadeKeys {
    static let shared = MadeKeys()
    private var keys: [String: Task<SigningKey, any Error>] = [:]

    func key(of form: KeyForm) async throws -> SigningKey {
        let task = keys[form.testDescription] ?? Task { try form.read(await form.make()) }
        keys[form.testDescription] = task
        return try await task.value
    }
}

/// A file that is no private key in PEM, by the command that makes it, and words of its refusal.
struct RefusedForm: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let command: String
    let code: JOSEError.Code
    let words: String
    let algorithm: Algorithm
    let tool: String

    private init(
        _ name: String, _ command: String, _ code: JOSEError.Code, _ words: String, _ algorithm: Algorithm = .rs256,
        tool: String = "openssl"
    ) {
        (testDescription, self.command, self.code, self.words) = (name, command, code, words)
        (self.algorithm, self.tool) = (algorithm, tool)
    }

    private static let rsa = "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out plain"
    private static let legacy = "-provider legacy -provider default -passout pass:\(KeyForm.passphrase)"
    private static let certificate = "openssl req -x509 -new -key plain -subj /CN=x"

    static let all = [
        RefusedForm(
            "PKCS#8 with RC2", "\(rsa) && openssl pkcs8 -topk8 -v1 PBE-SHA1-RC2-40 -in plain -out key \(legacy)",
            .unsupportedCipher, "openssl pkcs8 -topk8 -v2 aes-256-cbc -provider legacy"),
        RefusedForm(
            "PKCS#8 with DES", "\(rsa) && openssl pkcs8 -topk8 -v1 PBE-MD5-DES -in plain -out key \(legacy)",
            .unsupportedCipher, "openssl pkcs8 -topk8"),
        RefusedForm(
            "PKCS#1 with DES", "\(rsa) && openssl rsa -in plain -traditional -des -out key \(legacy)",
            .unsupportedCipher, "openssl pkcs8 -topk8"),
        RefusedForm(
            "PKCS#12",
            "\(rsa) && \(certificate) -out c && openssl pkcs12 -export -inkey plain -in c -passout pass:p -out key",
            .invalidKey, "openssl pkcs12 -in FILE -nocerts -out key.pem"),
        RefusedForm(
            "DER, PKCS#8", "\(rsa) && openssl pkey -in plain -outform DER -out key", .invalidKey,
            "openssl pkey -inform DER -in FILE"),
        RefusedForm(
            "DER, PKCS#1", "\(rsa) && openssl rsa -in plain -traditional -outform DER -out key", .invalidKey,
            "openssl pkey -inform DER -in FILE"),
        RefusedForm(
            "DER, SEC1", "openssl ecparam -name prime256v1 -genkey -noout -outform DER -out key", .invalidKey,
            "openssl pkey -inform DER -in FILE", .es256),
        RefusedForm("a certificate", "\(rsa) && \(certificate) -out key", .privateKeyRequired, "this is a certificate"),
        RefusedForm(
            "a public key", "\(rsa) && openssl pkey -in plain -pubout -out key", .privateKeyRequired,
            "this is a public key"),
        RefusedForm(
            "two private keys", "\(rsa) && openssl genrsa -traditional -out other 2048 && cat plain other > key",
            .invalidKey, "2 private keys: PRIVATE KEY in line 1, RSA PRIVATE KEY in line 29"),
        RefusedForm(
            "an RSASSA-PSS key", "openssl genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 -out key",
            .invalidKey, "this is a RSASSA-PSS-only (id-RSASSA-PSS) key", .ps256),
        RefusedForm(
            "another curve", "openssl ecparam -name secp384r1 -genkey -noout -out key", .invalidKey,
            "ES256 needs a key of type P-256, this is a P-384 key", .es256),
        RefusedForm(
            "a curve that JOSE lacks", "openssl ecparam -name secp256k1 -genkey -noout -out key", .invalidKey,
            "this is a secp256k1 (EC) key", .es256),
        RefusedForm("1024 bits", "openssl genrsa -out key 1024", .weakKey, "at least 2048"),
        RefusedForm(
            "a long exponent of a long key",
            "openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:4096 -pkeyopt rsa_keygen_pubexp:2361183241434822606849 -out key",
            .invalidKey, "exponent of more than 64"),
        RefusedForm("a JWK", "echo '{\"kty\":\"RSA\"}' > key", .invalidKey, "imported with --jwk"),
        RefusedForm("PuTTY's format", "echo 'PuTTY-User-Key-File-3: ssh-rsa' > key", .invalidKey, "puttygen FILE"),
        RefusedForm(
            "OpenSSH's format", "ssh-keygen -q -t rsa -b 2048 -N '' -f key", .invalidKey,
            "ssh-keygen -p -m PEM -f FILE", tool: "ssh-keygen"),
        RefusedForm(
            "a Java keystore",
            "keytool -genkeypair -keyalg RSA -keysize 2048 -storetype JKS -keystore key -storepass changeit -keypass changeit -dname CN=x -alias a",
            .invalidKey, "keytool -importkeystore -srckeystore FILE", tool: "keytool"),
    ]

    var isAvailable: Bool { Tool.isInstalled(tool) }

    /// Makes the file and returns its bytes.
    func make() async throws -> SecretBytes {
        let folder = try CommandFolder()
        try await folder.shell(command)
        return SecretBytes(copying: try folder.read("key"))
    }
}
