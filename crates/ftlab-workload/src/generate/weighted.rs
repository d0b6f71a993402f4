//! Draws an index in proportion to weights, in constant time and with integers only: the alias
//! method (A. J. Walker, 1977; construction by M. D. Vose, 1991).

use ftlab::engine::Stream;

/// The table for a set of weights.
#[derive(Clone, Debug)]
pub(super) struct Weighted {
    cells: Vec<Cell>,
    /// The sum of the weights. A cell returns its own index with probability `keep / sum`.
    sum: u64,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    keep: u64,
    alias: u32,
}

impl Weighted {
    /// Creates the table for `weights`. At least one must not be zero, and their sum must be below
    /// 2^63.
    pub fn new(weights: &[u64]) -> Weighted {
        let sum: u64 = weights.iter().sum();
        let mut cells = vec![Cell { keep: sum, alias: 0 }; weights.len()];
        let count = weights.len() as u128;
        let mut rest: Vec<u128> = weights.iter().map(|&w| u128::from(w) * count).collect();
        let share = u128::from(sum);
        let (mut small, mut large): (Vec<u32>, Vec<u32>) =
            (0..index32(weights.len())).partition(|&index| rest[index as usize] < share);
        while let (Some(&poor), Some(&rich)) = (small.last(), large.last()) {
            small.pop();
            let keep = rest[poor as usize];
            cells[poor as usize] =
                Cell { keep: u64::try_from(keep).expect("less than the sum"), alias: rich };
            rest[rich as usize] -= share - keep;
            if rest[rich as usize] < share {
                large.pop();
                small.push(rich);
            }
        }
        Weighted { cells, sum }
    }

    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> usize {
        let index = stream.below(self.cells.len() as u64);
        let index = usize::try_from(index).expect("below a length");
        let cell = self.cells[index];
        if stream.below(self.sum) < cell.keep { index } else { cell.alias as usize }
    }
}

fn index32(len: usize) -> u32 {
    u32::try_from(len).expect("lists of weights are far shorter")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the probability of each index exactly from the table, without draws.
    #[test]
    fn the_table_holds_the_weights_exactly() {
        for weights in [vec![1], vec![0, 5, 0], vec![3, 1], vec![7, 1, 1, 1, 90, 0, 13]] {
            let table = Weighted::new(&weights);
            let mut mass = vec![0u64; weights.len()];
            for (index, cell) in table.cells.iter().enumerate() {
                mass[index] += cell.keep;
                mass[cell.alias as usize] += table.sum - cell.keep;
            }
            let expected: Vec<u64> =
                weights.iter().map(|weight| weight * weights.len() as u64).collect();
            assert_eq!(mass, expected);
        }
    }
}
