import ArgumentParser

/// `--rsa-bits`, the size of a new RSA key.
struct RSABitsOption: ParsableArguments {
    @Option(
        name: .customLong("rsa-bits"),
        help: ArgumentHelp("Bits of an RSA key: 2048, 3072 or 4096.", valueName: "2048"))
    var bits = 2048

    func validate() throws {
        guard [2048, 3072, 4096].contains(bits) else { throw ValidationError("--rsa-bits is 2048, 3072 or 4096") }
    }
}
