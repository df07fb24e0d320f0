// Inputs and outputs are records, so importing this module also imports their layout.
@_exported public import Records
