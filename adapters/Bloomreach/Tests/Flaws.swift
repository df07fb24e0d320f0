import AdapterKit

extension LookupRequest {
    fileprivate func with(
        _ method: Method? = nil, path: String? = nil, body: [UInt8]? = nil, subjects: Range<Int>? = nil
    ) -> LookupRequest {
        LookupRequest(
            method: method ?? self.method, path: path ?? self.path, body: body ?? self.body,
            subjects: subjects ?? self.subjects)
    }
}

typealias Requests = [LookupRequest]

enum SkipsTheLast: Flaw {
    static func lookup(_ requests: Requests, _ mode: LookupMode, _ ask: () -> Requests) -> Requests {
        requests.dropLast()
    }
}

enum AsksTwice: Flaw {
    static func lookup(_ requests: Requests, _ mode: LookupMode, _ ask: () -> Requests) -> Requests {
        requests + requests.prefix(1)
    }
}

enum AsksBackwards: Flaw {
    static func lookup(_ requests: Requests, _ mode: LookupMode, _ ask: () -> Requests) -> Requests {
        requests.reversed()
    }
}

enum AsksAboutAll: Flaw {
    static func lookup(_ requests: Requests, _ mode: LookupMode, _ ask: () -> Requests) -> Requests {
        requests.prefix(1).map { $0.with(subjects: 0..<requests.count) }
    }
}

enum AsksWhenOff: Flaw {
    static func lookup(_ requests: Requests, _ mode: LookupMode, _ ask: () -> Requests) -> Requests { ask() }
}

enum NeverAsks: Flaw {
    static func lookup(_ requests: Requests, _ mode: LookupMode, _ ask: () -> Requests) -> Requests { [] }
}

enum LeavesPathsRaw: Flaw {
    static func lookup(_ requests: Requests, _ mode: LookupMode, _ ask: () -> Requests) -> Requests {
        requests.map { $0.with(path: $0.path + "?id=\u{E9} x") }
    }
}

enum ForgetsTheSlash: Flaw {
    static func lookup(_ requests: Requests, _ mode: LookupMode, _ ask: () -> Requests) -> Requests {
        requests.map { $0.with(path: String($0.path.dropFirst())) }
    }
}

enum GetsWithBody: Flaw {
    static func lookup(_ requests: Requests, _ mode: LookupMode, _ ask: () -> Requests) -> Requests {
        requests.map { $0.with(.get) }
    }
}

enum PostsNoJSON: Flaw {
    static func lookup(_ requests: Requests, _ mode: LookupMode, _ ask: () -> Requests) -> Requests {
        requests.map { $0.with(body: Array("id=u-1".utf8)) }
    }
}

enum PostsPrettily: Flaw {
    static func lookup(_ requests: Requests, _ mode: LookupMode, _ ask: () -> Requests) -> Requests {
        requests.map { $0.with(body: ($0.body ?? []) + [0x0A]) }
    }
}

enum AsksInTheClear: Flaw {
    static func terms(_ terms: LookupTerms) -> LookupTerms {
        LookupTerms(endpoint: "http://api.exponea.com", authorization: terms.authorization, rates: terms.rates)
    }
}

enum AnswersTooLittle: Flaw {
    static func verdicts(_ verdicts: [LookupVerdict], _ response: LookupResponse, _ subjects: [Subject])
        -> [LookupVerdict]
    { verdicts.dropLast() }
}

enum TrustsTwoHundred: Flaw {
    static func verdicts(_ verdicts: [LookupVerdict], _ response: LookupResponse, _ subjects: [Subject])
        -> [LookupVerdict]
    { response.status == 200 ? subjects.map { _ in .exists(Enrichment()) } : verdicts }
}

enum IgnoresStatuses: Flaw {
    static func response(_ response: LookupResponse) -> LookupResponse {
        LookupResponse(status: 200, body: response.body)
    }
}

/// Verdicts of one kind of failure, replaced.
private func replacing(
    _ verdicts: [LookupVerdict], _ kind: LookupFailure.Kind, by other: LookupVerdict
) -> [LookupVerdict] {
    verdicts.map { verdict in
        if case .unanswered(let failure) = verdict, failure.kind == kind { other } else { verdict }
    }
}

enum CallsNoiseGone: Flaw {
    static func verdicts(_ verdicts: [LookupVerdict], _ response: LookupResponse, _ subjects: [Subject])
        -> [LookupVerdict]
    { replacing(verdicts, .unreadable, by: .gone) }
}

enum ConfirmsTheMissing: Flaw {
    static func verdicts(_ verdicts: [LookupVerdict], _ response: LookupResponse, _ subjects: [Subject])
        -> [LookupVerdict]
    { verdicts.map { $0 == .unknown ? .exists(Enrichment()) : $0 } }
}

enum ConfirmsOthers: Flaw {
    static func verdicts(_ verdicts: [LookupVerdict], _ response: LookupResponse, _ subjects: [Subject])
        -> [LookupVerdict]
    { replacing(verdicts, .mismatched, by: .exists(Enrichment())) }
}

enum RefusesAll: Flaw {
    static func verdicts(_ verdicts: [LookupVerdict], _ response: LookupResponse, _ subjects: [Subject])
        -> [LookupVerdict]
    { verdicts.map { _ in .unanswered(LookupFailure(.unreadable, "no")) } }
}

enum IgnoresRefusals: Flaw {
    static func verdicts(_ verdicts: [LookupVerdict], _ response: LookupResponse, _ subjects: [Subject])
        -> [LookupVerdict]
    { replacing(verdicts, .misconfigured, by: .unanswered(LookupFailure(.unavailable, "later"))) }
}

enum ShowsUsers: Flaw {
    static func verdicts(_ verdicts: [LookupVerdict], _ response: LookupResponse, _ subjects: [Subject])
        -> [LookupVerdict]
    {
        subjects.map { subject in
            guard case .identifiers(let ids) = subject.identity else { return .gone }
            return .unanswered(LookupFailure(.unreadable, "nothing about \(ids.map(\.value))"))
        }
    }
}

extension Reading {
    fileprivate func judged(_ evidence: Evidence, hadNoToken: Bool) -> Reading {
        guard case .failure(let failure) = self else { return self }
        return .failure(
            AuthenticationFailure(
                subject: failure.subject, reason: failure.reason, evidence: evidence, remedy: failure.remedy,
                failedToken: failure.failedToken, hadNoToken: hadNoToken))
    }
}

enum KeepsTheRevoked: Flaw {
    static func reading(_ reading: Reading) -> Reading { reading.judged(.revoked, hadNoToken: false) }
}

enum BlamesTheAbsent: Flaw {
    static func reading(_ reading: Reading) -> Reading { reading.judged(.key, hadNoToken: true) }
}
