extension Fault {
    private static func signerAway(_ name: String, isAtStart: Bool) -> Fault {
        Fault(
            name: name, scene: .partners, isAtStart: isAtStart, make: { await $0.killSigner() },
            readiness: .shows("the signer at"),
            firstLine: .logs("signer.unusable"), lastLine: .logs("signer.usable"),
            metric: FaultMetric("remint_signer_reachable", bound: .equal(0)),
            alert: FaultAlert("RemintSignerUnreachable"),
            status: .cannotSee("the command asks brokers and key rings, and no signer"), page: .shows("the signer at"),
            end: .fixed { try await $0.startSigner() })
    }

    static let signers: [Fault] = [
        signerAway("the signer is away when the worker starts", isAtStart: true),
        signerAway("the signer is killed", isAtStart: false).inEveryRun,
    ]
}
