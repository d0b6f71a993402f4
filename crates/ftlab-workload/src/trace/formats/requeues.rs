//! Requests that the driver gives back (requeues): each is issued again, and counts once, when it was issued first.
//!
//! A requeue need not follow an issue: the block layer also tells one of a request that the driver refused before it began, and a
//! recording may begin between the two. So it counts only if its request is among the last [`REMEMBERED`] issues, and as long as so
//! many issues, or until the request ends. A request that was never begun and has the device, sectors and size of an earlier one among
//! those is taken for that one.

use std::collections::VecDeque;

/// How many issues are remembered, which is more than most disks have in their queues.
const REMEMBERED: usize = 1024;

/// A request as its events name it: device, sector and sectors.
pub(super) type RequestKey = (u32, u64, u32);

/// The last issues of a file, and which of them were given back.
#[derive(Debug, Default)]
pub(super) struct Requeues {
    /// The last issues that were not given back, the oldest first.
    issued: VecDeque<RequestKey>,
    /// Those that were given back and not issued again yet, and after how many issues.
    given_back: VecDeque<(RequestKey, u64)>,
    issues: u64,
    /// Issues of such requests.
    again: u64,
    /// Requests that were given back without an issue that is remembered.
    unissued: u64,
}

impl Requeues {
    /// Notes an issue. Returns whether it is that of a new request.
    #[inline]
    pub fn issue(&mut self, key: RequestKey) -> bool {
        if self.issued.len() == REMEMBERED {
            self.issued.pop_front();
        }
        self.issued.push_back(key);
        self.issues += 1;
        self.given_back.is_empty() || !self.is_again(key)
    }

    /// Whether a request was given back before.
    #[cold]
    fn is_again(&mut self, key: RequestKey) -> bool {
        let is_old = |since: u64| self.issues - since > REMEMBERED as u64;
        while self.given_back.front().is_some_and(|(_, since)| is_old(*since)) {
            self.given_back.pop_front();
        }
        let is_again = self.forget(key);
        self.again += u64::from(is_again);
        is_again
    }

    /// Notes that a request was given back, if it had been issued.
    pub fn give_back(&mut self, key: RequestKey) {
        if let Some(at) = self.issued.iter().rposition(|known| *known == key) {
            self.issued.remove(at);
            self.given_back.push_back((key, self.issues));
        } else {
            self.unissued += 1;
        }
    }

    /// Notes that a request ended: it will not be issued again.
    pub fn end(&mut self, key: RequestKey) {
        self.forget(key);
    }

    /// Removes a request from those that were given back. Returns whether it was among them.
    fn forget(&mut self, key: RequestKey) -> bool {
        let found = self.given_back.iter().position(|(known, _)| *known == key);
        found.and_then(|at| self.given_back.remove(at)).is_some()
    }

    /// Whether requests were given back and not issued again yet.
    pub fn are_awaited(&self) -> bool {
        !self.given_back.is_empty()
    }

    /// How many requests were given back without an issue that is remembered.
    pub fn unissued(&self) -> u64 {
        self.unissued
    }

    /// How many issues were of requests that had been given back.
    pub fn again(&self) -> u64 {
        self.again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: RequestKey = (8 << 20, 80, 8);

    /// Issues of other requests.
    fn pass(requeues: &mut Requeues, count: usize) {
        for at in 0..count {
            assert!(requeues.issue((1, at as u64, 8)));
        }
    }

    #[test]
    fn a_requeue_counts_for_an_issue_before_it_and_for_a_while() {
        let mut requeues = Requeues::default();
        requeues.give_back(KEY);
        assert!(requeues.issue(KEY), "nothing was issued before");
        requeues.give_back(KEY);
        assert!(!requeues.issue(KEY));
        requeues.give_back(KEY);
        pass(&mut requeues, REMEMBERED - 1);
        assert!(!requeues.issue(KEY), "just in time");
        requeues.give_back(KEY);
        pass(&mut requeues, REMEMBERED);
        assert!(requeues.issue(KEY), "too late");
        pass(&mut requeues, REMEMBERED);
        requeues.give_back(KEY);
        assert!(requeues.issue(KEY), "its issue is forgotten");
        requeues.give_back(KEY);
        requeues.end(KEY);
        assert!(requeues.issue(KEY), "it ended");
        assert_eq!((requeues.again(), requeues.unissued()), (2, 2));
    }

    #[test]
    fn memory_is_bounded() {
        let mut requeues = Requeues::default();
        for at in 0..10 * REMEMBERED as u64 {
            requeues.issue((1, at, 8));
            requeues.give_back((1, at, 8));
            requeues.give_back((1, at, 8));
        }
        assert!(requeues.issued.len() <= REMEMBERED);
        assert!(requeues.given_back.len() <= REMEMBERED + 1);
    }
}
