import NIOCore

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
        /// No part: the request is complete, and its answer is not.
        case answer
        /// No part: the connection ends, and further bytes are dropped.
        case over
    }

    private var bytes = ByteBuffer()
    private var stage = Stage.lines
    /// Whether a request began that is not answered yet.
    private var isAnswering = false
    /// Whether the last byte that was taken began a line.
    private var isAtLineStart = false
    /// The lines since the last request began, as far as they were taken.
    private(set) var lines = RequestLines()
    /// Whether the client reads its answers.
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

    /// Stops reading requests.
    mutating func end() {
        stage = .over
        bytes = ByteBuffer()
    }
}
