import AdapterKit

/// A token for the mailbox, with all a device or a ledger asks of it.
struct ReplacementToken: Sendable {
    let event: Event
    let app: App
    let subject: Subject
    /// The mailbox key.
    let key: [UInt8]
    let algorithm: Algorithm
    let keyID: String
    let life: TokenLife
    /// When it is issued, in the form of RFC 3339.
    let issuedAtText: [UInt8]
    let version: Int64

    /// The record that publishes `token`: a JSON value, CloudEvents attributes in binary mode, and headers that are enough
    /// for the ledger.
    func output(of token: [UInt8]) -> OutputRecord {
        var lengths: [RecordContents.HeaderLengths] = []
        let head = ByteWriter.bytes { head in
            head.append(key)
            lengths = headers(to: &head)
        }
        return OutputRecord(
            destination: .tokens,
            contents: RecordContents(
                value: value(with: token), head: head, keyLength: Int32(clamping: key.count), headerLengths: lengths))
    }

    private func value(with token: [UInt8]) -> [UInt8] {
        ByteWriter.bytes { json in
            json.append(app.valueStart)
            subject.write(to: &json)
            json.append(#","token":""#)
            json.append(token)
            json.append(#"","algorithm":"#)
            json.append(quoting: algorithm.rawValue)
            json.append(#","key_id":"#)
            json.append(quoting: keyID)
            json.append(#","issued_at":"#)
            json.append(decimal: life.issuedAt)
            json.append(#","expires_at":"#)
            json.append(decimal: life.expiresAt)
            json.append(#","version":"#)
            json.append(decimal: version)
            json.append(#","event_id":"#)
            json.append(quoting: event.id)
            if let device = event.device {
                json.append(#","device":"#)
                json.append(quoting: device)
            }
            if let challenge = subject.challenge {
                json.append(#","challenge":"#)
                json.append(quoting: challenge)
            }
            json.append("}")
        }
    }

    private func headers(to head: inout ByteWriter) -> [RecordContents.HeaderLengths] {
        var headers = HeaderList(10 + event.traceHeaders.count)
        headers.add("ce_specversion", to: &head) { $0.append("1.0") }
        headers.add("ce_id", to: &head) { $0.append(event.id.utf8.span) }
        headers.add("ce_source", to: &head) { $0.append(app.eventSource) }
        headers.add("ce_type", to: &head) { $0.append("remint.token.replaced.v1") }
        headers.add("ce_subject", to: &head) { $0.append(key) }
        headers.add("ce_time", to: &head) { $0.append(issuedAtText) }
        headers.add("content-type", to: &head) { $0.append("application/json") }
        headers.add("remint-key-id", to: &head) { $0.append(keyID.utf8.span) }
        headers.add("remint-expires-at", to: &head) { $0.append(decimal: life.expiresAt) }
        headers.add("remint-version", to: &head) { $0.append(decimal: version) }
        for header in event.traceHeaders { headers.add(header, to: &head) }
        return headers.lengths
    }

    /// Headers as they are written one behind the other.
    private struct HeaderList {
        private(set) var lengths: [RecordContents.HeaderLengths] = []

        init(_ count: Int) { lengths.reserveCapacity(count) }

        mutating func add(_ name: StaticString, to head: inout ByteWriter, _ value: (inout ByteWriter) -> Void) {
            head.append(name)
            let start = head.count
            value(&head)
            lengths.append((Int32(clamping: name.utf8CodeUnitCount), Int32(clamping: head.count - start)))
        }

        mutating func add(_ header: Header, to head: inout ByteWriter) {
            head.append(header.name.utf8.span)
            if let value = header.value { head.append(value) }
            lengths.append(
                (Int32(clamping: header.name.utf8.count), header.value.map { Int32(clamping: $0.count) } ?? -1))
        }
    }
}
