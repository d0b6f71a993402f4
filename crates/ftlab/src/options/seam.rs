//! The metadata of seams and policies, for lists, for the reference, and for reading a choice.

/// The metadata of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyInfo {
    /// Its name.
    pub name: &'static str,
    /// A summary of one line.
    pub summary: &'static str,
    /// Its source.
    pub source: &'static str,
}

/// A seam: an option whose value names a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeamInfo {
    /// The path of the option that names the policy.
    pub path: &'static str,
    /// What the policies of the seam decide.
    pub doc: &'static str,
    /// The default policy.
    pub default: &'static str,
    /// All policies, in the order of their registry.
    pub policies: &'static [PolicyInfo],
}
