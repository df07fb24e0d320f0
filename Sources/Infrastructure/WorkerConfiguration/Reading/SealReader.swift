import AdapterKit
import YAMLReading

/// Reads `apps.*.seal`: the file of a recipient's public key. One that cannot be used is an error, never a token in the clear.
struct SealReader {
    let source: ConfigurationSource

    /// Returns the seal of the tokens of `app` from the file `path`; nil after reporting an error.
    func read(_ path: String, _ app: Section) -> TokenSeal? {
        let (name, node) = (app.path(of: WrittenApp.seal), app.value(of: WrittenApp.seal))
        guard let text = app.text(ofFile: path, node, named: name, source) else { return nil }
        do throws(JOSEError) { return try TokenSeal(publicJWK: SecretBytes(copying: text.utf8)) } catch {
            app.diagnostics.error(node, "the file of \(name) cannot be used: \(error.message)")
            return nil
        }
    }
}
