extension String {
    /// A `typ` in one spelling: it is compared without regard to case, and may leave `application/` away (RFC 7515, 4.1.9).
    var mediaSubtype: String {
        let type = lowercased()
        return type.hasPrefix("application/") ? String(type.dropFirst("application/".count)) : type
    }
}
