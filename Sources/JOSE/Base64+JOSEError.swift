import Formats

extension Base64 {
    /// As `decode`, with this module's error.
    ///
    /// - Throws: `JOSEError` with `.invalidEncoding`.
    func decoded(_ text: ArraySlice<UInt8>) throws(JOSEError) -> [UInt8] {
        do throws(InvalidEncoding) { return try decode(text) } catch {
            throw JOSEError(.invalidEncoding, error.description)
        }
    }
}
