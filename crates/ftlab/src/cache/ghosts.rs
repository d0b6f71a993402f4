//! The numbers of pages that recently left the buffer, in FIFO order.

use super::lookup::Lookup;
use super::queues::Queues;
use crate::engine::{Handle, Slab};
use crate::image::{Damage, ImageReader, ImageWriter};
use crate::units::Lpn;

/// The only list.
const ALL: usize = 0;

/// Numbers of pages in the order in which they left. Every operation takes constant time.
#[derive(Clone, Debug)]
pub struct Ghosts {
    pages: Slab<Lpn>,
    order: Queues<Lpn>,
    index: Lookup<Lpn>,
    /// Logical pages that the host sees. An image with other numbers is damaged.
    logical_pages: u32,
}

impl Ghosts {
    pub fn new(logical_pages: u32) -> Ghosts {
        Ghosts {
            pages: Slab::default(),
            order: Queues::new(1),
            index: Lookup::default(),
            logical_pages,
        }
    }

    /// Remembers a page. If there are more than `most`, forgets those that left first.
    pub fn remember(&mut self, page: Lpn, most: u64) {
        self.forget(page);
        let entry = self.pages.insert(page);
        self.index.insert(page, entry);
        self.order.push_newest(ALL, entry);
        while u64::from(self.order.len(ALL)) > most
            && let Some(oldest) = self.order.oldest(ALL)
        {
            let oldest = self.pages[oldest];
            self.forget(oldest);
        }
    }

    /// Forgets a page. Returns whether it was remembered.
    pub fn forget(&mut self, page: Lpn) -> bool {
        let Some(entry) = self.index.remove(page) else { return false };
        self.order.remove(entry);
        self.pages.release(entry);
        true
    }

    pub fn save(&self, out: &mut ImageWriter) {
        let Ghosts { pages, order, index, logical_pages: _ } = self;
        let next = |&entry: &Handle<Lpn>| order.after(entry);
        let entries: Vec<_> = std::iter::successors(order.oldest(ALL), next).collect();
        debug_assert_eq!(entries.len(), index.len(), "every remembered page is found");
        out.list(entries.iter().map(|&entry| pages[entry].get()));
    }

    pub fn load(&mut self, from: &mut ImageReader<'_>) -> Result<(), Damage> {
        let pages = from.list(self.logical_pages, "a page that left the buffer")?;
        let most = pages.len() as u64;
        for page in pages {
            self.remember(Lpn::new(page), most);
        }
        Ok(())
    }
}
