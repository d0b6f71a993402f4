//! Names of disks or files in a trace, numbered in the order in which they come.

use std::collections::HashMap;

use crate::trace::character::MOST_STREAMS;

/// Names, numbered from zero.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    numbers: HashMap<Vec<u8>, u32>,
    order: Vec<String>,
}

/// How many names a remark lists.
const LISTED: usize = 6;

impl Names {
    /// The number of a name.
    pub fn number(&mut self, name: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.order.len() as u32;
        self.numbers.insert(name.to_vec(), number);
        self.order.push(String::from_utf8_lossy(name).into_owned());
        number
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Says which number which name has.
    pub fn remark(&self, what: &str) -> String {
        let listed = self.order.iter().take(LISTED).enumerate();
        let listed: Vec<_> = listed.map(|(number, name)| format!("{number} {name}")).collect();
        let more = match self.order.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => {
                format!(" and {more} more; all are in stream_names of ftlab trace inspect --json")
            }
        };
        format!("the streams are the {what}: {}{more}", listed.join(", "))
    }

    /// The names by number, as many as streams are told apart.
    pub fn told_apart(&self) -> Vec<String> {
        self.order.iter().take(MOST_STREAMS).cloned().collect()
    }
}
