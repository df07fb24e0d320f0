import AdapterKit
import Testing

@testable import Pipeline

/// The promises to the users of a suspended app, against accounts that refuse or keep silent on purpose.
@Suite("Probes")
struct ProbesTests {
    private static let probeWait = 60
    private static let rules = AdmissionRules(subjects: 100, usersToSuspend: 3, minimumAge: .seconds(1))

    /// Four users get tokens, the first ones after `count` others, and three of them refuse theirs.
    private static func refusals(after count: Int) -> [AdmissionStory.Event] {
        let users = ["ann", "bob", "cid", "dan"]
        return users.map { .init(at: 0, user: $0, ends: "mint") }
            + ["refused", "refused", "suspends"].enumerated().map { number, end in
                .init(at: Double(10 + number), user: users[number], names: "T\(count + number + 1)", ends: end)
            }
    }

    private static let suspended = refusals(after: 0)

    /// Three users probe, and one of them refuses.
    private static let probed =
        suspended + ["eve", "fay", "gus"].map { .init(at: 72.1, user: $0, ends: "mint") } + [
            .init(at: 80, user: "eve", names: "T5", ends: "suspended")
        ]

    /// Two users hold tokens, three of four others refuse theirs, and thirty new ones come before the first two return.
    private static var established: [AdmissionStory.Event] {
        var events: [AdmissionStory.Event] = ["ian", "joe"].map { .init(at: -100, user: $0, ends: "mint") }
        events += refusals(after: 2)
        events += (0..<30).map { .init(at: 20 + Double($0) / 10, user: "new-\($0)", ends: "suspended") }
        // The three who were first seen longest ago, and one place for the next.
        events += [0, 1, 2, 20].map { .init(at: 73, user: "new-\($0)", ends: "mint") }
        return events + [
            .init(at: 73, user: "new-3", ends: "suspended"), .init(at: 74, user: "ian", ends: "mint"),
            .init(at: 75, user: "joe", ends: "mint"), .init(at: 77, user: "ian", ends: "suspended"),
        ]
    }

    static let stories: [AdmissionStory] = [
        AdmissionStory(
            "where one of several probes is not refused, only the users who refused wait", rules: rules,
            probed + [
                .init(at: 81, user: "fay", names: "T6", ends: "suspended"),
                .init(at: 132, user: "hal", ends: "suspended"), .init(at: 132.2, user: "hal", ends: "mint"),
                .init(at: 133, user: "ann", names: "T1", ends: "suspended"),
                // Another user who refuses waits with them, and suspends nobody else.
                .init(at: 140, user: "hal", names: "T8", ends: "suspended"),
                .init(at: 150, user: "ida", ends: "mint"),
            ]),
        AdmissionStory(
            "where most of several probes are not refused, the app resumes", rules: rules,
            probed + [
                .init(at: 132.2, user: "eve", names: "T5", ends: "mint"),
                .init(at: 133, user: "ann", names: "T1", ends: "mint"),
            ]),
        AdmissionStory(
            "every user who held a token and did not refuse it is a probe, whoever came before", rules: rules,
            established),
    ]

    @Test(arguments: stories)
    func `the users who test a suspended app's key decide its suspension`(_ story: AdmissionStory) {
        var teller = AdmissionTeller(story.rules)
        #expect(story.events.map { teller.tell($0) } == story.events.map(\.ends))
    }

    @Test(arguments: [5, 50, 500], 1...6)
    func `an honest user of a suspended app has a token within three probe waits, whatever other accounts do`(
        _ hostile: Int, _ seed: Int
    ) {
        var random = SeededGenerator(seed: UInt64(seed))
        var fleet = FleetSimulation(workers: [1, 3, 8].randomElement(using: &random) ?? 1)
        let sleepers = Int.random(in: 0...hostile, using: &random)
        let honest = Int.random(in: 1...40, using: &random)
        fleet.add(honest, .honest, within: 290)
        fleet.run(until: 300)
        fleet.add(hostile - sleepers, .hostile, within: .random(in: 1...200, using: &random))
        fleet.add(sleepers, .sleeper, within: 100)
        fleet.run(until: .random(in: 400...700, using: &random))
        // Whatever suspended it, the accounts now try to hold it.
        fleet.suspend()
        fleet.flood = .random(in: 1...5, using: &random)
        fleet.run(until: fleet.second + 1_000)
        #expect(fleet.honest["mint", default: 0] >= 2 * honest)
        #expect(fleet.longestWait <= 3 * Self.probeWait, "seed \(seed)")
    }

    @Test(arguments: [5, 50, 500])
    func `a new user who came before a flood of accounts has a token within three probe waits`(_ hostile: Int) {
        var fleet = FleetSimulation(workers: 1)
        fleet.add(hostile, .hostile, within: 10)
        fleet.run(until: 100) { $0.held.first??.reach == .everyone }
        if hostile < 20 { fleet.suspend() }
        fleet.run(until: fleet.second + 2)
        fleet.add(1, .honest, within: 1)
        fleet.run(until: fleet.second + 2)
        fleet.flood = 20
        fleet.run(until: fleet.second + 250)
        #expect(fleet.honest["mint"] == 1 && fleet.honest["suspended", default: 0] > 0)
        #expect(fleet.longestWait <= 3 * Self.probeWait)
    }

    @Test func `a few users who keep silent about a wrong key resume no app`() {
        var fleet = FleetSimulation(workers: 2)
        fleet.accepted = []
        fleet.add(3, .silent, within: 3)
        fleet.add(60, .honest, within: 50)
        fleet.run(until: 200)
        #expect(fleet.held.allSatisfy { $0?.reach == .everyone })
        // New users keep coming, so that the silent ones are not alone.
        fleet.add(60, .honest, within: 200)
        fleet.add(3, .silent, within: 200)
        fleet.run(until: 800) { $0.held.contains(nil) }
        #expect(fleet.second == 800, "the users who refuse wait")
        // A token for each user, and one for each round in which a user tests.
        #expect(fleet.honest["mint", default: 0] <= 4 * 120)
    }

    @Test func `one user's refusal makes no wait longer, the refusals of two do`() {
        var probes = Probes(AdmissionRules(usersToSuspend: 3), at: AdmissionTeller.time(0))
        func choose(_ number: Int, at second: Double) -> Bool {
            probes.choose(
                SubjectID(high: UInt64(number), low: 0), .newcomer, firstSeen: AdmissionTeller.time(second),
                at: AdmissionTeller.time(second))
        }
        func test(_ numbers: ClosedRange<Int>, at second: Double, refusing: Int) {
            let ids = numbers.map { SubjectID(high: UInt64($0), low: 0) }
            for id in ids { probes.send(to: id, at: AdmissionTeller.time(second)) }
            for id in ids.prefix(refusing) { probes.refuse(id, at: AdmissionTeller.time(second + 1)) }
        }
        #expect((1...4).map { choose($0, at: 59) } == [false, false, false, false])
        // The first three were first seen longest ago; a place is left for the next user.
        #expect((1...6).map { choose($0, at: 60) } == [true, true, true, true, false, false])
        test(1...4, at: 60, refusing: 1)
        #expect([5, 7].map { choose($0, at: 120.9) } == [false, false])
        #expect([7, 5, 6].map { choose($0, at: 121) } == [true, true, true])
        test(5...7, at: 121, refusing: 2)
        #expect([8, 9].map { choose($0, at: 241.9) } == [true, false], "a place was left")
        #expect(choose(9, at: 242))
    }
}
