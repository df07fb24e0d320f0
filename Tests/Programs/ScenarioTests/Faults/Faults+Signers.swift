import Foundation
import ProgramTestSupport
import Testing

extension Fault {
    private static func signerAway(
        _ name: String, isAtStart: Bool, prepare: @escaping Action = { _ in }, make: @escaping Action
    ) -> Fault {
        Fault(
            name: name, isAtStart: isAtStart, prepare: prepare, make: make, readiness: .shows("the signer at"),
            firstLine: .shows("a signer cannot be used as it is; what it should have signed waits"),
            lastLine: .shows("a signer can be used again"),
            metric: FaultMetric("remint_signer_reachable", bound: .equal(0)),
            alert: FaultAlert("RemintSignerUnreachable"),
            status: .cannotSee("the command asks brokers and key rings, and no signer"), page: .shows("the signer at"),
            fix: { stage in stage.keep(try await stage.signer.start()) })
    }

    /// Starts a signer that holds rings of the shop.
    private static let withSigner: Action = { stage in
        try stage.placeSigner()
        stage.keep(try await stage.signer.start(), isHelper: true)
    }

    static let signers: [Fault] = [
        signerAway("the signer is away when the worker starts", isAtStart: true, make: { try $0.placeSigner() }),
        signerAway(
            "the signer is killed", isAtStart: false, prepare: withSigner,
            make: { stage in
                let signer = try stage.helper
                signer.kill()
                await signer.waitForEnd()
            }),
    ]
}
