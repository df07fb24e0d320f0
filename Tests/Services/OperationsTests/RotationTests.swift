import JOSE
import Keyring
import Operations
import Testing

/// A campaign's phases: which step may be taken when, and what a repeated one does.
@Suite struct RotationTests {
    private static let time = UnixTime(seconds: 1_763_640_000)

    enum Step: String, CaseIterable, Sendable {
        case promote, reissue, passCanary, finish, pause, resume, abort, retire

        func take(_ rotation: inout Rotation) throws(RotationError) {
            switch self {
            case .promote: try rotation.promoted()
            case .reissue: try rotation.reissuing(isCautious: true)
            case .passCanary: rotation.canaryPassed()
            case .finish: rotation.reissued()
            case .pause: try rotation.pause(because: "why")
            case .resume: rotation.resume()
            case .abort: try rotation.abort()
            case .retire: try rotation.retired()
            }
        }
    }

    /// For each phase, what each step leads to; nil where it is refused. In the order of `Step.allCases`.
    private static let table: [(Rotation.Phase, [Rotation.Phase?])] = [
        (.prepared, [.promoted, nil, .prepared, .prepared, .prepared, .prepared, .aborted, nil]),
        (.promoted, [.promoted, .canary, .promoted, .promoted, .promoted, .promoted, .aborted, .retired]),
        (.canary, [.canary, .canary, .waves, .canary, .canary, .canary, .aborted, .retired]),
        (.waves, [.waves, .waves, .waves, .reissued, .waves, .waves, .aborted, .retired]),
        (.reissued, [.reissued, .waves, .reissued, .reissued, .reissued, .reissued, .aborted, .retired]),
        (.retired, [nil, nil, .retired, .retired, nil, .retired, nil, .retired]),
        (.aborted, [nil, nil, .aborted, .aborted, nil, .aborted, .aborted, nil]),
    ]

    @Test(arguments: table)
    func `each step from a phase leads to the phase of the table`(
        _ phase: Rotation.Phase, _ expected: [Rotation.Phase?]
    ) throws {
        for (step, phaseAfter) in zip(Step.allCases, expected) {
            var rotation = try Self.rotation(in: phase)
            do throws(RotationError) {
                try step.take(&rotation)
                #expect(rotation.phase == phaseAfter, "\(step)")
                let once = rotation
                // What was done already is done: the same step again changes nothing.
                if step != .reissue || phase != .promoted { try? step.take(&rotation) }
                #expect(rotation == once, "\(step) again")
            } catch {
                #expect(phaseAfter == nil, "\(step): \(error)")
                #expect(try rotation == Self.rotation(in: phase), "a refused step changes nothing")
            }
        }
    }

    @Test func `nothing is re-issued while it is paused`() throws {
        var rotation = try Self.rotation(in: .waves)
        try rotation.pause(because: "too many calls")
        let refusal = #expect(throws: RotationError.self) { try rotation.reissuing(isCautious: true) }
        #expect(refusal?.description == "the campaign is paused: too many calls; go on with: remint rotate resume")
        rotation.resume()
        try rotation.reissuing(isCautious: true)
    }

    @Test func `a campaign without a canary begins its waves at once`() throws {
        var rotation = try Self.rotation(in: .promoted)
        try rotation.reissuing(isCautious: false)
        #expect(rotation.phase == .waves)
    }

    @Test(arguments: Rotation.Phase.allCases) func `a campaign is read back as it was written`(_ phase: Rotation.Phase)
        throws
    {
        var rotation = try Self.rotation(in: phase)
        rotation.began(at: TopicMarks(["tokens": [0, 7], "letters": [3]]))
        var stratum = RotationStratum(app: "a1", users: 9, live: 40)
        rotation.began(
            RotationCanary(firstRow: 4, count: 9, marks: TopicMarks(["tokens": [1]]), strata: [stratum]))
        stratum.outcome = RotationStratum.Outcome(answered: 8, superseded: 1, rejected: 4)
        if !phase.isOver { try rotation.canaryFailed(because: "a \"reason\"", [stratum], failed: ["a1"]) }
        #expect(Rotation(rotation.json) == rotation)
    }

    @Test func `a revocation has no canary and cannot be aborted`() throws {
        var rotation = Rotation(id: "c-1", kind: .revocation, from: "a", to: "b", at: Self.time)
        try rotation.promoted()
        try rotation.reissuing(isCautious: true)
        #expect(rotation.phase == .waves)
        let refusal = #expect(throws: RotationError.self) { try rotation.abort() }
        #expect(refusal?.description.contains("a revocation cannot be aborted") == true)
        #expect(rotation.phase == .waves)
    }

    @Test func `a canary that failed is followed by another one after a resume`() throws {
        var rotation = try Self.rotation(in: .canary)
        rotation.began(RotationCanary(firstRow: 0, count: 3, marks: TopicMarks([:])))
        try rotation.pause(because: "an operator's pause")
        rotation.resume()
        #expect(rotation.canary?.firstRow == 0, "a pause is no verdict")
        try rotation.canaryFailed(because: "too many rejections")
        rotation.resume()
        #expect(rotation.canary == nil && rotation.phase == .canary)
        rotation.began(RotationCanary(firstRow: 3, count: 3, marks: TopicMarks([:])))
        #expect(rotation.canaryCount == 2)
    }

    @Test(arguments: [
        "", "{}", "[]",
        #"{"id":"c","kind":"rotation","from":"a","to":"b","phase":"over","begun":"2026-11-01T00:00:00Z"}"#,
        #"{"from":"a","to":"b","phase":"waves","begun":"2026-11-01T00:00:00Z"}"#,
    ])
    func `a string that is no campaign is refused`(_ text: String) { #expect(Rotation(Array(text.utf8)) == nil) }

    private static func rotation(in phase: Rotation.Phase) throws -> Rotation {
        var rotation = Rotation(id: "c-1", from: "a", to: "b", at: time, by: "ann", why: "yearly")
        let path: [Step] =
            switch phase {
            case .prepared: []
            case .promoted: [.promote]
            case .canary: [.promote, .reissue]
            case .waves: [.promote, .reissue, .passCanary]
            case .reissued: [.promote, .reissue, .passCanary, .finish]
            case .retired: [.promote, .retire]
            case .aborted: [.promote, .abort]
            }
        for step in path { try step.take(&rotation) }
        return rotation
    }
}
