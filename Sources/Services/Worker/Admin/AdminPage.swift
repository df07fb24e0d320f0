import AdapterKit
import JOSE

/// A page of the admin server: one document with its style and its script in it. It holds no figure: the status page asks `/status`
/// and `/fleet` for them, with the token where the server requires one.
struct AdminPage: Sendable {
    let html: [UInt8]
    /// The page's Content-Security-Policy (W3C CSP, level 3): this style, this script and requests to this server, and
    /// nothing else.
    let policy: String

    /// The page at `/`.
    static let status = AdminPage(
        frame: PackageResources.status_html, style: PackageResources.status_css,
        script: PackageResources.status_view_js + PackageResources.status_chart_js + PackageResources.status_fleet_js
            + PackageResources.status_js)

    /// The page at `/codes`: the meaning of each code of a dead letter.
    static let codes = AdminPage(
        frame: PackageResources.codes_html, style: PackageResources.status_css,
        lines: ErrorCode.allCases.map(section).joined(separator: "\n"))

    /// A page of `frame`, with `style`, `script` and `lines` in place of its lines `{style}`, `{script}` and `{codes}`.
    init(frame: [UInt8], style: [UInt8], script: [UInt8] = [], lines: String = "") {
        var html: [UInt8] = []
        for line in frame.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if line.elementsEqual("{style}".utf8) {
                html += Array("<style>".utf8) + style + Array("</style>".utf8)
            } else if line.elementsEqual("{script}".utf8) {
                html += Array("<script>".utf8) + script + Array("</script>".utf8)
            } else if line.elementsEqual("{codes}".utf8) {
                html += Array(lines.utf8)
            } else {
                html += line
            }
            html.append(UInt8(ascii: "\n"))
        }
        self.html = html
        let script = script.isEmpty ? "'none'" : Self.source(of: script)
        policy = [
            "default-src 'none'", "script-src \(script)", "style-src \(Self.source(of: style))", "connect-src 'self'",
            "img-src data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        ].joined(separator: "; ")
    }

    /// Returns the section of `code`, to which `/codes#CODE` leads.
    private static func section(_ code: ErrorCode) -> String {
        let command = "remint dead-letters list --code \(code.rawValue)"
        return
            "<section id=\"\(code.rawValue)\"><h2>\(code.rawValue)</h2><p>\(text(code.summary))</p><p class=\"soft\"><code>\(command)</code></p></section>"
    }

    /// Returns `words` as HTML. Commands and keys are between backticks in it.
    private static func text(_ words: String) -> String {
        let escaped = words.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        return escaped.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
            index.isMultiple(of: 2) ? String(part) : "<code>\(part)</code>"
        }.joined()
    }

    private static func source(of text: [UInt8]) -> String {
        "'sha256-\(Base64.standard.encode(SHA256.hash(text)))'"
    }
}
