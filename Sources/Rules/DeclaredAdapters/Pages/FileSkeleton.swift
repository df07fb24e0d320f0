package import AdapterKit
import YAMLReading
import Yams

/// A vendor's file to fill in: every section with an example, and a mark at each value that only the vendor's pages know.
package struct FileSkeleton {
    package static let mark = "FILL IN"

    let name: String
    let algorithm: Algorithm
    /// The private key of the tests in the file; nil for a shared secret.
    let pem: String?

    /// The file of the vendor `name`, whose tokens `algorithm` signs; nil where that is no vendor's name.
    ///
    /// - Throws: `JOSEError` if no key can be made for the tests in the file.
    package init?(name: String, algorithm: Algorithm = .hs256) throws(JOSEError) {
        guard VendorName.isValid(name) else { return nil }
        self.name = name
        self.algorithm = algorithm
        let key = try SigningKey.generate(algorithm).privateKeyPEM()
        pem = key.map { key in key.withBytes { String(decoding: $0, as: UTF8.self) } }
    }

    static func unfilled(in root: Node) -> [Node] {
        switch root {
        case .scalar(let scalar): scalar.string.hasPrefix(mark) ? [root] : []
        case .mapping(let mapping): mapping.flatMap { unfilled(in: $0.value) }
        case .sequence(let sequence): sequence.flatMap { unfilled(in: $0) }
        case .alias: []
        }
    }

    /// The file's text. Keys that not every vendor needs are in comments.
    package var text: String { text(withExamples: false) }

    /// Returns the file's text, with the keys that not every vendor needs in comments or, with `withExamples`, as keys.
    func text(withExamples: Bool) -> String {
        let template = [head, values, report, codes, token, key, answers, tests].joined(separator: "\n\n") + "\n"
        return template.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let indent = line.prefix { $0 == " " }
            let rest = line.dropFirst(indent.count)
            guard rest.hasPrefix("% ") else { return String(line) }
            return "\(indent)\(withExamples ? "" : "# ")\(rest.dropFirst(2))"
        }.joined(separator: "\n")
    }

    // MARK: Comments

    func comments(_ words: [(name: String, meaning: String)], indent: String = "") -> String {
        words.map { "\(indent)#   \($0.name): \(plain($0.meaning))" }.joined(separator: "\n")
    }

    /// Returns `text` without the marks of code in Markdown.
    func plain(_ text: String) -> String { text.filter { $0 != "`" } }

    /// Returns the lines of a verdict on each corruption of a token with the claims `sub`, `iat` and `exp`.
    var verdicts: String {
        CorruptionKind.allCases.flatMap { kind -> [String] in
            let names: [String] =
                switch kind {
                case .noClaim: ["sub", "iat", "exp"].map { kind.name(claim: $0) }
                case .wrongClaim: ["sub", "iat"].map { kind.name(claim: $0) }
                case .noKeyID, .otherKeyID: pem == nil ? [] : [kind.rawValue]
                default: [kind.rawValue]
                }
            let answer = kind == .noType ? "accepted" : "401 Unauthorized"
            return names.map { "    \($0): \(answer)    # \(plain(kind.change))" }
        }.joined(separator: "\n")
    }
}

// The sections of the skeleton. A line that begins with "% " is a key that not every vendor needs.
extension FileSkeleton {
    var head: String {
        """
        # A vendor of Remint in one file. Replace each value that begins with FILL IN: these are the facts that the
        # vendor's pages and its SDKs' sources know. Everything else is an example; change what differs. Keys in comments
        # are for vendors that need them.
        #
        #   remint adapter lint \(name).yaml    reports every error
        #   remint adapter test \(name).yaml    runs the tests below
        #   remint adapter schema > adapter.schema.json    lets an editor complete this file, with this first line:
        # yaml-language-server: $schema=adapter.schema.json

        # The vendor's own spelling of its name, and the name in codes, logs and metrics.
        vendor: \(name)
        name: \(name)
        about: "FILL IN: the purpose of the tokens, in a line"
        sources:
          - "FILL IN: the vendor's page on tokens, and the source files that you read"
        # The SDKs whose source you read, each with its version, and the vendor's other SDKs.
        platforms:
          read: ["FILL IN: such as iOS 5.9.9"]
          not_read: ["FILL IN: such as Flutter; remove the key if you read them all"]
        # Rules that the vendor does not document and that you chose.
        ours:
          - The user in a report, which the app adds as "user".
        # Facts that nobody knows. Each is a warning of remint check. Remove the key if there are none.
        missing:
          - "FILL IN: such as the longest lifetime of a token"
        """
    }

    var values: String {
        """
        # Values of an app, for {{settings.NAME}} in a token. A type is one of:
        \(comments(FileWords.types.filter { FileKeys.Setting.types.contains($0.name) }))
        # A string may have a form:
        \(comments(FileWords.forms))
        % settings:
        %   region: { type: choice, of: [eu, none], default: none, about: "the app's region at the vendor" }

        # Members beside the user that your edge vouches for, for {{vouched.NAME}}. An event without a required one has
        # no token. A device cannot set any of them. at_most is in bytes of JSON. Forms are those of settings. A type is one of:
        \(comments(FileWords.types.filter { VouchedMember.Kind(rawValue: $0.name) != nil }))
        % vouched:
        %   room: { type: text, at_most: 255, required: true, about: "the room that the user may join" }
        %   role: { type: text, of: [agent, visitor], about: "the user's role in the room" }
        """
    }

    var report: String {
        """
        # The members of the SDKs' error callbacks, and those that the app adds. The first path that has a value counts.
        report:
          user: [user]
          code: [code]
          message: [message]
          members: [user, code, message]
          # The type of a code, any by default:
        \(comments(FileWords.codeTypes, indent: "  "))
          % code_type: any
          # The time until which a token is of use. A unit is one of:
        \(comments(FileWords.units, indent: "  "))
          % deadline: { at: deadline, unit: seconds }
          # The signs of another vendor's report, all of one list:
        \(comments(FileWords.strangerSigns, indent: "  "))
          % another_vendors: [[no_known_code, other_members], [no_code, no_user]]
          # SDKs that differ, each with a member that no other has. The keys above are for reports that no shape matches.
          % shapes:
          %   - sdk: Web
          %     when: error
          %     code: [error.code]
        """
    }

    var codes: String {
        """
        # Each code of the vendor. evidence is the fact about the failed token that the code proves:
        \(comments(FileWords.evidence))
        # remedy is one of:
        \(comments(FileWords.remedies))
        codes:
          - { name: TOKEN_EXPIRED, match: [401], evidence: expired, remedy: mint }
          - name: UNKNOWN_KEY
            about: "FILL IN: the vendor's meaning of the code; write down every code of the callback"
            match: [403]
            evidence: key
            remedy: { not_fixable: "the vendor does not know the key" }
        # For a report with a code that is not in codes, and for a report without a code.
        unknown_code: { name: UNKNOWN, evidence: none, remedy: mint_once }
        no_code: { name: TOKEN_REQUESTED, about: "the SDK asks for a token", evidence: none, remedy: mint, ahead: true }
        """
    }

    var token: String {
        """
        # The payload of the vendor's own sample, with placeholders for the sample's values.
        token:
          algorithm: \(algorithm.rawValue)
          header: { typ: JWT\(pem == nil ? "" : ", kid: \"{{key_id}}\"") }
          claims:
            sub: "{{user}}"
            iat: "{{now}}"
            exp: "{{expires}}"
            % room: "{{vouched.room}}"
            % role: { $omit_if_absent: "{{vouched.role}}" }
            # The value for each word of a setting; $omit leaves the claim out.
            % region: { $one_of: { by: settings.region, eu: eu-central, none: $omit } }
          # The default lifetime and its bounds; or { age_limit: 15m } where the vendor measures the age from iat.
          lifetime: { standard: 1h, from: 1m, to: 24h }
        """
    }

    var key: String {
        """
        # The key, and a person's steps at the vendor. made_by is one of:
        \(comments(FileWords.makers.map { ($0.name, $0.meaning) }))
        # older_tokens is one of:
        \(comments(FileWords.olderTokens.map { ($0.name, $0.meaning) }))
        \(pem == nil ? secretKey : keyPair)
        """
    }

    private var secretKey: String {
        """
        # encoding is the form in which the dashboard shows the secret:
        \(comments(FileWords.encodings))
        key:
          encoding: utf8
          made_by: vendor
          older_tokens: stay_good
          before_promotion:
            - "FILL IN: where the dashboard makes a secret. Import it: remint keys import --encoding utf8."
          after_retirement: ["FILL IN: where the dashboard deletes the old secret."]
        """
    }

    private var keyPair: String {
        """
        # A key pair has no encoding. The words of encoding, for a shared secret:
        \(comments(FileWords.encodings))
        key:
          made_by: ours
          older_tokens: stay_good
          before_promotion:
            - "FILL IN: where the dashboard accepts the public key that remint keys generate --kid ID prints, and shows its id"
          after_retirement: ["FILL IN: where the dashboard deletes the old public key."]
        """
    }

    var answers: String {
        """
        device: { call: "FILL IN: the SDK's call that accepts a token" }

        # The vendor's answer to a token that it refuses: its code, a space, its name. Without a code: "- refused".
        vendor_says:
          # Checks with answers of their own, in the vendor's order. The answer below is to all other faults. if is one of:
        \(comments(FileWords.checks.map { ($0.check.rawValue, $0.fails) }, indent: "  "))
          % first:
          %   - { if: signature, \(FileKeys.Verdicts.Rule.says.name): 401 Unauthorized }
          otherwise: 401 Unauthorized
        """
    }

    var tests: String {
        """
        tests:
          now: 1760000000
        \(testKey)
          apps:
            shop: { settings: {}, reissue: u-1 }
          # A report of each SDK with its reading, one for each code, and reports that must be refused.
          reports:
            - sdk: "FILL IN: the SDK, and a report as its callback has it"
              app: shop
              reported: an expired token
              report: { user: u-1, code: 401 }
              expect: { remedy: mint, reason: TOKEN_EXPIRED, user: u-1 }
            - sdk: App
              app: shop
              reported: an unknown key
              report: { user: u-1, code: 403 }
              expect: { remedy: not_fixable, reason: UNKNOWN_KEY, user: u-1 }
            - sdk: App
              app: shop
              reported: an anonymous user
              report: { user: null, code: 401 }
              expect: { remedy: not_for_us, reason: TOKEN_EXPIRED }
            - sdk: App
              app: shop
              reported: no user
              report: { code: 401 }
              expect: { rejected: missing_user }
            - sdk: App
              app: shop
              reported: a number for a user
              report: { user: 42, code: 401 }
              expect: { rejected: malformed_report }
        \(testTokens)
          # Settings that must be refused, and a part of the reason.
          refused:
            - settings: { unknown: 1 }
              because: is not known
        """
    }

    /// The key of the tests: a secret like that of a vendor's sample, or a key pair of this file.
    private var testKey: String {
        guard let pem else { return "  key: { secret: \"the secret of the vendor's sample\", encoding: utf8 }" }
        let lines = pem.split(separator: "\n").map { "      \($0)" }.joined(separator: "\n")
        return "  # A key pair of these tests alone.\n  key:\n    id: key-1\n    pem: |\n\(lines)"
    }

    private var testTokens: String {
        """
          # A token with the key of the vendor's sample. If the page shows the sample's bytes, add them: token: eyJ…
          tokens:
            - app: shop
              user: u-1
              % vouched: { room: r-1, role: agent }
              lives: 1h
              header: { alg: \(algorithm.rawValue), typ: JWT\(pem == nil ? "" : ", kid: key-1") }
              payload:
                sub: u-1
                iat: 1760000000
                exp: 1760003600
                % room: r-1
                % role: agent
            # Without a member that is required, there is no token.
            % - app: shop
            %   user: u-1
            %   rejected: missing_vouched
          # The vendor's answer to each corrupted token; "*" is the one to all others.
          verdicts:
            "*": 401 Unauthorized
            % no_role: accepted
            % wrong_role: accepted
        \(verdicts)
        """
    }
}
