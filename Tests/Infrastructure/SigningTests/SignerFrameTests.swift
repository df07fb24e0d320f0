import AsyncTestSupport
import NIOCore
import Pipeline
import Testing
import WorkerTestSupport

@testable import Signing

@Suite struct SignerFrameTests {
    static let frames: [SignerFrame] =
        [
            .keysRequest(id: 0), .keysRequest(id: .max), .signRequest(id: 1, .live, []),
            .signRequest(
                id: 2, .background,
                [
                    .init(ring: "shop", version: "2026-11", algorithm: "RS256", input: Array("e30.e30".utf8)),
                    .init(ring: "", version: "ü", algorithm: "", input: []),
                ]),
            .keys(id: 3, []),
            .keys(
                id: 4,
                [
                    PublishedRing(name: "empty", versions: []),
                    PublishedRing(
                        name: "shop",
                        versions: [
                            .init(
                                id: "k1", state: .active, algorithm: "ES256", keyID: "kid", retireAfter: -1,
                                publicKeyPEM: "PEM")
                        ]
                            + PublishedRing.Version.State.allCases.map { state in
                                .init(
                                    id: "k0", state: state, algorithm: "HS256", keyID: nil, retireAfter: nil,
                                    publicKeyPEM: nil)
                            }),
                ]),
            .signatures(id: 5, [.signature([1, 2, 3]), .keyUnavailable, .failed, .signature([])]),
            .signatures(id: 6, PolicyViolation.allCases.map { .refused($0) }),
        ] + SignerClosing.allCases.map { .closing($0) }

    private func decode(_ bytes: ByteBuffer) throws -> [SignerFrame] {
        var bytes = bytes
        var frames: [SignerFrame] = []
        while let frame = try SignerFrameDecoder.next(&bytes) { frames.append(frame) }
        return frames
    }

    @Test(arguments: frames) func `a frame is decoded as it was encoded`(frame: SignerFrame) throws {
        #expect(try decode(try frame.encoded()) == [frame])
    }

    @Test func `a frame's bytes are those of the page`() throws {
        let request = SignerFrame.signRequest(
            id: 0x0102, .background, [.init(ring: "r", version: "v", algorithm: "RS256", input: [0x61, 0x2E, 0x62])])
        #expect(
            Array(try request.encoded().readableBytesView) == [
                0, 0, 0, 35, 4, 2, 0, 0, 0, 0, 0, 0, 1, 2, 1, 0, 0, 0, 1, 0, 1, 0x72, 0, 1, 0x76, 0, 5, 0x52, 0x53,
                0x32, 0x35, 0x36, 0, 0, 0, 3, 0x61, 0x2E, 0x62,
            ])
        let answer = SignerFrame.signatures(id: 1, [.signature([9]), .keyUnavailable, .failed, .refused(.expiry)])
        #expect(
            Array(try answer.encoded().readableBytesView) == [
                0, 0, 0, 24, 4, 130, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 0, 1, 9, 1, 2, 3, 6,
            ])
        #expect(
            Array(try SignerFrame.closing(.idle).encoded().readableBytesView) == [
                0, 0, 0, 11, 4, 131, 0, 0, 0, 0, 0, 0, 0, 0, 4,
            ])
    }

    @Test(arguments: frames) func `a part of a frame is waited for, and read with what follows`(frame: SignerFrame)
        throws
    {
        let whole = try frame.encoded()
        for count in 0..<whole.readableBytes {
            var part = try #require(whole.getSlice(at: 0, length: count))
            #expect(try SignerFrameDecoder.next(&part) == nil)
            #expect(part.readableBytes == count, "nothing is taken of it")
        }
        var twice = whole
        twice.writeImmutableBuffer(whole)
        #expect(try decode(twice) == [frame, frame])
    }

    @Test(
        arguments: [
            ("a huge length", [0xFF, 0xFF, 0xFF, 0xFF]), ("one more than the limit", [1, 0, 0, 1]),
            ("an empty frame", [0, 0, 0, 0]), ("another version", [0, 0, 0, 10, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1]),
            ("an unknown kind", [0, 0, 0, 10, 4, 3, 0, 0, 0, 0, 0, 0, 0, 1]),
            ("more than a frame", [0, 0, 0, 11, 4, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0]),
            ("a strange urgency", [0, 0, 0, 15, 4, 2, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0]),
            ("items that are not there", [0, 0, 0, 15, 4, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 16, 0]),
            ("too many items", [0, 0, 0, 15, 4, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0xFF, 0xFF, 0xFF, 0xFF]),
            ("a strange status", [0, 0, 0, 15, 4, 130, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 4]),
            ("a strange violation", [0, 0, 0, 16, 4, 130, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 3, 9]),
            ("a strange reason to close", [0, 0, 0, 11, 4, 131, 0, 0, 0, 0, 0, 0, 0, 0, 5]),
            (
                "a huge signature",
                [0, 0, 0, 19, 4, 130, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0xFF, 0xFF, 0xFF, 0xFF]
            ),
            (
                "a strange state of a version",
                [0, 0, 0, 25, 4, 129, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0x72, 0, 0, 0, 1, 0, 1, 0x76, 4]
            ),
            (
                "a name that is no UTF-8",
                [0, 0, 0, 21, 4, 129, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0xFF, 0, 0, 0, 0]
            ),
        ] as [(String, [UInt8])])
    func `bytes that are no frame are refused`(what: String, bytes: [UInt8]) throws {
        #expect(throws: SignerProtocolError.self, "\(what)") { try decode(ByteBuffer(bytes: bytes)) }
    }

    @Test func `a frame too large to be read is not written`() throws {
        let item = SignerFrame.Item(ring: "r", version: "v", algorithm: "HS256", input: [])
        let tooMany = [SignerFrame.Item](repeating: item, count: SignerProtocol.maximumItems + 1)
        #expect(throws: SignerProtocolError.self) { try SignerFrame.signRequest(id: 1, .live, tooMany).encoded() }
        let large = SignerFrame.Item(
            ring: "r", version: "v", algorithm: "HS256",
            input: [UInt8](repeating: 0, count: SignerProtocol.maximumRequestBytes))
        #expect(throws: SignerProtocolError.self) { try SignerFrame.signRequest(id: 1, .live, [large]).encoded() }
        var half = ByteBuffer(bytes: [0, 0x20, 0, 1])
        #expect(throws: SignerProtocolError.self, "before its bytes come") {
            try SignerFrameDecoder.next(&half, limit: SignerProtocol.maximumRequestBytes)
        }
        let long = SignerFrame.Item(
            ring: String(repeating: "r", count: 65_536), version: "", algorithm: "", input: [])
        #expect(throws: SignerProtocolError.self) { try SignerFrame.signRequest(id: 1, .live, [long]).encoded() }
    }

    /// Frames with bytes changed, cut and repeated: read as frames or refused, and never more.
    @Test func `the frame decoder survives mutated frames`() throws {
        var random = SeededGenerator(seed: 7)
        var refused = 0
        let whole = try Self.frames.map { Array(try $0.encoded().readableBytesView) }
        for _ in 0..<Scale.rounds(5000) {
            var bytes = whole[Int.random(in: 0..<whole.count, using: &random)]
            for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
                default: bytes.removeLast(bytes.count - place)
                }
            }
            do { for frame in try decode(ByteBuffer(bytes: bytes)) { _ = try frame.encoded() } } catch { refused += 1 }
        }
        #expect(refused > Scale.rounds(500))
    }
}
