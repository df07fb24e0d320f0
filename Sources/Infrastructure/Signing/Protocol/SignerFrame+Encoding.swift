import NIOCore
import Pipeline

extension SignerFrame {
    /// Returns the frame's bytes, after their length.
    ///
    /// - Throws: `SignerProtocolError` where it is longer than a frame may be.
    func encoded() throws(SignerProtocolError) -> ByteBuffer {
        var body = ByteBuffer()
        body.writeInteger(UInt32(0))
        body.writeInteger(SignerProtocol.version)
        body.writeInteger(kind.rawValue)
        body.writeInteger(id)
        switch self {
        case .keysRequest: break
        case .signRequest(_, let urgency, let items):
            body.writeInteger(UInt8(urgency == .live ? 0 : 1))
            body.writeInteger(try Self.count(items.count, atMost: SignerProtocol.maximumItems))
            for item in items { try item.write(to: &body) }
        case .keys(_, let rings):
            body.writeInteger(try Self.count(rings.count, atMost: SignerProtocol.maximumRings))
            for ring in rings { try ring.write(to: &body) }
        case .signatures(_, let answers):
            body.writeInteger(try Self.count(answers.count, atMost: SignerProtocol.maximumItems))
            for answer in answers { try answer.write(to: &body) }
        case .closing(let reason): body.writeInteger(reason.rawValue)
        }
        let length = body.readableBytes - MemoryLayout<UInt32>.size
        let isRequest = kind == .signRequest || kind == .keysRequest
        let limit = isRequest ? SignerProtocol.maximumRequestBytes : SignerProtocol.maximumFrameBytes
        body.setInteger(try Self.count(length, atMost: limit), at: body.readerIndex, as: UInt32.self)
        return body
    }

    /// The byte that names the kind of a frame: questions from 1, answers from 129.
    enum Kind: UInt8 {
        case keysRequest = 1
        case signRequest = 2
        case keys = 129
        case signatures = 130
        case closing = 131
    }

    private var kind: Kind {
        switch self {
        case .keysRequest: .keysRequest
        case .signRequest: .signRequest
        case .keys: .keys
        case .signatures: .signatures
        case .closing: .closing
        }
    }

    fileprivate static func count(_ count: Int, atMost limit: Int) throws(SignerProtocolError) -> UInt32 {
        guard count <= limit, let count = UInt32(exactly: count) else {
            throw SignerProtocolError("a frame would have \(count) where at most \(limit) are allowed")
        }
        return count
    }
}

extension SignerFrame.Item {
    fileprivate func write(to body: inout ByteBuffer) throws(SignerProtocolError) {
        try body.write(text: ring)
        try body.write(text: version)
        try body.write(text: algorithm)
        try body.write(bytes: input)
    }
}

extension SignerFrame.Answer {
    fileprivate func write(to body: inout ByteBuffer) throws(SignerProtocolError) {
        switch self {
        case .signature(let bytes):
            body.writeInteger(UInt8(0))
            try body.write(bytes: bytes)
        case .keyUnavailable: body.writeInteger(UInt8(1))
        case .failed: body.writeInteger(UInt8(2))
        case .refused(let violation):
            body.writeInteger(UInt8(3))
            body.writeInteger(violation.rawValue)
        }
    }
}

extension PublishedRing {
    fileprivate func write(to body: inout ByteBuffer) throws(SignerProtocolError) {
        try body.write(text: name)
        body.writeInteger(try SignerFrame.count(versions.count, atMost: SignerProtocol.maximumRings))
        for version in versions {
            try body.write(text: version.id)
            body.writeInteger(version.state.rawValue)
            try body.write(text: version.algorithm)
            try body.write(text: version.keyID ?? "")
            body.writeInteger(UInt8(version.retireAfter == nil ? 0 : 1))
            body.writeInteger(version.retireAfter ?? 0)
            try body.write(text: version.publicKeyPEM ?? "")
        }
    }
}

extension ByteBuffer {
    fileprivate mutating func write(text: String) throws(SignerProtocolError) {
        guard let count = UInt16(exactly: text.utf8.count) else {
            throw SignerProtocolError("a string is longer than \(UInt16.max) bytes")
        }
        writeInteger(count)
        writeString(text)
    }

    fileprivate mutating func write(bytes: [UInt8]) throws(SignerProtocolError) {
        writeInteger(try SignerFrame.count(bytes.count, atMost: SignerProtocol.maximumFrameBytes))
        writeBytes(bytes)
    }
}
