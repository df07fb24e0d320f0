import AdapterKit
import Testing

@testable import Pipeline

@Suite("Pauses of apps")
struct AppPauseTests {
    private static let rules = AdmissionRules(subjects: 100)

    @Test func `a pause without an end lasts until a record ends it`() {
        var teller = AdmissionTeller(Self.rules)
        let pause = Suspension(app: "shop", cause: .paused, since: AdmissionTeller.time(0), by: "ann", why: "migration")
        do {
            let isChanged = teller.admission.suspensions.hold(pause, of: "shop", at: AdmissionTeller.time(0))
            #expect(isChanged)
        }
        do {
            let isChanged = teller.admission.suspensions.hold(pause, of: "shop", at: AdmissionTeller.time(0))
            #expect(!isChanged)
        }
        for second in [1.0, 61, 1000, 100_000] {
            #expect(teller.tell(.init(at: second, key: "v\(Int(second))", ends: "")) == "suspended")
        }
        do {
            let isChanged = teller.admission.suspensions.hold(nil, of: "shop", at: AdmissionTeller.time(100_001))
            #expect(isChanged)
        }
        #expect(teller.tell(.init(at: 100_002, ends: "")) == "mint")
    }

    @Test func `a pause with an end ends by itself, once`() {
        var teller = AdmissionTeller(Self.rules)
        let pause = Suspension(
            app: "shop", cause: .paused, since: AdmissionTeller.time(0), until: AdmissionTeller.time(60))
        do {
            let isChanged = teller.admission.suspensions.hold(pause, of: "shop", at: AdmissionTeller.time(0))
            #expect(isChanged)
        }
        #expect(teller.tell(.init(at: 59, ends: "")) == "suspended")
        do {
            let ended = teller.admission.suspensions.endElapsed(at: AdmissionTeller.time(59.9))
            #expect(ended.isEmpty)
        }
        do {
            let ended = teller.admission.suspensions.endElapsed(at: AdmissionTeller.time(60))
            #expect(ended == [pause])
        }
        do {
            let ended = teller.admission.suspensions.endElapsed(at: AdmissionTeller.time(61))
            #expect(ended.isEmpty)
        }
        #expect(teller.tell(.init(at: 61, ends: "")) == "mint")
        do {
            let isChanged = teller.admission.suspensions.hold(pause, of: "shop", at: AdmissionTeller.time(62))
            #expect(!isChanged, "who reads it later takes it for none")
        }
        #expect(teller.tell(.init(at: 63, user: "bob", ends: "")) == "mint")
    }
}
