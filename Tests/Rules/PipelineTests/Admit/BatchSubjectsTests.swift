import AdapterKit
import Testing

@testable import Pipeline

@Suite("The subjects of a batch")
struct BatchSubjectsTests {
    private static let now = TestBench.now

    @Test func `a subject is found among others, however their ids lie`() {
        var random = SeededGenerator(seed: 21)
        for count in [0, 1, 2, 7, 64, 400] {
            var subjects = BatchSubjects(count)
            var known: [SubjectID: (leader: Int?, count: Int)] = [:]
            for place in 0..<count {
                // Few places and few ids, so that many meet.
                let id = SubjectID(high: .random(in: 0...7, using: &random), low: .random(in: 0...30, using: &random))
                let isShared = Bool.random(using: &random)
                subjects.append(id, reportedAt: nil, isShared: isShared)
                known[id] = (isShared ? place : nil, (known[id]?.count ?? 0) + 1)
                for id in known.keys {
                    #expect(subjects.leader(of: id) == known[id]?.leader)
                    #expect(subjects.count(of: id) == known[id]?.count)
                }
            }
            #expect(subjects.leader(of: SubjectID(high: 3, low: 99)) == nil)
            #expect(subjects.count(of: SubjectID(high: 3, low: 99)) == 0)
        }
    }

    @Test func `a draft at the signer stays as old as it was`() {
        let (early, late) = (Self.now.advanced(bySeconds: -60), Self.now)
        var subjects = BatchSubjects(3)
        subjects.append(SubjectID(high: 1, low: 1), reportedAt: late, isShared: true)
        #expect(subjects.isFirst(early, of: 0) && !subjects.isFirst(late, of: 0))
        let first = subjects.takeReports()
        #expect(first.first == 0 && first.reports == [late])
        #expect(!subjects.isFirst(early, of: 0))
        subjects.append(SubjectID(high: 2, low: 1), reportedAt: nil, isShared: true)
        #expect(subjects.isFirst(late, of: 1))
        subjects.join(1, reportedAt: early)
        let second = subjects.takeReports()
        #expect(second.first == 1 && second.reports == [early])
        #expect(subjects.reportedAt(0) == late && subjects.reportedAt(1) == early)
    }
}
