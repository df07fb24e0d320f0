public import AdapterKit

/// An answer and what it must mean: `exists`, `gone`, `unknown`, or the kind of a failure.
public struct AnswerSample: CustomStringConvertible, Sendable {
    /// The vendor's answer.
    public let response: LookupResponse
    /// The verdicts in words.
    public let meaning: String

    /// An answer of `status` with `body`, and the verdicts that it means.
    public init(_ status: Int, _ body: String, _ meaning: String) {
        response = LookupResponse(status: status, body: Array(body.utf8))
        self.meaning = meaning
    }

    /// The status and the body.
    public var description: String {
        "\(response.status) \(String(decoding: response.body.prefix(120), as: UTF8.self))"
    }
}

extension LookupVerdict {
    /// The verdict in one word, without what it adds.
    public var word: String {
        switch self {
        case .exists: "exists"
        case .gone: "gone"
        case .unknown: "unknown"
        case .unanswered(let failure): failure.kind.rawValue
        }
    }
}

extension LookupAdapter {
    /// Returns the verdicts on `response` in words.
    public func words(on response: LookupResponse, for subjects: [Subject]) -> [String] {
        verdicts(from: response, for: subjects).map(\.word)
    }

    /// The requests about `subjects`; empty where there is nothing to ask.
    public func requests(for subjects: [Subject], mode: LookupMode = .verify) -> [LookupRequest] {
        guard case .requests(let requests) = lookup(for: subjects, mode: mode) else { return [] }
        return requests
    }

    /// Returns the verdict on each of `subjects`, by a stub that is asked as the worker asks a vendor.
    public func verdicts(
        of stub: inout some VendorStub, on subjects: [Subject], mode: LookupMode = .verify, authorization: String?,
        at time: UnixTime
    ) -> [LookupVerdict] {
        requests(for: subjects, mode: mode).flatMap { request in
            let answer = stub.answer(StubRequest(request, authorization: authorization), at: time)
            return verdicts(from: LookupResponse(answer), for: Array(subjects[request.subjects]))
        }
    }
}

/// Bodies that are the same on every run (xorshift, Marsaglia 2003).
public struct DamagedBodies: RandomNumberGenerator {
    private var state: UInt64

    /// A generator that draws the same numbers for the same seed.
    public init(seed: UInt64) { state = seed | 1 }

    /// Returns the next number.
    public mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    /// Up to 200 bytes of any value.
    public mutating func random() -> [UInt8] {
        (0..<Int.random(in: 0...200, using: &self)).map { _ in UInt8.random(in: .min ... .max, using: &self) }
    }

    /// `body` with a few bytes changed, dropped, doubled or cut off.
    public mutating func damaged(_ body: String) -> [UInt8] {
        var body = Array(body.utf8)
        for _ in 0..<Int.random(in: 1...3, using: &self) where !body.isEmpty {
            let index = Int.random(in: 0..<body.count, using: &self)
            switch Int.random(in: 0..<9, using: &self) {
            case 0...4: body[index] = UInt8.random(in: 0x20..<0x7F, using: &self)
            case 5, 6: body.remove(at: index)
            case 7: body.insert(body[index], at: index)
            default: body.removeSubrange(index...)
            }
        }
        return body
    }
}
