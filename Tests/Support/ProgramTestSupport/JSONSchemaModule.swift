import Foundation
package import Testing

/// Python's jsonschema and PyYAML as a second opinion on the schemas: they share no code with ours.
package enum JSONSchemaModule {
    /// The reason for skipping a test that needs the modules.
    package static let isMissing: Comment =
        "python3 lacks the modules jsonschema and yaml; pip install jsonschema PyYAML"

    package static let isInstalled = PythonModules.areInstalled("jsonschema, yaml")

    /// `accepts`, `refuses` or `cannot read` for each file.
    package static func validate(_ files: [String], by schema: String) async throws -> [String: String] {
        let program = try await Program.run("python3", ["-c", script, schema] + files)
        guard program.status == 0 else { throw Failure(text: program.errorText) }
        return try JSONDecoder().decode([String: String].self, from: program.standardOutput)
    }

    private struct Failure: Error { let text: String }

    private static let script = #"""
        import json, re, sys, yaml
        from jsonschema import Draft202012Validator

        class Core(yaml.SafeLoader):
            yaml_implicit_resolvers = {}

        for name, pattern, first in [
            ("null", r"^(~|null|Null|NULL|)$", [*"~nN", ""]),
            ("bool", r"^(true|True|TRUE|false|False|FALSE)$", [*"tTfF"]),
            ("int", r"^[-+]?[0-9]+$", [*"-+0123456789"]),
            ("float", r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$", [*"-+.0123456789"]),
        ]:
            Core.add_implicit_resolver("tag:yaml.org,2002:" + name, re.compile(pattern), first)
        schema = json.load(open(sys.argv[1], encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        validator = Draft202012Validator(schema)
        answers = {}
        for path in sys.argv[2:]:
            try:
                document = yaml.load(open(path, encoding="utf-8"), Core)
            except Exception:
                answers[path] = "cannot read"
            else:
                answers[path] = "accepts" if validator.is_valid(document) else "refuses"
        print(json.dumps(answers))
        """#
}
