import Yams

/// A vendor's file to fill in: every section with an example, and a mark at each value that only the vendor's pages know.
package struct FileSkeleton {
    /// The beginning of each value that is to be filled in.
    package static let mark = "FILL IN"

    private let name: String

    /// The file of the vendor `name`; nil where that is no vendor's name.
    package init?(name: String) {
        guard VendorName.isValid(name) else { return nil }
        self.name = name
    }

    /// Returns the values in `root` that begin with the mark.
    static func unfilled(in root: Node) -> [Node] {
        switch root {
        case .scalar(let scalar): scalar.string.hasPrefix(mark) ? [root] : []
        case .mapping(let mapping): mapping.flatMap { unfilled(in: $0.value) }
        case .sequence(let sequence): sequence.flatMap { unfilled(in: $0) }
        case .alias: []
        }
    }

    /// The file's text.
    package var text: String {
        """
        # A vendor of Remint in one file. Replace each value that begins with FILL IN: these are the facts that the
        # vendor's pages and its SDKs' sources know. Everything else is an example; change what differs.
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

        # Values of an app, for {{settings.NAME}} in a token.
        # settings:
        #   app_id: { type: text, required: true, about: "the app's id in the vendor's dashboard" }

        # Members beside the user that your edge vouches for, for {{vouched.NAME}}. An event without a required one has
        # no token. A device cannot set any of them.
        # vouched:
        #   room: { type: text, required: true, about: "the room that the user may join" }

        # The members of the SDKs' error callbacks, and those that the app adds. The first path that has a value counts.
        report:
          user: [user]
          code: [code]
          message: [message]
          members: [user, code, message]

        # Each code of the vendor: evidence is key, expired, revoked or none; remedy is mint, mint_once,
        # { not_fixable: why } or { not_for_us: why }.
        codes:
          - { name: TOKEN_EXPIRED, match: [401], evidence: expired, remedy: mint }
          - name: UNKNOWN_KEY
            about: "FILL IN: the vendor's meaning of the code; write down every code of the callback"
            match: [403]
            evidence: key
            remedy: { not_fixable: "the vendor does not know the key" }
        unknown_code: { name: UNKNOWN, evidence: none, remedy: mint_once }
        no_code: { name: TOKEN_REQUESTED, about: "the SDK asks for a token", evidence: none, remedy: mint, ahead: true }

        # The payload of the vendor's own sample, with placeholders for the sample's values.
        token:
          algorithm: HS256
          header: { typ: JWT }
          claims:
            sub: "{{user}}"
            iat: "{{now}}"
            exp: "{{expires}}"
          # The default lifetime and its bounds; or { age_limit: 15m } where the vendor measures the age from iat.
          lifetime: { standard: 1h, from: 1m, to: 24h }

        # The form in which the dashboard shows the secret, and the steps there. A key pair has no encoding.
        key:
          encoding: utf8
          made_by: vendor
          older_tokens: stay_good
          before_promotion:
            - "FILL IN: where the dashboard makes a secret. Import it: remint keys import --encoding utf8."
          after_retirement: ["FILL IN: where the dashboard deletes the old secret."]

        device: { call: "FILL IN: the SDK's call that accepts a token" }

        # The vendor's answer to a token that it refuses: its code, a space, its name. Without a code: "- refused".
        vendor_says:
          otherwise: 401 Unauthorized

        tests:
          now: 1760000000
          key: { secret: "the secret of the vendor's sample", encoding: utf8 }
          apps:
            shop: { settings: {}, reissue: u-1 }
          # A report of each SDK with its reading, and reports that must be refused.
          reports:
            - sdk: "FILL IN: the SDK, and a report as its callback has it"
              app: shop
              reported: an expired token
              report: { user: u-1, code: 401 }
              expect: { remedy: mint, reason: TOKEN_EXPIRED, user: u-1 }
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
          # A token with the secret of the vendor's sample. If the page shows the sample's bytes, add them: token: eyJ…
          tokens:
            - app: shop
              user: u-1
              lives: 1h
              header: { alg: HS256, typ: JWT }
              payload: { sub: u-1, iat: 1760000000, exp: 1760003600 }
          # The vendor's answer to each corrupted token; "*" is the one to all others.
          verdicts:
            "*": 401 Unauthorized
            no_type: accepted

        """
    }
}
