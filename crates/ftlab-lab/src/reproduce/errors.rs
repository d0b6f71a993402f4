//! How far a model is from what was measured: the errors of the numbers that it was fitted to, and of those that it
//! predicts, apart.

use ftlab::options::value::Value;
use serde::{Serialize, Serializer};

use super::document::{ClaimDocument, RowDocument};
use super::keys::Role;
use super::numbers::Printed;

/// A factor beyond which a number counts as missed.
const FAR: f64 = 2.0;

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.print())
    }
}

/// The errors of all numbers with one role.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ErrorsDocument {
    /// `fitted` or `predicted`.
    pub role: Role,
    /// How many numbers there are.
    pub numbers: usize,
    /// The median of the relative errors, without sign.
    pub median_ratio: f64,
    /// How many are too large or too small by more than a factor of two.
    pub beyond_factor_2: usize,
    /// The largest factor between a number and ours, in either direction.
    pub largest_factor: f64,
}

/// Returns the errors for each role that claims have. Limits have no error, and neither have numbers that were not run.
pub fn of(claims: &[ClaimDocument]) -> Vec<ErrorsDocument> {
    [Role::Fitted, Role::Predicted].into_iter().filter_map(|role| with(role, claims)).collect()
}

fn with(role: Role, claims: &[ClaimDocument]) -> Option<ErrorsDocument> {
    let rows = claims.iter().filter(|claim| claim.role == Some(role)).flat_map(|claim| &claim.rows);
    let mut factors: Vec<f64> = rows.filter_map(factor).collect();
    let largest_factor = factors.iter().map(|ratio| ratio.max(ratio.recip())).reduce(f64::max)?;
    let beyond_factor_2 =
        factors.iter().filter(|&&ratio| ratio > FAR || ratio < FAR.recip()).count();
    factors.iter_mut().for_each(|ratio| *ratio = (*ratio - 1.0).abs());
    factors.sort_unstable_by(f64::total_cmp);
    let (low, high) = (factors[(factors.len() - 1) / 2], factors[factors.len() / 2]);
    let median_ratio = low.midpoint(high);
    Some(ErrorsDocument {
        role,
        numbers: factors.len(),
        median_ratio,
        beyond_factor_2,
        largest_factor,
    })
}

/// Our number over that of the claim.
fn factor(row: &RowDocument) -> Option<f64> {
    let Printed::Number(given) = row.paper else { return None };
    Some(row.ours? / given).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::document::NumberVerdict;

    fn claim(role: Option<Role>, numbers: &[(f64, Option<f64>)]) -> ClaimDocument {
        let row = |&(paper, ours): &(f64, Option<f64>)| RowDocument {
            label: String::new(),
            at: Default::default(),
            paper: Printed::Number(paper),
            tolerance: None,
            expected: None,
            expected_tolerance: None,
            ours,
            low: None,
            high: None,
            verdict: NumberVerdict::Reproduced,
        };
        ClaimDocument {
            id: String::new(),
            text: String::new(),
            place: String::new(),
            origin: None,
            role,
            unit: String::new(),
            differs_because: None,
            rows: numbers.iter().map(row).collect(),
        }
    }

    #[test]
    fn errors_are_told_apart_by_role() {
        let claims = [
            claim(Some(Role::Fitted), &[(10.0, Some(11.0))]),
            claim(Some(Role::Predicted), &[(10.0, Some(4.0)), (10.0, Some(12.0)), (10.0, None)]),
            claim(Some(Role::Predicted), &[(10.0, Some(9.0))]),
            claim(None, &[(10.0, Some(1_000.0))]),
        ];
        let [fitted, predicted] = of(&claims).try_into().expect("two roles");
        assert_eq!((fitted.role, fitted.numbers, fitted.beyond_factor_2), (Role::Fitted, 1, 0));
        assert!((fitted.median_ratio - 0.1).abs() < 1e-12);
        assert_eq!((predicted.numbers, predicted.beyond_factor_2), (3, 1));
        assert!((predicted.median_ratio - 0.2).abs() < 1e-12);
        assert!((predicted.largest_factor - 2.5).abs() < 1e-12);
        assert_eq!(of(&claims[3..]), []);
    }
}
