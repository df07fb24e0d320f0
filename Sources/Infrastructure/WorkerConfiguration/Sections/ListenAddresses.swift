import Formats
import YAMLReading
import Yams

/// The addresses that a configuration's processes listen on. Two of one process that cannot be listened on together are refused; where
/// they are of a worker and a gateway, which may run on different machines, that is a warning.
struct ListenAddresses {
    private struct Listener {
        let key: String
        let address: HostAndPort
        let node: Node?
        let process: String

        init(_ key: any DeclaredMember, in section: Section, _ address: (host: String, port: Int), of process: String) {
            self.key = section.path(of: key)
            self.address = HostAndPort(host: address.host, port: address.port)
            node = section.value(of: key) ?? section.node
            self.process = process
        }
    }

    static func check(_ configuration: Configuration, admin: Section, pickup: Section) {
        let diagnostics = pickup.diagnostics
        var listeners: [Listener] = []
        if let gateway = configuration.pickup {
            listeners.append(
                Listener(Configuration.Pickup.listenKey, in: pickup, (gateway.host, gateway.port), of: "the gateway"))
            if let metrics = gateway.metrics {
                listeners.append(Listener(Configuration.Pickup.metricsKey, in: pickup, metrics, of: "the gateway"))
            }
        }
        if let worker = configuration.admin {
            listeners.append(
                Listener(Configuration.Admin.listenKey, in: admin, (worker.host, worker.port), of: "the worker"))
        }
        for (index, later) in listeners.enumerated() {
            for earlier in listeners[..<index] where later.address.clashes(with: earlier.address) {
                report(later, earlier, diagnostics)
            }
        }
    }

    private static func report(_ later: Listener, _ earlier: Listener, _ diagnostics: Diagnostics) {
        let (address, other) = (later.address.port, earlier.key)
        if later.process == earlier.process {
            diagnostics.error(
                later.node,
                "\(later.key) and \(other) both listen on port \(address) of one address; write another port in \(later.key)"
            )
        } else {
            diagnostics.warning(
                later.node,
                "\(later.key) of \(later.process) and \(other) of \(earlier.process) both listen on port \(address) of one address; write another port in \(later.key) where both run on one machine"
            )
        }
    }
}

extension HostAndPort {
    /// Returns whether a listener on one address keeps another process from listening on the other. Port 0 is any free
    /// port.
    func clashes(with other: HostAndPort) -> Bool {
        guard port == other.port, port != 0 else { return false }
        let (one, two) = (Self.hosts(host), Self.hosts(other.host))
        return !one.isDisjoint(with: two) || Self.isEverywhere(host, beside: two)
            || Self.isEverywhere(other.host, beside: one)
    }

    /// Returns the host in the spelling of addresses; a name stays as it is.
    private static func hosts(_ host: String) -> Set<String> {
        let name = host.lowercased()
        if name == "localhost" { return ["127.0.0.1", "::1"].reduce(into: []) { $0.formUnion(hosts($1)) } }
        return [IPAddress(name)?.description ?? name]
    }

    /// Returns whether `host` means every address of a machine, of the kind of `others`. Every IPv6 address includes
    /// those of IPv4.
    private static func isEverywhere(_ host: String, beside others: Set<String>) -> Bool {
        guard let address = IPAddress(host), address.bytes.allSatisfy({ $0 == 0 }) else { return false }
        return address.isLong || others.contains { IPAddress($0).map { !$0.isLong } ?? true }
    }
}
