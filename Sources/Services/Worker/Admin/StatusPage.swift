import JOSE

/// The page at `/`: one document with its style and its script in it. It holds no figure: it asks `/status` for them, with the token
/// where the server wants one.
struct StatusPage: Sendable {
    /// The document.
    let html: [UInt8]
    /// The page's Content-Security-Policy (W3C CSP, level 3): this style, this script and requests to this server, and
    /// nothing else.
    let policy: String

    /// The page of this program.
    static let shared = StatusPage(
        frame: PackageResources.status_html, style: PackageResources.status_css, script: PackageResources.status_js)

    /// A page of `frame`, with `style` and `script` in place of its lines `{style}` and `{script}`.
    init(frame: [UInt8], style: [UInt8], script: [UInt8]) {
        var html: [UInt8] = []
        for line in frame.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if line.elementsEqual("{style}".utf8) {
                html += Array("<style>".utf8) + style + Array("</style>".utf8)
            } else if line.elementsEqual("{script}".utf8) {
                html += Array("<script>".utf8) + script + Array("</script>".utf8)
            } else {
                html += line
            }
            html.append(UInt8(ascii: "\n"))
        }
        self.html = html
        policy = [
            "default-src 'none'", "script-src \(Self.source(of: script))", "style-src \(Self.source(of: style))",
            "connect-src 'self'", "img-src data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        ].joined(separator: "; ")
    }

    private static func source(of text: [UInt8]) -> String {
        "'sha256-\(Base64.standard.encode(SHA256.hash(text)))'"
    }
}
