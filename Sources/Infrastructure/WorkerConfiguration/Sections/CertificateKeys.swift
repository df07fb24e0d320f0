/// The section `tls` of a server: the PEM files of its certificate chain and its key.
struct CertificateKeys: Sendable {
    let section: SectionDescription
    let chain: FileKey<String>
    let key: FileKey<String>

    init(_ summary: String, examples: (chain: String, key: String)) {
        chain = .text(
            "certificate", form: .path, example: examples.chain, isRequired: true,
            "File with the certificate and its chain, in PEM.")
        key = .text(
            "key", form: .path, example: examples.key, isRequired: true, "File with the private key, in PEM, mode 600.")
        section = SectionDescription(
            "tls", summary, keys: [chain.description, key.description], isRare: true, ifAbsent: .nothing)
    }
}
