import JOSE
import Testing

@testable import Formats

/// A string, an encoding, and the secret that the string encodes; nil where it is refused.
struct SecretText: Sendable, CustomTestStringConvertible {
    let encoding: SecretEncoding
    let text: String
    let expected: [UInt8]?

    init(_ encoding: SecretEncoding, _ text: String, _ expected: [UInt8]?) {
        self.encoding = encoding
        self.text = text
        self.expected = expected
    }

    var testDescription: String { "\(text.debugDescription) as \(encoding.rawValue)" }

    static let all = [
        SecretText(.utf8, "abc", [0x61, 0x62, 0x63]), SecretText(.utf8, "é", [0xC3, 0xA9]),
        SecretText(.utf8, " \t\r\n abc\u{B}\u{C}\r\n", [0x61, 0x62, 0x63]),
        SecretText(.utf8, "a b\nc", Array("a b\nc".utf8)),
        SecretText(.utf8, "\u{A0}a\u{A0}", [0xC2, 0xA0, 0x61, 0xC2, 0xA0]),
        SecretText(.utf8, "6162", Array("6162".utf8)),
        SecretText(.utf8, "\u{FEFF}abc\r\n", [0x61, 0x62, 0x63]), SecretText(.hex, "\u{FEFF}abcd", [0xAB, 0xCD]),
        SecretText(.base64, "\u{FEFF}Zm8=", [0x66, 0x6F]), SecretText(.base64url, "\u{FEFF} Zm8", [0x66, 0x6F]),
        SecretText(.utf8, "a\u{FEFF}b", Array("a\u{FEFF}b".utf8)),
        SecretText(.utf8, "a\0b\0", nil), SecretText(.utf8, "\0a\0b", nil),
        SecretText(.hex, "00ff7F", [0x00, 0xFF, 0x7F]), SecretText(.hex, "aBcDeF", [0xAB, 0xCD, 0xEF]),
        SecretText(.hex, "ABCDEF", [0xAB, 0xCD, 0xEF]), SecretText(.hex, "\nabcdef\r\n", [0xAB, 0xCD, 0xEF]),
        SecretText(.hex, "abc", nil), SecretText(.hex, "0x00", nil), SecretText(.hex, "ag", nil),
        SecretText(.hex, "a b ", nil),
        SecretText(.hex, "ab cd", nil), SecretText(.hex, "ab:cd", nil), SecretText(.hex, "é", nil),
        SecretText(.hex, "//", nil),
        SecretText(.hex, "::", nil), SecretText(.hex, "@@", nil), SecretText(.hex, "GG", nil),
        SecretText(.hex, "``", nil),
        SecretText(.base64, "Zm8=", [0x66, 0x6F]), SecretText(.base64, "Zm8=\n", [0x66, 0x6F]),
        SecretText(.base64, "+/+/", [0xFB, 0xFF, 0xBF]),
        SecretText(.base64, "Zm8", nil), SecretText(.base64, "Zm9=", nil), SecretText(.base64, "-_-_", nil),
        SecretText(.base64, "Zm9v\nZm9v", nil),
        SecretText(.base64url, "Zm8", [0x66, 0x6F]), SecretText(.base64url, " Zm8\n", [0x66, 0x6F]),
        SecretText(.base64url, "-_-_", [0xFB, 0xFF, 0xBF]), SecretText(.base64url, "Zm8=", nil),
        SecretText(.base64url, "Zm9", nil),
        SecretText(.base64url, "+/+/", nil),
    ]
}

@Suite("Secrets")
struct SecretTests {
    @Test(arguments: SecretText.all)
    func `a secret's text is its bytes in the stated encoding`(_ secret: SecretText) throws {
        guard let expected = secret.expected else {
            expectRefusal(.invalidEncoding) { try secret.encoding.decode(SecretBytes(text: secret.text)) }
            return
        }
        #expect(try secret.encoding.decode(SecretBytes(text: secret.text)).array == expected)
    }

    @Test(arguments: SecretEncoding.allCases, ["", " ", "\n", " \t\r\n\u{B}\u{C}"])
    func `an empty secret is refused`(_ encoding: SecretEncoding, _ text: String) {
        expectRefusal(.invalidKey) { try encoding.decode(SecretBytes(text: text)) }
    }

    @Test(
        arguments: [[0xFF], [0x61, 0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80]] as [[UInt8]])
    func `bytes that are not UTF-8 are refused in every encoding`(_ bytes: [UInt8]) {
        for encoding in SecretEncoding.allCases {
            expectRefusal(.invalidEncoding) { try encoding.decode(SecretBytes(copying: bytes)) }
        }
    }

    @Test func `encodings have the names that settings use`() {
        #expect(SecretEncoding.allCases.map(\.rawValue) == ["utf8", "hex", "base64", "base64url"])
    }

    @Test(arguments: [SecretEncoding.hex, .base64, .base64url], [1, 2, 3, 32, 255])
    func `a secret's text reads back as the secret`(_ encoding: SecretEncoding, count: Int) throws {
        let secret = try SecretBytes.random(count: count)
        let text = encoding.encode(secret)
        #expect(try encoding.decode(text).equals(secret))
        #expect(text.array.allSatisfy { $0 > 0x20 && $0 < 0x7F })
    }

    @Test func `a secret is written in each encoding as it is read`() {
        let secret = SecretBytes(copying: [0x00, 0xFB, 0xFF, 0xBF])
        #expect(SecretEncoding.hex.encode(secret).text == "00fbffbf")
        #expect(SecretEncoding.base64.encode(secret).text == "APv/vw==")
        #expect(SecretEncoding.base64url.encode(secret).text == "APv_vw")
        #expect(SecretEncoding.utf8.encode(SecretBytes(text: "a é")).text == "a é")
        for encoding in SecretEncoding.allCases { #expect(encoding.encode(SecretBytes(text: "")).count == 0) }
    }

    @Test(arguments: [
        ("a\n", "a"), ("a\r\n", "a"), ("a\n\n", "a"), (" a ", " a "), ("\na", "\na"), ("a \n", "a "), ("\r\n", ""),
        ("", ""),
    ])
    func `a line end is no part of a passphrase, a space is`(text: String, expected: String) {
        #expect(SecretBytes(text: text).trimmingLineEnd().array == Array(expected.utf8))
    }

    @Test func `a secret keeps its bytes, and equals only a secret of the same bytes`() {
        let secret = SecretBytes(text: "hunter2")
        #expect(secret.count == 7)
        #expect(secret.text == "hunter2")
        #expect(secret.equals(secret))
        #expect(secret.equals(SecretBytes(text: "hunter2")))
        for other in ["hunter3", "Hunter2", "hunter", "hunter22", ""] {
            #expect(!secret.equals(SecretBytes(text: other)))
        }
        #expect(SecretBytes(text: "").equals(SecretBytes(copying: [])))
    }

    @Test(arguments: [(5, 5), (5, 3), (5, 0), (5, 9), (5, -1), (0, 0)])
    func `a secret keeps as many bytes as were written, never more than fit`(capacity: Int, written: Int) {
        let secret = SecretBytes(capacity: capacity) { target in
            for index in target.indices { target[index] = UInt8(index + 1) }
            return written
        }
        #expect(secret.array == Array([1, 2, 3, 4, 5].prefix(max(min(written, capacity), 0))))
    }

    @Test func `an initializer's error is passed on`() {
        expectRefusal(.libcrypto) {
            try SecretBytes(capacity: 8) { _ throws(JOSEError) -> Int in throw JOSEError(.libcrypto, "refused") }
        }
    }

    @Test func `neither description nor dump reveals a secret, nor does a key that contains one`() throws {
        let text = "hunter2-hunter2-hunter2-hunter2!"
        let secret = SecretBytes(text: text)
        #expect("\(secret)" == "SecretBytes(32 bytes)")
        let key = try SigningKey(secret: secret, algorithm: .hs256, keyID: "a")
        let array = Array(text.utf8)
        for value in [secret, key, key.verificationKey, [secret], ["key": key]] as [Any] {
            var shown =
                "\(value) \(String(describing: value)) \(String(reflecting: value)) \(Mirror(reflecting: value).children.map { "\($0)" })"
            dump(value, to: &shown)
            #expect(!shown.contains("hunter"))
            #expect(!shown.contains("\(array[0]), \(array[1])"))
            #expect(shown.contains("SecretBytes(32 bytes)"))
        }
        #expect(Mirror(reflecting: secret).children.isEmpty)
    }

    @Test func `a secret can be written behind a prefix`() {
        #expect(SecretBytes("user:".utf8, followedBy: SecretBytes(text: "hunter2")).text == "user:hunter2")
        #expect(SecretBytes("".utf8, followedBy: SecretBytes(text: "")).count == 0)
    }

    @Test func `random secrets are of the wanted length and differ`() throws {
        let secrets = try (0..<50).map { _ in try SecretBytes.random(count: 32) }
        #expect(secrets.allSatisfy { $0.count == 32 })
        #expect(Set(secrets.map(\.array)).count == 50)
        #expect(try SecretBytes.random(count: 0).count == 0)
    }

    @Test func `a refusal contains nothing of the refused text`() {
        for encoding in SecretEncoding.allCases where encoding != .utf8 {
            let error = #expect(throws: JOSEError.self) { try encoding.decode(SecretBytes(text: "hunter2!")) }
            #expect(error.map { "\($0)".contains("hunter") } == false)
        }
    }
}
