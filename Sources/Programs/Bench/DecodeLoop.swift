package import AdapterKit
package import AdapterTestKit
import Foundation
import Pipeline
import Vendors

/// Events of one vendor in one form, decoded one after the other from the record's bytes to the request.
package struct DecodeLoop {
    package let form: EventForm
    package let work: Throughput.Work

    /// Returns one loop for each form, with the vendor's first recorded report that asks for a token.
    ///
    /// - Throws: the error of a recorded report that cannot be read.
    package static func all(of registration: AdapterRegistry.Registration) throws -> [DecodeLoop] {
        try all(of: registration, RecordedReports.fixtures(of: registration))
    }

    /// Returns the same loops for `fixtures` from another place.
    ///
    /// - Throws: the error of settings that cannot be read.
    package static func all(
        of registration: AdapterRegistry.Registration, _ fixtures: AdapterFixtures
    ) throws -> [DecodeLoop] {
        guard let example = try example(in: fixtures, registration) else { return [] }
        return EventForm.allCases.map { form in
            DecodeLoop(form: form, work: work(form.record(of: example.report, app: "bench"), example.adapter))
        }
    }

    /// Returns the first recorded report that asks for a token.
    private static func example(
        in fixtures: AdapterFixtures, _ registration: AdapterRegistry.Registration
    ) throws -> (adapter: any Adapter, report: [UInt8])? {
        for fixture in fixtures.reports {
            guard case .failure("mint", _, _, _) = fixture.expectation,
                let app = fixtures.apps.first(where: { $0.name == fixture.app })
            else { continue }
            let adapter = try JSONDecoder.adapter(registration, settings: app.settings)
            return (adapter, fixture.report(at: UnixTime(seconds: 1_790_000_000)))
        }
        return nil
    }

    private static func work(_ record: InputRecord, _ adapter: any Adapter) -> Throughput.Work {
        let decoder = EventDecoder(maximumBytes: 65_536)
        let now = UnixTime(seconds: 1_790_000_000)
        return { times in
            for _ in 0..<times {
                let event = try decoder.decode(record)
                guard case .report(let root) = event.body,
                    case .failure = adapter.reading(of: Report(root, observedAt: now))
                else {
                    throw BenchFailed("a recorded report was not understood")
                }
            }
        }
    }
}
