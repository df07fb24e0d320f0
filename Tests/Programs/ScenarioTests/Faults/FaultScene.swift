import AsyncTestSupport

/// The programs and the configuration that faults need. They are played on one stage, one after the other.
enum FaultScene: CaseIterable {
    /// A worker whose brokers and logs fail.
    case brokers
    /// A worker that is started again for almost every fault.
    case starts
    /// A worker whose key rings, configuration and operators change.
    case operators
    /// A worker with a signer and a vendor's REST API.
    case partners
    case gateway

    private var faults: [Fault] { Fault.all.filter { $0.scene == self && (Scale.isLong || $0.isInEveryRun) } }

    /// Plays the faults. The stage is replaced only after a fault that stays in it.
    func play() async throws {
        var faults = self.faults
        var stage: FaultStage?
        while !Task.isCancelled, let fault = Self.takeNext(of: &faults, isCalm: stage?.calm != nil) {
            let current: FaultStage
            if let stage { current = stage } else { current = try await FaultStage(self) }
            let isOfFurtherUse = await FaultPlay(fault: fault, stage: current).play()
            if !isOfFurtherUse { await current.close() }
            stage = isOfFurtherUse ? current : nil
        }
        await stage?.close()
    }

    /// Takes the next fault: a calm worker is used before another one is started, and the brokers are ruined last.
    private static func takeNext(of faults: inout [Fault], isCalm: Bool) -> Fault? {
        let ranks = faults.map { ($0.ruinsBrokers ? 2 : 0) + ($0.isAtStart == isCalm ? 1 : 0) }
        guard let next = ranks.indices.min(by: { ranks[$0] < ranks[$1] }) else { return nil }
        return faults.remove(at: next)
    }
}
