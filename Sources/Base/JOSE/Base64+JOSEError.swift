import Formats

extension Base64 {
    /// Decodes `text` as `decode` does, with this module's error.
    ///
    /// - Throws: `JOSEError` with `.invalidEncoding`.
    func decoded(_ text: ArraySlice<UInt8>) throws(JOSEError) -> [UInt8] {
        do throws(InvalidEncoding) { return try decode(text) } catch {
            throw JOSEError(.invalidEncoding, error.description)
        }
    }

    /// Decodes a part of a token as `decode` does.
    ///
    /// - Throws: `JOSEError` with `code`, naming the part.
    func decoded(_ part: ArraySlice<UInt8>, _ code: JOSEError.Code, _ name: String) throws(JOSEError) -> [UInt8] {
        do throws(InvalidEncoding) { return try decode(part) } catch {
            throw JOSEError(code, "the \(name) is not canonical base64url")
        }
    }
}
