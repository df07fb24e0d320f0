import AdapterKit
import Testing

@testable import Pipeline

@Suite("Admission's memory of unpublished tokens")
struct AdmissionMemoryTests {
    private func teller() -> AdmissionTeller { AdmissionTeller(AdmissionRules(subjects: 100)) }

    @Test func `a rolled-back mint is forgotten, and its events are answered again`() {
        var teller = teller()
        #expect(teller.tell(.init(at: 0, ends: "")) == "mint")
        #expect(teller.tell(.init(at: 1, ends: "")) == "burst")
        teller.admission.rollBack()
        #expect(teller.tell(.init(at: 1, ends: "")) == "mint")
        #expect(teller.tell(.init(at: 1.5, ends: "")) == "burst")
    }

    @Test func `a token published before is remembered after a rollback`() {
        var teller = teller()
        #expect(teller.tell(.init(at: 0, ends: "")) == "mint")
        teller.admission.confirm(throughBatch: teller.batch)
        #expect(teller.tell(.init(at: 30, names: "old", ends: "")) == "mint")
        teller.admission.rollBack()
        #expect(teller.tell(.init(at: 31, names: "T1", ends: "")) == "refused")
        #expect(teller.tell(.init(at: 31, names: "T2", ends: "")) == "mint")
    }

    @Test func `a confirmed batch stays remembered if a later one is rolled back`() {
        var teller = teller()
        for user in ["ann", "bob", "cid"] { #expect(teller.tell(.init(at: 0, user: user, ends: "")) == "mint") }
        teller.admission.confirm(throughBatch: 2)
        teller.admission.rollBack()
        #expect(teller.tell(.init(at: 1, user: "ann", ends: "")) == "burst")
        #expect(teller.tell(.init(at: 1, user: "bob", ends: "")) == "burst")
        #expect(teller.tell(.init(at: 1, user: "cid", ends: "")) == "mint")
    }

    @Test func `a refused user who comes again after an abort counts once`() {
        var teller = AdmissionTeller(AdmissionRules(subjects: 100, usersToSuspend: 2, minimumAge: .seconds(1)))
        #expect(teller.tell(.init(at: 0, ends: "")) == "mint")
        #expect(teller.tell(.init(at: 0, user: "bob", ends: "")) == "mint")
        teller.admission.confirm(throughBatch: teller.batch)
        for _ in 0..<3 {
            #expect(teller.tell(.init(at: 30, names: "T1", ends: "")) == "refused")
            teller.admission.rollBack()
        }
        #expect(teller.tell(.init(at: 31, user: "bob", names: "T2", ends: "")) == "suspends")
    }

    @Test func `a confirmation or rollback of nothing changes nothing`() {
        var teller = teller()
        teller.admission.rollBack()
        teller.admission.confirm(throughBatch: 7)
        #expect(teller.tell(.init(at: 0, ends: "")) == "mint")
        teller.admission.confirm(throughBatch: teller.batch)
        teller.admission.rollBack()
        teller.admission.rollBack()
        #expect(teller.tell(.init(at: 1, ends: "")) == "burst")
        #expect(teller.admission.memory.subjects == 1)
    }
}
