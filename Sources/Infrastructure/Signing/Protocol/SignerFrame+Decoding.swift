import JOSE
import NIOCore
import Pipeline

/// Cuts a stream into frames. On any input it throws and never traps: both sides read bytes that another process wrote.
struct SignerFrameDecoder: ByteToMessageDecoder {
    typealias InboundOut = SignerFrame

    /// The most bytes that may follow a frame's length.
    var limit = SignerProtocol.maximumFrameBytes

    mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        guard let frame = try Self.next(&buffer, limit: limit) else { return .needMoreData }
        context.fireChannelRead(Self.wrapInboundOut(frame))
        return .continue
    }

    /// Returns the next whole frame of `buffer`; nil where more bytes are needed. A length that is too large is refused
    /// before waiting for its bytes.
    static func next(
        _ buffer: inout ByteBuffer, limit: Int = SignerProtocol.maximumFrameBytes
    ) throws(SignerProtocolError) -> SignerFrame? {
        guard let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self) else { return nil }
        guard length <= limit else {
            throw SignerProtocolError("a frame has \(length.of("byte")); at most \(limit)")
        }
        guard buffer.readableBytes - MemoryLayout<UInt32>.size >= Int(length) else { return nil }
        buffer.moveReaderIndex(forwardBy: MemoryLayout<UInt32>.size)
        guard var body = buffer.readSlice(length: Int(length)) else { return nil }
        let frame = try SignerFrame(reading: &body)
        guard body.readableBytes == 0 else { throw SignerProtocolError("a frame goes on behind its end") }
        return frame
    }
}

extension SignerFrame {
    /// Reads the frame that `body` begins with.
    fileprivate init(reading body: inout ByteBuffer) throws(SignerProtocolError) {
        let version: UInt8 = try body.integer()
        guard version == SignerProtocol.version else {
            throw SignerProtocolError(
                "a frame is of version \(version) of the protocol, and only \(SignerProtocol.version) is spoken; run worker and signer of one release"
            )
        }
        guard let kind = Kind(rawValue: try body.integer()) else {
            throw SignerProtocolError("a frame is of an unknown kind")
        }
        let id: UInt64 = try body.integer()
        switch kind {
        case .keysRequest: self = .keysRequest(id: id)
        case .signRequest:
            let urgency: UInt8 = try body.integer()
            guard urgency <= 1 else { throw SignerProtocolError("an urgency is neither 0 nor 1") }
            let items = try body.list(atMost: SignerProtocol.maximumItems, SignerFrame.Item.init)
            self = .signRequest(id: id, urgency == 0 ? .live : .background, items)
        case .keys:
            self = .keys(id: id, try body.list(atMost: SignerProtocol.maximumRings, PublishedRing.init))
        case .signatures:
            self = .signatures(id: id, try body.list(atMost: SignerProtocol.maximumItems, SignerFrame.Answer.init))
        case .closing:
            guard let reason = SignerClosing(rawValue: try body.integer()) else {
                throw SignerProtocolError("a connection is closed for an unknown reason")
            }
            self = .closing(reason)
        }
    }
}

extension SignerFrame.Item {
    fileprivate init(_ body: inout ByteBuffer) throws(SignerProtocolError) {
        ring = try body.text()
        version = try body.text()
        algorithm = try body.text()
        input = try body.bytes(atMost: SignerProtocol.maximumFrameBytes)
    }
}

extension SignerFrame.Answer {
    fileprivate init(_ body: inout ByteBuffer) throws(SignerProtocolError) {
        let status: UInt8 = try body.integer()
        switch status {
        case 0: self = .signature(try body.bytes(atMost: SignerProtocol.maximumSignatureBytes))
        case 1: self = .keyUnavailable
        case 2: self = .failed
        case 3:
            guard let violation = PolicyViolation(rawValue: try body.integer()) else {
                throw SignerProtocolError("a policy is violated in an unknown way")
            }
            self = .refused(violation)
        default: throw SignerProtocolError("an answer is neither a signature nor a known error")
        }
    }
}

extension PublishedRing {
    fileprivate init(_ body: inout ByteBuffer) throws(SignerProtocolError) {
        name = try body.text()
        versions = try body.list(atMost: SignerProtocol.maximumRings, Version.init)
    }
}

extension PublishedRing.Version {
    fileprivate init(_ body: inout ByteBuffer) throws(SignerProtocolError) {
        id = try body.text()
        guard let state = State(rawValue: try body.integer()) else {
            throw SignerProtocolError("a version is in an unknown state")
        }
        self.state = state
        algorithm = try body.text()
        keyID = try body.optionalText()
        let hasEnd = try body.bool()
        let end: Int64 = try body.integer()
        retireAfter = hasEnd ? end : nil
        publicKeyPEM = try body.optionalText()
    }
}

extension ByteBuffer {
    private static let ended = SignerProtocolError("a frame ends in the middle of something")

    fileprivate mutating func integer<Integer: FixedWidthInteger>() throws(SignerProtocolError) -> Integer {
        guard let integer = readInteger(as: Integer.self) else { throw Self.ended }
        return integer
    }

    fileprivate mutating func bool() throws(SignerProtocolError) -> Bool {
        let byte: UInt8 = try integer()
        guard byte <= 1 else { throw SignerProtocolError("a flag is neither 0 nor 1") }
        return byte == 1
    }

    fileprivate mutating func text() throws(SignerProtocolError) -> String {
        let count: UInt16 = try integer()
        guard let bytes = readBytes(length: Int(count)) else { throw Self.ended }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw SignerProtocolError("a string is not UTF-8")
        }
        return text
    }

    fileprivate mutating func optionalText() throws(SignerProtocolError) -> String? {
        let text = try text()
        return text.isEmpty ? nil : text
    }

    fileprivate mutating func bytes(atMost limit: Int) throws(SignerProtocolError) -> [UInt8] {
        let count: UInt32 = try integer()
        guard count <= limit else { throw SignerProtocolError("a part has \(count.of("byte")); at most \(limit)") }
        guard let bytes = readBytes(length: Int(count)) else { throw Self.ended }
        return bytes
    }

    /// Decodes a list, without reserving memory for elements that have not arrived.
    fileprivate mutating func list<Element>(
        atMost limit: Int, _ read: (inout ByteBuffer) throws(SignerProtocolError) -> Element
    ) throws(SignerProtocolError) -> [Element] {
        let count: UInt32 = try integer()
        guard count <= limit else { throw SignerProtocolError("a list has \(count.of("element")); at most \(limit)") }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try read(&self)) }
        return elements
    }
}
