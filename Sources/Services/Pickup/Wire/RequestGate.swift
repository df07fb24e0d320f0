import NIOCore
import Serving

/// Keeps the bytes of a connection before its decoder until their request's turn has come.
///
/// Nothing is read from a client that does not read its answers, and from any other no more than its next request. The
/// bytes that the system received besides are bounded, including those of a client that has closed its side.
final class RequestGate: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The maximum number of bytes that may wait on a connection: the longest report, with its head and further bytes.
    static let limit = 80 << 10

    private var turns = RequestTurns()
    private var context: ChannelHandlerContext?
    /// Whether a read was requested, to be done once the waiting bytes were decoded.
    private var isReadDue = false
    /// Whether the client closed its side; the event is passed on after the bytes that the client sent before.
    private var isCloseDue = false
    /// Whether bytes are on their way to the decoder, which may answer in between.
    private var isPassing = false
    /// Called when too many bytes wait.
    private let overflowed: @Sendable () -> Void

    init(overflowed: @escaping @Sendable () -> Void) { self.overflowed = overflowed }

    /// The number of bytes that wait.
    var count: Int { turns.count }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        turns.isWritable = context.channel.isWritable
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    // MARK: Bytes

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        turns.receive(unwrapInboundIn(data))
        pass(context)
        guard turns.count > Self.limit else { return }
        overflowed()
        end()
        context.close(promise: nil)
    }

    func read(context: ChannelHandlerContext) {
        if turns.wantsBytes { context.read() } else { isReadDue = true }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        turns.isWritable = context.channel.isWritable
        context.fireChannelWritabilityChanged()
        proceed()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed, turns.count > 0 {
            isCloseDue = true
            context.fireUserInboundEventTriggered(ConnectionGuard.InputEnded())
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func pass(_ context: ChannelHandlerContext) {
        guard !isPassing else { return }
        isPassing = true
        while let bytes = turns.next() { context.fireChannelRead(wrapInboundOut(bytes)) }
        isPassing = false
    }

    /// Continues with the waiting bytes.
    private func proceed() {
        guard let context, !isPassing else { return }
        if turns.count > 0 {
            pass(context)
            context.fireChannelReadComplete()
        }
        if isCloseDue, turns.count == 0 {
            isCloseDue = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        guard isReadDue, turns.wantsBytes else { return }
        isReadDue = false
        context.read()
    }

    // MARK: Requests

    var lines: RequestLines { turns.lines }

    /// Notes that a head was decoded, of a request whose body has `length` bytes; nil for a chunked one.
    func began(bodyLength length: Int?) { turns.began(bodyLength: length) }

    /// Notes that the end of a request was decoded.
    func ended() { turns.ended() }

    func answered() {
        turns.answered()
        proceed()
    }

    /// Stops reading requests, and drops further bytes: with bytes unread, a full close would discard the last answer
    /// (RFC 9112, section 9.6).
    func end() {
        turns.end()
        proceed()
    }
}

/// The bytes of a connection that were received and not decoded yet, and the turn of the next request. A value.
///
/// One request at a time is decoded: a decoded request uses many times the memory of its bytes, and a client may send
/// thousands of them without reading an answer. Bytes are cut where a request may end, so that no byte of the next one
/// is decoded with it.
struct RequestTurns: Sendable {
    /// The part of a request that the next bytes belong to.
    private enum Stage: Sendable, Equatable {
        /// A head, or a chunked body; either ends with an empty line.
        case lines
        /// A body of a known length, of which this many bytes are missing.
        case body(Int)
        case answer
        /// No part: the connection ends, and further bytes are dropped.
        case over
    }

    private var bytes = ByteBuffer()
    private var stage = Stage.lines
    private var isAnswering = false
    /// Whether the last byte that was taken began a line.
    private var isAtLineStart = false
    /// The lines since the last request began, as far as they were taken.
    private(set) var lines = RequestLines()
    var isWritable = true

    /// The number of bytes that wait.
    var count: Int { bytes.readableBytes }

    /// Whether the client should send more bytes.
    var wantsBytes: Bool { stage == .over || bytes.readableBytes == 0 && isWritable }

    // MARK: Bytes

    /// Adds received bytes.
    mutating func receive(_ more: ByteBuffer) {
        guard stage != .over else { return }
        if bytes.readableBytes == 0 { return bytes = more }
        var more = more
        bytes.writeBuffer(&more)
    }

    /// Returns the next bytes that may be decoded, at most up to the end of a request; nil where there are none, or
    /// they have to wait.
    mutating func next() -> ByteBuffer? {
        switch stage {
        // The next request of a client waits until it reads the answers to earlier ones.
        case .lines where isAnswering || isWritable:
            let count = lineBytes()
            return take(count)
        case .body(let missing):
            let count = min(missing, bytes.readableBytes)
            if count < missing { stage = .body(missing - count) } else { stage = .lines }
            return take(count)
        case .lines, .answer, .over: return nil
        }
    }

    private mutating func take(_ count: Int) -> ByteBuffer? {
        guard count > 0 else { return nil }
        let taken = bytes.readSlice(length: count)
        if bytes.readableBytes == 0 { bytes = ByteBuffer() }
        return taken
    }

    /// Returns the number of bytes up to the end of the first empty line, or of all.
    private mutating func lineBytes() -> Int {
        var (isAtLineStart, lines) = (isAtLineStart, lines)
        let count = bytes.withUnsafeReadableBytes { bytes in
            for (index, byte) in bytes.enumerated() {
                lines.take(byte)
                switch byte {
                case UInt8(ascii: "\n") where isAtLineStart:
                    isAtLineStart = false
                    return index + 1
                case UInt8(ascii: "\n"): isAtLineStart = true
                case UInt8(ascii: "\r"): break
                default: isAtLineStart = false
                }
            }
            return bytes.count
        }
        (self.isAtLineStart, self.lines) = (isAtLineStart, lines)
        return count
    }

    // MARK: Requests

    /// Notes that a head was decoded, of a request whose body has `length` bytes; nil for a chunked one.
    mutating func began(bodyLength length: Int?) {
        guard stage != .over else { return }
        isAnswering = true
        lines = RequestLines()
        stage = length.map { $0 > 0 ? .body($0) : .lines } ?? .lines
    }

    /// Notes that the end of a request was decoded.
    mutating func ended() {
        guard stage != .over else { return }
        stage = isAnswering ? .answer : .lines
    }

    /// Notes that the answer was written. It may be written before the end of the request, which is then still read.
    mutating func answered() {
        isAnswering = false
        if stage == .answer { stage = .lines }
    }

    mutating func end() {
        stage = .over
        bytes = ByteBuffer()
    }
}

/// The form of a request's lines, which the decoder does not report of bytes that it refuses. A value.
struct RequestLines: Sendable, Equatable {
    /// The length of the first line, in bytes.
    private(set) var firstLength = 0
    /// Whether a line had no carriage return at its end.
    private(set) var hasBareLineFeed = false
    /// The first line of HTTP/2's preface (RFC 9113, section 3.4).
    private static let preface = Array("PRI * HTTP/2".utf8)
    /// Whether the first line begins as the preface, as far as it was taken.
    private var isAsPreface = true
    private var isInFirst = true
    private var isAfterReturn = false
    private var spaces = 0
    /// Whether the bytes before the first space are letters, digits and dashes, as every method's.
    private var isMethod = true

    /// Whether the first line has the form of a request's, whatever its method.
    var hasRequestLine: Bool { spaces >= 2 && isMethod }

    /// Whether the client speaks HTTP/2.
    var isPreface: Bool { isAsPreface && firstLength >= Self.preface.count }

    mutating func take(_ byte: UInt8) {
        if byte == UInt8(ascii: "\n") {
            if !isAfterReturn { hasBareLineFeed = true }
            if isInFirst { firstLength += 1 }
            // Empty lines before a request do not count.
            if firstLength > 2 { isInFirst = false } else { firstLength = 0 }
        } else if isInFirst {
            if firstLength < Self.preface.count, byte != Self.preface[firstLength] { isAsPreface = false }
            firstLength += 1
            if byte == UInt8(ascii: " ") { spaces += 1 }
            if spaces == 0, !Self.isOfMethod(byte) { isMethod = false }
        }
        isAfterReturn = byte == UInt8(ascii: "\r")
    }

    private static func isOfMethod(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "\r"):
            true
        default: false
        }
    }
}
