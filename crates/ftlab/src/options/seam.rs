//! What is known of a seam and its policies: rows for lists, for the reference, and for reading a choice.

/// A policy as a row of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyInfo {
    /// Its name.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

/// A seam: an option whose value names a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeamInfo {
    /// The path of the option that names the policy.
    pub path: &'static str,
    /// What the policies of the seam decide.
    pub doc: &'static str,
    /// The policy in force when nothing is set.
    pub default: &'static str,
    /// All policies, in the order of their registry.
    pub policies: &'static [PolicyInfo],
}
