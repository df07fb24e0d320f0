/// The JSON Schema of vendors' files (draft 2020-12), for completion and checks in editors. It covers the names and the
/// types; `remint adapter lint` covers rules between keys.
package enum FileSchema {
    /// The schema's text.
    package static let text = """
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "A vendor of Remint in one file",
          "type": "object",
          "additionalProperties": false,
          "required": ["vendor", "name", "about", "report", "codes", "token", "key", "device", "vendor_says"],
          "properties": {
            "vendor": { "type": "string", "description": "The vendor's own spelling of its name." },
            "name": { "type": "string", "pattern": "^[a-z0-9][a-z0-9-]*$", "description": "What apps.*.adapter calls it." },
            "about": { "type": "string", "description": "What the tokens are for, in a line." },
            "sources": { "$ref": "#/$defs/texts", "description": "Where the rules were read." },
            "ours": { "$ref": "#/$defs/texts", "description": "Facts that the vendor does not document, as chosen here." },
            "missing": { "$ref": "#/$defs/texts", "description": "Facts that are not known; each is a warning of remint check." },
            "settings": {
              "type": "object", "description": "What apps.*.settings may hold.",
              "additionalProperties": {
                "type": "object", "additionalProperties": false, "required": ["type", "about"],
                "properties": {
                  "type": { "enum": ["text", "boolean", "integer", "choice", "algorithm", "texts", "json"] },
                  "of": { "$ref": "#/$defs/texts" },
                  "required": { "type": "boolean" },
                  "default": {},
                  "starts_with": { "type": "string" },
                  "about": { "type": "string" }
                }
              }
            },
            "vouched": {
              "type": "object", "description": "Values that the edge may vouch for beside the user; no report can set them.",
              "additionalProperties": {
                "type": "object", "additionalProperties": false, "required": ["about"],
                "properties": {
                  "type": { "enum": ["text", "integer", "boolean", "object", "texts", "list"] },
                  "at_most": { "type": "integer", "minimum": 1, "maximum": 8192, "description": "Bytes of JSON." },
                  "about": { "type": "string" }
                }
              }
            },
            "report": {
              "type": "object", "additionalProperties": false, "required": ["user"],
              "properties": {
                "user": { "$ref": "#/$defs/paths" }, "nobody": { "$ref": "#/$defs/texts" },
                "code": { "$ref": "#/$defs/paths" }, "code_type": { "enum": ["number", "text", "any"] },
                "message": { "$ref": "#/$defs/paths" }, "token": { "$ref": "#/$defs/paths" },
                "no_token": { "$ref": "#/$defs/texts" }, "token_hash": { "$ref": "#/$defs/paths" },
                "passed": { "$ref": "#/$defs/paths" }, "challenge": { "$ref": "#/$defs/paths" },
                "time": { "$ref": "#/$defs/time" }, "deadline": { "$ref": "#/$defs/time" },
                "useful_for": { "$ref": "#/$defs/duration" },
                "wrapped": {
                  "type": "object", "additionalProperties": false,
                  "properties": {
                    "in": { "$ref": "#/$defs/texts" },
                    "depth": { "type": "integer", "minimum": 1, "maximum": 4 },
                    "text": { "type": "boolean" }
                  }
                },
                "members": { "$ref": "#/$defs/texts", "description": "Every member some SDK sends or the app adds." },
                "another_vendors": {
                  "type": "array",
                  "items": { "type": "array", "items": { "enum": ["no_code", "no_known_code", "no_user", "other_members"] } }
                },
                "belongs": {},
                "user_limit": { "type": "string", "pattern": "^[0-9]+ (bytes|characters)$" },
                "user_characters": { "type": "string", "pattern": "^\\\\[.+\\\\]$", "description": "The characters of ids, such as [A-Za-z0-9_-], or [^*] for all but those." },
                "user_never": { "$ref": "#/$defs/texts", "description": "Ids that the vendor means something else by." },
                "anonymous": { "type": "string" },
                "shapes": {
                  "type": "array",
                  "items": {
                    "type": "object", "additionalProperties": false, "required": ["sdk", "when"],
                    "properties": {
                      "sdk": { "type": "string" }, "when": {},
                      "user": { "$ref": "#/$defs/paths" }, "nobody": { "$ref": "#/$defs/texts" },
                      "code": { "$ref": "#/$defs/paths" }, "code_type": { "enum": ["number", "text", "any"] },
                      "message": { "$ref": "#/$defs/paths" }, "token": { "$ref": "#/$defs/paths" },
                      "no_token": { "$ref": "#/$defs/texts" }, "token_hash": { "$ref": "#/$defs/paths" },
                      "passed": { "$ref": "#/$defs/paths" }, "challenge": { "$ref": "#/$defs/paths" },
                      "time": { "$ref": "#/$defs/time" }, "deadline": { "$ref": "#/$defs/time" },
                      "useful_for": { "$ref": "#/$defs/duration" }
                    }
                  }
                }
              }
            },
            "ignore_case": { "type": "boolean", "description": "Whether codes' names are compared without regard to case." },
            "codes": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/code" } },
            "unknown_code": { "$ref": "#/$defs/code" },
            "no_code": { "$ref": "#/$defs/code" },
            "token": {
              "type": "object", "additionalProperties": false, "required": ["algorithm", "claims", "lifetime"],
              "properties": {
                "algorithm": { "type": "string" },
                "header": { "type": "object" },
                "claims": { "type": "object", "description": "The payload as it is in a token, placeholders in double braces." },
                "lifetime": {
                  "type": "object", "additionalProperties": false, "required": ["standard", "from", "to"],
                  "properties": {
                    "standard": { "$ref": "#/$defs/duration" }, "from": { "$ref": "#/$defs/duration" },
                    "to": { "$ref": "#/$defs/duration" }
                  }
                }
              }
            },
            "key": {
              "type": "object", "additionalProperties": false, "required": ["made_by", "older_tokens", "before_promotion"],
              "properties": {
                "encoding": { "enum": ["utf8", "hex", "base64", "base64url"] },
                "derived": {
                  "type": "object", "additionalProperties": false, "required": ["hmac"],
                  "properties": { "hmac": { "const": "{{date}}" } }
                },
                "made_by": { "enum": ["ours", "vendor", "shared"] },
                "older_tokens": { "enum": ["stay_good", "are_refused"] },
                "before_promotion": { "$ref": "#/$defs/texts" }, "after_promotion": { "$ref": "#/$defs/texts" },
                "after_retirement": { "$ref": "#/$defs/texts" }
              }
            },
            "device": {
              "type": "object", "additionalProperties": false, "required": ["call"],
              "properties": { "call": { "type": "string" }, "wants_identifier": { "type": "boolean" } }
            },
            "loop": {
              "type": "object", "additionalProperties": false,
              "properties": {
                "tokens": { "type": "integer", "minimum": 1, "maximum": 10 },
                "counts_every_report": { "type": "boolean" }
              }
            },
            "vendor_says": {
              "type": "object", "additionalProperties": false, "required": ["otherwise"],
              "properties": {
                "first": {
                  "type": "array",
                  "items": {
                    "type": "object", "additionalProperties": false, "required": ["if", "says"],
                    "properties": {
                      "if": {
                        "enum": [
                          "empty", "blank", "parts", "header", "header_lacks", "algorithm", "payload", "signature",
                          "claims_lack", "expiry_type", "claims", "expired", "user"
                        ]
                      },
                      "members": { "$ref": "#/$defs/texts" },
                      "says": { "$ref": "#/$defs/answer" }
                    }
                  }
                },
                "otherwise": { "$ref": "#/$defs/answer" },
                "unchecked": { "$ref": "#/$defs/texts" }, "optional": { "$ref": "#/$defs/texts" }
              }
            },
            "tests": {
              "type": "object", "additionalProperties": false, "required": ["apps", "tokens"],
              "properties": {
                "now": {}, "key": { "$ref": "#/$defs/key" },
                "apps": {
                  "type": "object",
                  "additionalProperties": {
                    "type": "object", "additionalProperties": false,
                    "properties": { "settings": { "type": "object" }, "reissue": {} }
                  }
                },
                "reports": {
                  "type": "array",
                  "items": {
                    "type": "object", "additionalProperties": false, "required": ["sdk", "app", "reported", "expect"],
                    "properties": {
                      "name": { "type": "string" }, "sdk": { "type": "string" }, "app": { "type": "string" },
                      "reported": {}, "report": {}, "report_text": { "type": "string" }, "origin": { "type": "string" },
                      "expect": {
                        "type": "object", "additionalProperties": false,
                        "properties": {
                          "rejected": { "type": "string" },
                          "remedy": { "enum": ["mint", "mint_once", "not_fixable", "not_for_us"] },
                          "reason": { "type": "string" }, "user": { "type": "string" },
                          "challenge": { "type": "string" }, "failed_token": { "type": "boolean" }
                        }
                      }
                    }
                  }
                },
                "tokens": {
                  "type": "array",
                  "items": {
                    "type": "object", "additionalProperties": false, "required": ["app", "user"],
                    "properties": {
                      "app": { "type": "string" }, "user": { "type": "string" }, "challenge": { "type": "string" },
                      "vouched": { "type": "object" }, "at": {}, "lives": { "$ref": "#/$defs/duration" },
                      "uuid": { "type": "string" }, "key": { "$ref": "#/$defs/key" },
                      "header": { "type": "object" }, "payload": { "type": "object" }, "token": { "type": "string" }
                    }
                  }
                },
                "verdicts": { "type": "object", "additionalProperties": { "type": "string" } },
                "refused": {
                  "type": "array",
                  "items": {
                    "type": "object", "additionalProperties": false, "required": ["settings"],
                    "properties": { "settings": { "type": "object" }, "because": { "type": "string" } }
                  }
                }
              }
            }
          },
          "$defs": {
            "texts": { "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] },
            "paths": {
              "description": "Members of a report, with dots between the names of nested ones; the first that holds a value counts.",
              "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] } }
              ]
            },
            "duration": { "type": "string", "pattern": "^[0-9]+(ms|s|m|h|d)$" },
            "answer": { "type": "string", "pattern": "^[^ ]+ .+$", "description": "The vendor's code, a space, its name." },
            "time": {
              "type": "object", "additionalProperties": false, "required": ["at", "unit"],
              "properties": { "at": { "$ref": "#/$defs/paths" }, "unit": { "enum": ["seconds", "milliseconds", "rfc3339"] } }
            },
            "key": {
              "type": "object", "additionalProperties": false,
              "properties": {
                "id": { "type": "string" }, "secret": { "type": "string" },
                "encoding": { "enum": ["utf8", "hex", "base64", "base64url"] }, "pem": { "type": "string" }
              }
            },
            "remedy": {
              "anyOf": [
                { "enum": ["mint", "mint_once"] },
                { "type": "object", "additionalProperties": false, "properties": { "not_fixable": { "type": "string" } }, "required": ["not_fixable"] },
                { "type": "object", "additionalProperties": false, "properties": { "not_for_us": { "type": "string" } }, "required": ["not_for_us"] }
              ]
            },
            "code": {
              "type": "object", "additionalProperties": false, "required": ["name", "evidence", "remedy"],
              "properties": {
                "name": { "type": "string" }, "about": { "type": "string" }, "match": {},
                "evidence": {
                  "enum": ["key", "expired", "revoked", "none"],
                  "description": "What the code proves of the token that failed: key (bad signature, unknown key, malformed), expired, revoked by the vendor, or none."
                },
                "remedy": { "$ref": "#/$defs/remedy" },
                "signed_by": {
                  "type": "object", "additionalProperties": false, "required": ["active", "older"],
                  "properties": { "active": { "$ref": "#/$defs/remedy" }, "older": { "$ref": "#/$defs/remedy" } }
                },
                "if_token_names_user": { "$ref": "#/$defs/remedy" },
                "had_no_token": { "type": "boolean" }, "ahead": { "type": "boolean" }
              }
            }
          }
        }
        """
}
