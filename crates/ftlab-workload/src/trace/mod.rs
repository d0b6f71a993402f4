//! Trace files: reading every format of the field, inspecting, converting.
