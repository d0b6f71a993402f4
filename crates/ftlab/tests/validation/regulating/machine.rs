//! A naive machine whose programs have a cost: pages in a map, accesses in a list, one queue a die. It
//! has the rules of the regulators, but no buses, blocks or tables.

use std::collections::{BTreeMap, VecDeque};

use ftlab::host::Op;

/// The cost of a program; the cost of its reads is the opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Low,
    Medium,
    High,
}

impl Class {
    pub const ALL: [Class; 3] = [Class::Low, Class::Medium, Class::High];
}

/// The regulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Traditional,
    HighWrite,
    LowWrite,
    /// Low if a command waits when the program begins: at its die, or at any. Simultaneous arrivals wait.
    QueueDriven {
        anywhere: bool,
    },
    /// By history: whether an access of the other kind only makes a page interleaved; whether pages are rewritten
    /// for their readers.
    Agcr {
        hysteresis: bool,
        rewrite: bool,
    },
}

/// The class of a page's history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Used {
    #[default]
    Unknown,
    Reads,
    Writes,
    Both,
}

impl Used {
    /// After one more access.
    pub fn then(self, now: Used, hysteresis: bool) -> Used {
        let other = self != Used::Unknown && self != Used::Both && self != now;
        if hysteresis && other { Used::Both } else { now }
    }

    /// The cost at which AGCR writes such a page for the host.
    pub fn cost_of_write(self) -> Class {
        match self {
            Used::Unknown => Class::High,
            Used::Writes => Class::Low,
            Used::Reads | Used::Both => Class::Medium,
        }
    }

    /// The cost at which it copies such a page from a copy of this class.
    pub fn cost_of_copy(self, as_was: Class) -> Class {
        match self {
            Used::Unknown => as_was,
            Used::Writes => Class::Low,
            Used::Both => Class::Medium,
            Used::Reads => Class::High,
        }
    }
}

/// An access to one page at some time.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    pub at: u64,
    pub op: Op,
    pub page: u64,
}

/// The description of a machine.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub rule: Rule,
    pub dies: u64,
    /// By the class of the copy, in nanoseconds.
    pub read: [u64; 3],
    pub program: [u64; 3],
    /// Pages to rewrite that a die remembers.
    pub remembers: usize,
}

/// What it did, some of it by class of the copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub reads: [u64; 3],
    pub reads_of_prior: u64,
    pub writes: [u64; 3],
    pub requested: u64,
    pub done: u64,
    pub rewrite_reads: u64,
    pub rewrite_programs: u64,
}

/// A page's copy on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lies {
    class: Class,
    /// Unique for each program.
    number: u64,
    prior: bool,
}

#[derive(Clone, Debug, Default)]
struct Page {
    lies: Option<Lies>,
    used: Used,
    /// Writes that are not on flash yet; the one being programmed comes first.
    writing: VecDeque<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rewrite {
    page: u64,
    copy: u64,
}

#[derive(Clone, Copy, Debug)]
enum Work {
    Read {
        request: usize,
        class: Class,
    },
    /// Without a class, it is decided when the program begins.
    Program {
        page: u64,
        class: Option<Class>,
    },
    Sense(Rewrite),
    Renew(Rewrite),
}

#[derive(Clone, Debug, Default)]
struct Die {
    waiting: VecDeque<Work>,
    /// Its work, the end of that, and the number of its beginning.
    busy: Option<(u64, u64, Work)>,
    remembered: VecDeque<u64>,
    sensed: Option<Rewrite>,
}

/// The running machine.
#[derive(Clone, Debug)]
pub struct Machine {
    plan: Plan,
    pages: BTreeMap<u64, Page>,
    dies: Vec<Die>,
    /// Dies at which commands arrived at this instant; all simultaneous arrivals count.
    looks: VecDeque<usize>,
    now: u64,
    begun: u64,
    programmed: u64,
    /// By request: when it arrived, and when it completed.
    served: Vec<(u64, Option<u64>)>,
    pub counts: Counts,
}

impl Machine {
    pub fn new(plan: Plan) -> Machine {
        Machine {
            plan,
            pages: BTreeMap::new(),
            dies: vec![Die::default(); plan.dies as usize],
            looks: VecDeque::new(),
            now: 0,
            begun: 0,
            programmed: 0,
            served: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Marks all data as prepared, written at this cost and without history; without a cost, it stays as it
    /// was written.
    pub fn prepared(&mut self, prior: Option<Class>) {
        let Some(class) = prior else { return };
        for page in self.pages.values_mut() {
            page.used = Used::Unknown;
            if let Some(lies) = &mut page.lies {
                (lies.class, lies.prior) = (class, true);
            }
        }
    }

    /// Plays the items until idle. Returns the latency of each.
    pub fn play(&mut self, items: &[Item]) -> Vec<u64> {
        let first = self.served.len();
        for item in items {
            self.run(item.at);
            self.now = item.at;
            self.submit(item);
        }
        self.run(u64::MAX);
        let latency = |&(came, done): &(u64, Option<u64>)| done.expect("it came to rest") - came;
        self.served[first..].iter().map(latency).collect()
    }

    pub fn now(&self) -> u64 {
        self.now
    }

    pub fn class_of(&self, page: u64) -> Option<Class> {
        Some(self.pages.get(&page)?.lies?.class)
    }

    fn die_of(&self, page: u64) -> usize {
        (page % self.plan.dies) as usize
    }

    /// Runs everything that ends before `limit`, or that a waiting die begins before it.
    fn run(&mut self, limit: u64) {
        while self.now < limit {
            let ends = self.dies.iter().enumerate().filter_map(|(die, state)| {
                let (until, number, _) = state.busy?;
                Some((until, number, die))
            });
            let next = ends.min().filter(|&(until, ..)| until < limit);
            match next {
                Some((until, _, die)) if until == self.now => self.end(die),
                _ if !self.looks.is_empty() => self.look(),
                // Nothing more arrives or ends at this instant.
                _ if self.begin_idle_work() => {}
                Some((until, _, die)) => {
                    self.now = until;
                    self.end(die);
                }
                None => return,
            }
        }
    }

    fn look(&mut self) {
        while let Some(die) = self.looks.pop_front() {
            self.start(die);
        }
    }

    fn submit(&mut self, item: &Item) {
        let request = self.served.len();
        self.served.push((self.now, None));
        let page = self.pages.entry(item.page).or_default();
        match item.op {
            Op::Read => match page.lies.filter(|_| page.writing.is_empty()) {
                Some(lies) => self.read(request, item.page, lies),
                // The data is still in memory, or there is none.
                None => self.served[request].1 = Some(self.now),
            },
            Op::Write => {
                page.writing.push_back(request);
                if page.writing.len() == 1 {
                    self.put_together(item.page);
                }
            }
            Op::Trim => {
                assert!(page.writing.is_empty(), "not played while a write is under way");
                *page = Page::default();
                self.served[request].1 = Some(self.now);
            }
            _ => unreachable!("not played"),
        }
    }

    fn read(&mut self, request: usize, page: u64, lies: Lies) {
        self.counts.reads[lies.class as usize] += 1;
        self.counts.reads_of_prior += u64::from(lies.prior);
        let again = self.uses(page, Used::Reads) == Used::Reads;
        let die = self.die_of(page);
        if self.plan.rule.rewrites() && again && lies.class == Class::Low {
            self.ask(die, page);
        }
        self.enqueue(die, Work::Read { request, class: lies.class });
    }

    fn ask(&mut self, die: usize, page: u64) {
        self.counts.requested += 1;
        let remembered = &mut self.dies[die].remembered;
        if !remembered.contains(&page) && remembered.len() < self.plan.remembers {
            remembered.push_back(page);
        }
    }

    /// Notes a read or write of a page. Returns its history before.
    fn uses(&mut self, page: u64, now: Used) -> Used {
        let Rule::Agcr { hysteresis, .. } = self.plan.rule else { return Used::Unknown };
        let used = &mut self.pages.entry(page).or_default().used;
        std::mem::replace(used, used.then(now, hysteresis))
    }

    fn put_together(&mut self, page: u64) {
        let class = match (self.plan.rule, self.uses(page, Used::Writes)) {
            (Rule::Traditional, _) => Some(Class::Medium),
            (Rule::HighWrite, _) => Some(Class::High),
            (Rule::LowWrite, _) => Some(Class::Low),
            (Rule::QueueDriven { .. }, _) => None,
            (Rule::Agcr { .. }, used) => Some(used.cost_of_write()),
        };
        self.enqueue(self.die_of(page), Work::Program { page, class });
    }

    fn enqueue(&mut self, die: usize, work: Work) {
        self.dies[die].waiting.push_back(work);
        match self.plan.rule {
            Rule::QueueDriven { .. } => self.looks.push_back(die),
            _ => self.start(die),
        }
    }

    fn start(&mut self, die: usize) {
        if self.dies[die].busy.is_none()
            && let Some(work) = self.dies[die].waiting.pop_front()
        {
            self.begin(die, work);
        }
    }

    fn begin(&mut self, die: usize, work: Work) {
        let work = match work {
            Work::Program { page, class: None } => {
                Work::Program { page, class: Some(self.by_crowd(die)) }
            }
            decided => decided,
        };
        let span = match work {
            Work::Read { class, .. } => self.plan.read[class as usize],
            Work::Program { class, .. } => self.plan.program[class.expect("decided") as usize],
            Work::Sense(_) => self.plan.read[Class::Low as usize],
            Work::Renew(_) => self.plan.program[Class::High as usize],
        };
        self.begun += 1;
        self.dies[die].busy = Some((self.now + span, self.begun, work));
    }

    fn by_crowd(&self, die: usize) -> Class {
        let waits = |die: &Die| !die.waiting.is_empty();
        let crowded = match self.plan.rule {
            Rule::QueueDriven { anywhere: true } => self.dies.iter().any(waits),
            _ => waits(&self.dies[die]),
        };
        if crowded { Class::Low } else { Class::High }
    }

    /// Completes the work of a die.
    fn end(&mut self, die: usize) {
        let (_, _, work) = self.dies[die].busy.take().expect("it ends");
        match work {
            Work::Read { request, .. } => self.served[request].1 = Some(self.now),
            Work::Program { page, class } => self.written(page, class.expect("decided")),
            Work::Sense(rewrite) => {
                self.counts.rewrite_reads += 1;
                self.dies[die].sensed = Some(rewrite);
            }
            Work::Renew(Rewrite { page, copy }) => {
                self.counts.rewrite_programs += 1;
                self.counts.done += 1;
                let number = self.next_number();
                let lies = &mut self.pages.entry(page).or_default().lies;
                if let Some(lies) = lies.as_mut().filter(|lies| lies.number == copy) {
                    *lies = Lies { class: Class::High, number, prior: false };
                }
            }
        }
        self.start(die);
    }

    fn next_number(&mut self) -> u64 {
        self.programmed += 1;
        self.programmed
    }

    fn written(&mut self, at: u64, class: Class) {
        let number = self.next_number();
        self.counts.writes[class as usize] += 1;
        let page = self.pages.entry(at).or_default();
        page.lies = Some(Lies { class, number, prior: false });
        let request = page.writing.pop_front().expect("it was being written");
        self.served[request].1 = Some(self.now);
        if !page.writing.is_empty() {
            self.put_together(at);
        }
    }

    /// Idle dies rewrite pages. Returns whether one has begun.
    fn begin_idle_work(&mut self) -> bool {
        let idle = |die: &Die| die.busy.is_none() && die.waiting.is_empty();
        let mut any = false;
        for die in (0..self.dies.len()).filter(|&die| idle(&self.dies[die])).collect::<Vec<_>>() {
            if let Some(work) = self.next_rewrite(die) {
                self.begin(die, work);
                any = true;
            }
        }
        any
    }

    /// What was sensed is programmed, if it is still there; otherwise the first page still to be rewritten is
    /// sensed.
    fn next_rewrite(&mut self, die: usize) -> Option<Work> {
        if let Some(rewrite) = self.dies[die].sensed.take()
            && self.only_read(rewrite.page).is_some_and(|lies| lies.number == rewrite.copy)
        {
            return Some(Work::Renew(rewrite));
        }
        while let Some(page) = self.dies[die].remembered.pop_front() {
            if let Some(Lies { class: Class::Low, number: copy, .. }) = self.only_read(page) {
                return Some(Work::Sense(Rewrite { page, copy }));
            }
        }
        None
    }

    /// Where a page lies that by now is only read, and that nobody writes.
    fn only_read(&self, page: u64) -> Option<Lies> {
        let page = &self.pages[&page];
        page.lies.filter(|_| page.used == Used::Reads && page.writing.is_empty())
    }
}

impl Rule {
    pub fn rewrites(self) -> bool {
        matches!(self, Rule::Agcr { rewrite: true, .. })
    }
}
