import AsyncTestSupport
import Foundation
import Kafka
import ProgramTestSupport
import Testing

extension Scenarios {
    /// Stopping the worker at any moment and starting it again loses no event.
    @Suite(.timeLimit(.minutes(5))) struct RestartTests {
        private enum Stop: CaseIterable { case terminated, killed }

        @Test func `no event is lost, however the worker is stopped`() async throws {
            let shop = try await Shop.open()
            var answered: Set<String> = []
            func read(_ count: Int) async throws {
                guard answered.count < count else { return }
                try await shop.follow(of: ["remint.tokens"]) { record in
                    if let id = record.member("event_id") { answered.insert(id) }
                    return answered.count >= count
                }
            }
            var sent: Set<String> = []
            // How many answers to wait for before the stop: right at the start, in the middle of a wave, near its end.
            let stops: [(Stop, Int)] = [
                (.killed, 0), (.terminated, 150), (.killed, 350), (.killed, 1), (.terminated, 2),
            ]
            for (round, (stop, share)) in stops.prefix(Scale.isLong ? stops.count : 3).enumerated() {
                let worker = try await shop.startWorker()
                let ids = (0..<400).map { "event-\(round)-\($0)" }
                try await shop.produce(
                    ids.map {
                        rawReport("infobip-mobile", #"{"code":"JWT_TOKEN_EXPIRED","externalUserId":"\#($0)"}"#, id: $0)
                    })
                sent.formUnion(ids)
                let before = answered.count
                try await read(before + share)
                stop == .killed ? worker.kill() : worker.terminate()
                await worker.waitForEnd()
                if stop == .terminated { #expect(worker.status == 0, "\(worker.errorText)") }
            }
            let worker = try await shop.startWorker()
            try await read(sent.count)
            worker.terminate()
            await worker.waitForEnd()
            #expect(answered == sent)
            await shop.close()
        }
    }
}
