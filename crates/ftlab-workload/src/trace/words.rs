//! Numbers of things in words.

/// So many of them: `1 line is`, `2 lines are`.
pub(in crate::trace) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
