package import AdapterKit

/// A configuration that shows every key with its default and its meaning, and an app for each vendor.
public struct SampleConfiguration {
    private struct SampleApp {
        let name: String
        let adapter: String
        let ring: String
        var settings: [String: String] = [:]
    }

    private static let apps = [
        SampleApp(name: "shop-ios", adapter: "braze", ring: "shop-braze"),
        SampleApp(
            name: "shop-push", adapter: "onesignal", ring: "shop-onesignal",
            settings: ["app_id": "0f0f0f0f-1111-2222-3333-444444444444"]),
        SampleApp(
            name: "web", adapter: "bloomreach", ring: "web-bloomreach",
            settings: ["mode": "stream", "ids": "[registered]"]),
        SampleApp(
            name: "inbox", adapter: "bloomreach", ring: "inbox-bloomreach", settings: ["mode": "customer_token"]),
        SampleApp(
            name: "push", adapter: "dotdigital", ring: "push-dotdigital",
            settings: ["issuer": "https://api.comapi.com/defaultauth", "audience": "https://api.comapi.com"]),
        SampleApp(
            name: "shop-inbox", adapter: "infobip", ring: "shop-infobip",
            settings: ["application_code": "app-code-A"]),
    ]

    private let registry: AdapterRegistry
    private var lines = [
        "# yaml-language-server: $schema=remint.schema.json",
        "# Every key of Remint's configuration, with its default where it has one. Check yours with: remint check --config FILE",
        "# Made by: remint config sample",
        "#",
        "# Durations: 20ms 10s 1m 12h 30d. ${NAME} and ${NAME:-default} read the environment; an undefined name is an error.",
        "# Relative paths are relative to this file. Unknown keys are errors.",
    ]

    package init(registry: AdapterRegistry) { self.registry = registry }

    package var text: String {
        var sample = self
        for section in Configuration.sections { sample.add(section) }
        return sample.lines.joined(separator: "\n") + "\n"
    }

    private mutating func add(_ section: SectionDescription) {
        lines.append("")
        guard !section.name.isEmpty else {
            for key in section.keys { add(key, indent: 0) }
            return
        }
        if section.isRare, let each = section.each {
            return addNamed(section, each, indent: 0)
        }
        add(comment: section.summary, indent: 0)
        lines.append("\(section.name):")
        if let each = section.each {
            section.name == Configuration.App.section.name ? addApps(each) : addRings(each)
        } else {
            add(membersOf: section, indent: 2)
        }
    }

    private mutating func add(membersOf section: SectionDescription, indent: Int) {
        for key in section.keys { add(key, indent: indent) }
        for inner in section.sections {
            if let each = inner.each {
                addNamed(inner, each, indent: indent)
                continue
            }
            add(comment: inner.summary, indent: indent)
            let start = lines.count
            lines.append(Self.space(indent) + "\(inner.name):")
            add(membersOf: inner, indent: indent + 2)
            guard inner.isRare else { continue }
            for index in start..<lines.count {
                lines[index] = Self.space(indent) + "# " + lines[index].dropFirst(indent)
            }
        }
    }

    /// Adds a section whose members have the user's names: one member, as a comment where the sample needs none.
    private mutating func addNamed(_ section: SectionDescription, _ each: SectionDescription, indent: Int) {
        add(comment: section.summary, indent: indent)
        if let member = section.sampleMember {
            lines.append(Self.space(indent) + "\(section.name):")
            lines.append(Self.space(indent + 2) + "\(member):")
            return add(membersOf: each, indent: indent + 4)
        }
        lines.append(Self.space(indent) + "# \(section.name):")
        lines.append(Self.space(indent) + "#   NAME:")
        let start = lines.count
        add(membersOf: each, indent: 4)
        for index in start..<lines.count { lines[index] = Self.space(indent) + "# " + lines[index] }
    }

    private mutating func addRings(_ each: SectionDescription) {
        for (index, app) in Self.apps.enumerated() {
            guard index == 0 else {
                lines.append("  \(app.ring): { path: keys/\(app.ring) }")
                continue
            }
            lines.append("  \(app.ring):")
            add(comment: each.keys[0].summary, indent: 4)
            lines.append("    path: keys/\(app.ring)")
            for key in each.keys.dropFirst() { add(key, indent: 4) }
            add(membersOf: SectionDescription("", "", sections: each.sections), indent: 4)
        }
    }

    private mutating func addApps(_ each: SectionDescription) {
        for (index, app) in Self.apps.enumerated() {
            if index > 0 { lines.append("") }
            lines.append("  \(app.name):")
            if index == 0 {
                for key in each.keys where key.name != Configuration.App.settingsKey.name { add(key, indent: 4) }
                add(membersOf: SectionDescription("", "", sections: each.sections), indent: 4)
            } else {
                lines.append("    adapter: \(app.adapter)")
                lines.append("    key: \(app.ring)")
            }
            addSettings(app)
        }
    }

    /// Adds the adapter's settings: those that the sample sets, and the others as comments.
    private mutating func addSettings(_ app: SampleApp) {
        guard let registration = registry[app.adapter] else { return }
        // One app of each vendor explains its settings.
        let isFirst = Self.apps.first { $0.adapter == app.adapter }?.name == app.name
        let keys = registration.settings.filter { isFirst || app.settings[$0.name] != nil }
        lines.append("    settings:" + (app.settings.isEmpty ? " {}" : ""))
        for key in keys {
            if isFirst { add(comment: key.summary + (key.isRequired ? "; required" : ""), indent: 6) }
            if let value = app.settings[key.name] {
                lines.append("      \(key.name): \(value)")
            } else {
                lines.append("      # \(key.name):")
            }
        }
    }

    private mutating func add(_ key: KeyDescription, indent: Int) {
        let bounds = key.form.bounds.map { " (\($0))" } ?? ""
        add(comment: key.summary + bounds + (key.isRequired ? " Required." : ""), indent: indent)
        let value = key.standard ?? key.example ?? ""
        let isShown = key.standard != nil || key.isRequired
        lines.append(Self.space(indent) + (isShown ? "" : "# ") + "\(key.name): \(value)")
    }

    /// Lines of at most 120 columns.
    private mutating func add(comment text: String, indent: Int) {
        guard !text.isEmpty else { return }
        var line = Self.space(indent) + "#"
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            if line.count + 1 + word.count > 120 {
                lines.append(line)
                line = Self.space(indent) + "#"
            }
            line += " \(word)"
        }
        lines.append(line)
    }

    private static func space(_ count: Int) -> String { String(repeating: " ", count: count) }
}
