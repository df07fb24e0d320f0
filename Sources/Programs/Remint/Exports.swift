// Nearly every command prints with this module, so one line imports it for all files.
@_exported public import CommandKit
