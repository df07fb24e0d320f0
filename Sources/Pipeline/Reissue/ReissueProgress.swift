import AdapterKit

/// How far a batch job is: what stands in its checkpoint.
public struct ReissueProgress: Sendable, Equatable {
    /// The job's id, which its events' ids begin with.
    public let job: String
    /// What the job is about; another input needs another checkpoint.
    public let input: String
    /// Rows that were read, good and bad.
    public var rows = 0
    /// Events that were delivered.
    public var sent = 0
    /// Rows that could not be used.
    public var rejected = 0
    /// How long the file of rejected rows is, in bytes.
    public var rejectsLength = 0
    /// Whether every row was read.
    public var isFinished = false

    /// A job that begins.
    public init(job: String, input: String) {
        self.job = job
        self.input = input
    }

    /// Reads a checkpoint; nil where `text` is none.
    public init?(_ text: [UInt8]) {
        guard let root = try? JSONDocument(parsing: text).root, let job = root["job"]?.string,
            let input = root["input"]?.string
        else { return nil }
        func count(_ name: String) -> Int? { root[name]?.number.flatMap { Int(exactly: $0) } }
        guard let rows = count("rows"), let sent = count("sent"), let rejected = count("rejected"),
            let rejectsLength = count("rejects_length"), [rows, sent, rejected, rejectsLength].allSatisfy({ $0 >= 0 })
        else { return nil }
        self.init(job: job, input: input)
        (self.rows, self.sent, self.rejected, self.rejectsLength) = (rows, sent, rejected, rejectsLength)
        isFinished = root["finished"]?.bool ?? false
    }

    /// The checkpoint's text.
    public var json: [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("job", job)
        json.member("input", input)
        json.member("rows", Int64(rows))
        json.member("sent", Int64(sent))
        json.member("rejected", Int64(rejected))
        json.member("rejects_length", Int64(rejectsLength))
        json.name("finished")
        json.bool(isFinished)
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }

    /// The id of the event of a row.
    public func eventID(row: Int) -> String { "\(job)-\(row)" }
}

/// How fast a job goes: so many events a second, evenly but for a jitter, with rests between waves.
public struct ReissuePace: Sendable, Equatable {
    /// Events a second; nil for as fast as they can be delivered.
    public let rate: Double?
    /// By how much of it a batch's length varies, from 0 to 1: many jobs at once then do not keep step.
    public let jitter: Double
    /// Events of a wave; nil for one wave.
    public let wave: Int?
    /// How long to rest between waves, in seconds.
    public let rest: Double

    /// - Parameters:
    ///   - rate: events a second.
    ///   - wave: events of a wave.
    public init(rate: Double?, jitter: Double = 0.2, wave: Int? = nil, rest: Double = 0) {
        self.rate = rate
        self.jitter = min(max(jitter, 0), 1)
        self.wave = wave
        self.rest = rest
    }

    /// How many events are sent together: a tenth of a second's worth, and no more than the wave has left.
    public func batch(sent: Int) -> Int {
        let size = rate.map { max(1, min(2000, Int($0 / 10))) } ?? 2000
        guard let wave, wave > 0 else { return size }
        return min(size, wave - sent % wave)
    }

    /// How long after the beginning of a batch of `count` the next one begins, in seconds.
    public func pause(after count: Int, sent: Int, random: inout some RandomNumberGenerator) -> Double {
        let even = rate.map { Double(count) / $0 } ?? 0
        let pause = even * (1 + Double.random(in: -jitter...jitter, using: &random))
        guard let wave, wave > 0, sent % wave == 0 else { return pause }
        return pause + rest
    }
}
