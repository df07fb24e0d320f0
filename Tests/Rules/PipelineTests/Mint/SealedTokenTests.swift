import AdapterKit
@_spi(Decryption) import JOSE
import Pipeline
import Testing

@Suite("Tokens that are sealed before they are published")
struct SealedTokenTests {
    private func sealed(
        _ vendor: TrustBench.Vendor, by recipient: SealRecipient
    ) async throws -> (record: OutputRecord, token: PublishedToken, bench: TrustBench) {
        let bench = try TrustBench(seal: recipient.seal)
        var processor = bench.processor()
        let settlement = try #require(
            await processor.process([EventShape.raw.record(vendor.app, vendor.report("u-42"))]).first)
        #expect(settlement.outcome == .minted)
        let record = try #require(settlement.output)
        return (record, try PublishedToken(record.body, at: TrustBench.now), bench)
    }

    @Test(arguments: TrustBench.vendors, KeyManagementAlgorithm.allCases)
    func `no stretch of the clear token is in the record, and the recipient's key opens it`(
        _ vendor: TrustBench.Vendor, _ algorithm: KeyManagementAlgorithm
    ) async throws {
        let recipient = try SealRecipient.of(algorithm)
        let (record, token, bench) = try await sealed(vendor, by: recipient)
        #expect(token.sealedFor == "pickup-1")
        #expect(record.values("remint-seal") == ["pickup-1"])
        #expect(try record.json["sealed_for"]?.string == "pickup-1")
        let clear = try recipient.open(token.token)
        let app = try #require(bench.apps.first { $0.name == vendor.app })
        let keys = bench.signing.verificationKeys(of: app.keyRing).map(\.key)
        #expect(
            app.adapter.verify(clear, against: keys, expecting: token.subject, at: TrustBench.now) == .accepted)

        // Every JOSE header begins alike: the JWT's is looked for as a whole, the rest in pieces of eight bytes.
        let parts = clear.split(separator: UInt8(ascii: "."))
        try #require(parts.count == 3)
        let bytes = record.body.bytes
        #expect(!bytes.contains(parts[0]))
        let pieces = Set(bytes.indices.dropLast(7).map { bytes[$0..<$0 + 8] })
        for part in parts.dropFirst() {
            for start in part.indices.dropLast(7) { #expect(!pieces.contains(part[start..<start + 8])) }
        }
    }

    @Test(arguments: KeyManagementAlgorithm.allCases)
    func `a sealed record differs from a clear one only in the token and its recipient`(
        _ algorithm: KeyManagementAlgorithm
    ) async throws {
        let recipient = try SealRecipient.of(algorithm)
        let events: [InputRecord] = [
            .raw(SampleReport.braze(), app: "shop-ios"), .raw(SampleReport.challenge(), app: "push"),
            .raw(SampleReport.bloomreach(), app: "web"),
        ]
        for event in events {
            let plain = try #require(try await TestBench().settle(event).output)
            let sealed = try #require(try await TestBench(seal: recipient.seal).settle(event).output)
            let jwe = String(decoding: try sealed.token, as: UTF8.self)
            let clear = try recipient.open(jwe)
            #expect(try clear == plain.token)
            let text = String(decoding: try #require(sealed.value), as: UTF8.self)
            let opened = text.replacing(
                #""token":"\#(jwe)","sealed_for":"pickup-1""#,
                with: #""token":"\#(String(decoding: clear, as: UTF8.self))""#)
            #expect(Array(opened.utf8) == plain.value)
            #expect(sealed.key == plain.key && sealed.destination == plain.destination)
            #expect(sealed.headers.filter { $0.name != "remint-seal" } == plain.headers)
        }
    }

    @Test(arguments: KeyManagementAlgorithm.allCases)
    func `a sealed token names its content and its key, differs each time, and opens with no other key`(
        _ algorithm: KeyManagementAlgorithm
    ) async throws {
        let recipient = try SealRecipient.of(algorithm)
        let event = InputRecord.raw(SampleReport.braze(), app: "shop-ios")
        let first = try #require(try await TestBench(seal: recipient.seal).settle(event).output).token
        let second = try #require(try await TestBench(seal: recipient.seal).settle(event).output).token
        #expect(first != second)
        let token = try CompactJWE(parsing: first)
        #expect(token.algorithm == algorithm)
        #expect(token.keyID == "pickup-1")
        #expect(token.header["cty"]?.string == "JWT")
        let stranger = try SealRecipient(algorithm)
        let refused = #expect(throws: JOSEError.self) { try token.open(with: stranger.key) }
        #expect(refused?.code == .decryptionFailed)
    }

    /// A device reports the token that it was handed, and knows nothing of a seal.
    @Test func `a report that names the clear token is treated as without a seal`() async throws {
        let recipient = try SealRecipient.of(.ecdhESA256KW)
        let wanted: [Outcome] = [.minted, .deadLettered(.rejectedByVendor), .minted, .superseded(.olderToken)]
        for seal in [nil, recipient.seal] {
            let bench = try TestBench(seal: seal)
            var processor = bench.processor()
            var clear = "", published = SampleReport.signature
            var outcomes: [Outcome] = []
            for (step, seconds) in [Int64(0), 30, 31, 60].enumerated() {
                bench.clock.now = TestBench.now.advanced(bySeconds: seconds)
                let names = [SampleReport.signature, clear, "\(published).another", clear][step]
                let event = InputRecord.sample(
                    SampleReport.braze(code: 20, token: names), headers: [RecordHeader("remint-app", "shop-ios")],
                    offset: Int64(step), timestamp: bench.clock.now)
                let settlement = try #require(await processor.process([event], batch: step).first)
                outcomes.append(settlement.outcome)
                if step == 0,
                    let token = settlement.output.flatMap({ try? PublishedToken($0.body, at: bench.clock.now) })
                {
                    published = token.token
                    clear =
                        token.sealedFor == nil
                        ? token.token : String(decoding: try recipient.open(token.token), as: UTF8.self)
                }
            }
            #expect(outcomes == wanted, "\(seal == nil ? "clear" : "sealed")")
        }
    }

    @Test func `a token that cannot be sealed is not published, and its event is tried again`() async throws {
        let broken = TokenSeal(keyID: "pickup-1") { _ throws(JOSEError) in
            throw JOSEError(.libcrypto, "libcrypto could not encrypt")
        }
        let event = InputRecord.raw(SampleReport.braze(), app: "shop-ios")
        let settlement = try await TestBench(seal: broken).settle(event)
        #expect(settlement.outcome == .deferred(tier: 0, .failed(.mintFailed)))
        let output = try #require(settlement.output)
        #expect(output.destination == .retries(tier: 0))
        #expect(output.value == event.value)
        #expect(settlement.detail == "the token could not be sealed: libcrypto could not encrypt")
    }

    @Test func `a whole batch is sealed, each token for its own subject`() async throws {
        let recipient = try SealRecipient.of(.ecdhESA256KW)
        let bench = try TestBench(seal: recipient.seal)
        var processor = bench.processor()
        let events = (0..<500).map { number in
            InputRecord.raw(SampleReport.bloomreach(id: "user-\(number)"), app: "web", offset: Int64(number))
        }
        for (number, settlement) in await processor.process(events).enumerated() {
            let token = try PublishedToken(#require(settlement.output).body, at: TrustBench.now)
            #expect(token.subjectKey == Array("web/registered=user-\(number)".utf8))
            let claims = try CompactJWS(parsing: recipient.open(token.token)).claims()
            #expect(claims.json.contains(Array("\"user-\(number)\"".utf8)))
        }
    }

    private static let refusedIDs: [(String, String)] = [
        ("none", ""), ("an empty one", #","kid":"""#), ("one of two lines", #","kid":"a\nb""#),
        ("one with a space", #","kid":"a b""#), ("one in Greek", #","kid":"κλειδί""#),
        ("one of 129 bytes", #","kid":"\#(String(repeating: "k", count: 129))""#),
    ]

    @Test(arguments: refusedIDs)
    func `a recipient without a kid that a header can carry is refused`(_ name: String, _ kid: String) throws {
        let key = try SealRecipient.of(.ecdhESA256KW).key.recipient
        let json = try JSONDocument(parsing: key.publicJSON()).root
        let members = json.members.filter { $0.name != "kid" }.map { member in
            #""\#(member.name)":\#(String(decoding: member.value.json, as: UTF8.self))"#
        }
        let text = "{\(members.joined(separator: ","))\(kid)}"
        let refused = #expect(throws: JOSEError.self) {
            try TokenSeal(publicJWK: SecretBytes(copying: text.utf8))
        }
        #expect(refused?.code == .invalidKey)
        #expect(refused?.message.contains("\"kid\" of 1 to 128 visible ASCII characters") == true)
    }
}
