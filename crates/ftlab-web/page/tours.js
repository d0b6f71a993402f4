// Guided tours: a few runs, each with what to look at, and a conclusion from what was measured just now.
'use strict';
// An act has a plan, or goes on with the run; and where single operations matter a pace (a place of the slider), for some
// seconds. It waits for a stop or the end; `see` takes the figures that the conclusion needs. A conclusion states what got worse beside what got
// better, and no number that was not measured in the page; `holds` says whether all of it is true of this run.
const SKEWED = { device: 'tiny', workload: 'mixed-70-30-zipf', seed: 1 };
const AT_RANDOM = { device: 'tiny', workload: 'randwrite-4k', seed: 1 };
const MERGING = { device: 'channel-management', workload: 'randwrite-4k', seed: 1, options: { requests: '150000' } };
const PARTIAL = { device: 'prlru', workload: 'financial1-like', seed: 1, set: ['nand.blocks_per_plane=200', 'cache.capacity=512KiB'], options: { precondition: 'fill', requests: '60000' } };
const REGULATED = { device: 'agcr', workload: 'mixed-70-30-zipf', seed: 1, set: ['nand.blocks_per_plane=128', 'ftl.cost.prior=as-written'], options: { requests: '100000' } };
const UNPLUGGED = { device: 'tiny', workload: 'randwrite-4k', seed: 1, set: ['ftl.recovery.policy=scan', 'cache.policy=lru', 'cache.capacity=256KiB'], options: { requests: '20000', cut_power: '200ms' } };
const DYING = { device: 'tiny', workload: 'mixed-70-30-zipf', seed: 1, set: ['ftl.over_provisioning=120%', 'ftl.placement.policy=dynamic', 'nand.faults.schedule=100ms: die 1 dies'], options: { requests: '20000' } };
const hostOf = result => result.report.host;
const hostPrograms = result => result.report.flash_commands.host.programs;
const copiesEach = result => result.report.flash_commands.gc.programs / hostPrograms(result);
const fillReads = result => result.report.flash_commands.read_modify_write.reads;
const erases = result => Object.values(result.report.flash_commands).reduce((sum, of) => sum + of.erases, 0);
const megabytes = result => result.device.capacity_bytes / 1e6;
// The time of the phase before the load, which is not measured.
const beforeNs = result => result.report.phases.find(phase => !phase.measured).duration_ns;
const inBlocks = (blocks, state) => blocks.state.filter(of => of === blocks.states.indexOf(state)).length;
// Places of the slider: so much simulated time a second.
const SLOWLY = 11, MS_200 = 16, S_2 = 19, S_5 = 20, S_100 = 24;
// For how long a step can be watched; then it hurries on.
const WATCHED_S = 5;
const countOf = count => count ? count.toLocaleString('en') : 'none';
const percent = ratio => `${(ratio * 100).toFixed(0)} %`;
const milliseconds = ns => `${digits(ns / 1e6)} ms`;
// Latencies of a run, by what they are of.
const latencies = result => Object.fromEntries(['read', 'write'].flatMap(op => [['on average', 'mean'], ['90 of 100', 'p90'], ['99 of 100', 'p99']].map(([words, field]) => [`${op}s, ${words}`, hostOf(result)[op].latency_ns[field]])));
// Those of a second run that are lower than before, or higher.
const changed = (before, after, sign) => Object.keys(before).filter(name => Math.sign(after[name] - before[name]) === sign);
const toldOf = (names, before, after) => names.map(name => `${name}: ${milliseconds(after[name])} in place of ${milliseconds(before[name])}`).join('; ') || 'none';
const amplified = result => result.report.write_amplification.total_ratio;
// Bytes a second that the host wrote in the windows of a series, from `first` on and before `last`.
const writeRate = (series, first, last) => {
  const written = series.write_bytes.slice(first, last).reduce((sum, bytes) => sum + bytes, 0);
  return written / Math.max(last - first, 1) / series.window_ns * 1e3;
};
const TOURS = [
  {
    name: 'cliff', title: 'The write cliff',
    about: 'A new drive writes as fast as its dies can program. Then its free blocks run out.',
    acts: [
      {
        look: 'An empty drive is written at random. Watch the blocks fill from the left, and all dies program for the host. It stops when the first collection begins.',
        plan: { ...AT_RANDOM, set: [], options: { requests: '60000' } }, stop: 'collection', pace: MS_200, lastsS: WATCHED_S, see: ({ series }) => ({ fresh: writeRate(series, 0, series.start_ns.length - 1) }),
      },
      {
        look: 'It goes on. Each block that is freed costs copies, in another colour, and an erase.',
        see: ({ series, result }) => ({ used: writeRate(series, Math.floor(series.start_ns.length * 2 / 3), series.start_ns.length - 1), whole: amplified(result) }),
      },
    ],
    question: 'How much slower does a drive get that is full, and why?',
    answer: seen => `${digits(seen.fresh)} MB/s, before anything was collected, became ${digits(seen.used)} MB/s in the last third of the run. To free a block, its valid pages are copied first: write amplification is ${seen.whole.toFixed(2)} over the whole run. And blocks are erased.`,
    holds: seen => seen.used < seen.fresh / 2 && seen.whole > 1,
  },
  {
    name: 'spare', title: 'What over-provisioning does',
    about: 'The same writes, on the same dies, with more space that the host does not see.',
    acts: [
      {
        look: 'A full and aged drive, with 28 % more flash than the host sees. Watch the share of collection in the time of the dies.',
        plan: { ...AT_RANDOM, set: ['ftl.over_provisioning=28%'], options: { precondition: 'fill,age', requests: '20000' } }, pace: S_2, lastsS: WATCHED_S, see: ({ result }) => ({ less: amplified(result), slow: hostOf(result).write.throughput_mb_per_s, large: megabytes(result) }),
      },
      {
        look: 'The same flash, of which the host sees less: there is 60 % more than that. Victims have fewer valid pages.',
        plan: { ...AT_RANDOM, set: ['ftl.over_provisioning=60%'], options: { precondition: 'fill,age', requests: '20000' } }, see: ({ result }) => ({ more: amplified(result), fast: hostOf(result).write.throughput_mb_per_s, small: megabytes(result) }),
      },
    ],
    question: 'Why does space that nobody uses make a drive faster, and what does it cost?',
    answer: seen => `Stale pages have longer to gather before a block is collected. Write amplification fell from ${seen.less.toFixed(2)} to ${seen.more.toFixed(2)}, and writes rose from ${digits(seen.slow)} to ${digits(seen.fast)} MB/s. It costs capacity: ${digits(seen.small)} MB in place of ${digits(seen.large)} MB on the same dies.`,
    holds: seen => seen.more < seen.less * 0.75 && seen.fast > seen.slow && seen.small < seen.large,
  },
  {
    name: 'reads', title: 'Reads first, and who pays',
    about: 'A read takes a tenth of a program, and an erase takes longer still. In order of arrival, reads wait for both (the read/write scheduler beneath the FTL).',
    acts: [
      {
        look: 'Reads and writes in order of arrival. It stops when collection begins.',
        plan: { ...SKEWED, set: ['scheduler.policy=fifo'], options: { precondition: 'fill', requests: '20000' } }, stop: 'collection',
      },
      {
        look: 'It goes on, slowly for five seconds: look for a pale read behind a long program or a striped erase.',
        pace: SLOWLY, lastsS: WATCHED_S, see: ({ result }) => ({ reads: hostOf(result).read.latency_ns.p99, writes: hostOf(result).write.latency_ns.p99 }),
      },
      {
        look: 'The same requests, and reads pass whatever waits.',
        plan: { ...SKEWED, set: ['scheduler.policy=read-first'], options: { precondition: 'fill', requests: '20000' } }, see: ({ result }) => ({ readsFirst: hostOf(result).read.latency_ns.p99, writesLast: hostOf(result).write.latency_ns.p99 }),
      },
    ],
    question: 'Is that free?',
    answer: seen => `99 of 100 reads now take at most ${milliseconds(seen.readsFirst)} in place of ${milliseconds(seen.reads)}. Writes pay: ${milliseconds(seen.writesLast)} in place of ${milliseconds(seen.writes)}, because the dies have as much to do as before.`,
    holds: seen => seen.readsFirst < seen.reads / 1.5 && seen.writesLast > seen.writes,
  },
  {
    name: 'separation', title: 'Hot and cold pages',
    about: 'Some pages are overwritten all the time, others never. In one block they make bad company.',
    acts: [
      {
        look: 'All pages share their blocks. Watch the blocks of medium strength: part stale, part valid.',
        plan: { ...SKEWED, set: ['nand.blocks_per_plane=128'], options: { precondition: 'fill', requests: '200000' } }, pace: S_5, lastsS: WATCHED_S, see: ({ result, blocks }) => ({ together: amplified(result), valid: result.report.gc.valid_ratio_per_victim, open: inBlocks(blocks, 'open') }),
      },
      {
        look: 'SepBIT writes pages that will die soon to other blocks than pages that will live. Blocks become strong or pale.',
        plan: { ...SKEWED, set: ['nand.blocks_per_plane=128', 'ftl.streams.policy=sepbit'], options: { precondition: 'fill', requests: '200000' } }, pace: S_5, lastsS: WATCHED_S, see: ({ result, blocks }) => ({ apart: amplified(result), validApart: result.report.gc.valid_ratio_per_victim, openApart: inBlocks(blocks, 'open') }),
      },
    ],
    question: 'The drive has the same space and the same load. What did separation buy, and for what?',
    answer: seen => `Write amplification fell from ${seen.together.toFixed(2)} to ${seen.apart.toFixed(2)}: of a victim, ${percent(seen.validApart)} were valid and had to be copied, in place of ${percent(seen.valid)}. It costs memory, because the drive remembers when each page was written, and more blocks are open at a time: ${seen.openApart} at the end in place of ${seen.open}.`,
    holds: seen => seen.apart < seen.together * 0.95 && seen.validApart < seen.valid && seen.openApart > seen.open,
  },
  {
    name: 'channels', title: 'Log blocks, and channels that steal time',
    about: 'A drive that maps whole blocks takes overwrites into log blocks. When the log is full, a log block is merged with its data blocks, and its channel takes no writes (channel management for log-block FTLs).',
    acts: [
      {
        look: 'One channel merges, and the others wait for it: they have nothing to do that the host would see.',
        plan: { ...MERGING, set: ['ftl.merge.planner=none'] }, see: ({ result }) => ({ waiting: hostOf(result).write.throughput_mb_per_s, once: amplified(result), erased: erases(result) }),
      },
      {
        look: 'Now the others use the time: each merges the data blocks of its own oldest log pages. Watch all dies copy at once.',
        plan: { ...MERGING, set: ['ftl.merge.planner=cycle-stealing'] }, pace: S_100, lastsS: WATCHED_S, see: ({ result }) => ({ stealing: hostOf(result).write.throughput_mb_per_s, along: result.report.merges.along, often: amplified(result), erasedMore: erases(result) }),
      },
    ],
    question: 'It merges more than before. Why is it faster, and what does that cost?',
    answer: seen => `${seen.along.toLocaleString('en')} merges went along with others, in time that was lost before. Writes rose from ${digits(seen.waiting)} to ${digits(seen.stealing)} MB/s: the log is emptied on all channels at once, so it fills up less often. It costs wear: write amplification rose from ${seen.once.toFixed(1)} to ${seen.often.toFixed(1)}, and erases from ${seen.erased.toLocaleString('en')} to ${seen.erasedMore.toLocaleString('en')}.`,
    holds: seen => seen.stealing > seen.waiting * 2 && seen.along > 0 && seen.often > seen.once && seen.erasedMore > seen.erased,
  },
  {
    name: 'packed', title: 'Packed pages',
    about: 'Many writes are smaller than a page. A buffer that evicts such a page reads the rest of it from flash first, and programs a whole page for a part of one (PRLRU).',
    acts: [
      {
        look: 'The buffer evicts what was used longest ago. Each partial page costs a read and a program.',
        plan: { ...PARTIAL, set: [...PARTIAL.set, 'cache.policy=lru'] }, see: ({ result }) => ({ alone: hostPrograms(result), filled: fillReads(result), hits: result.report.cache.write_hit_ratio, copies: copiesEach(result) }),
      },
      {
        look: 'PRLRU lets two partial pages share a physical page, and keeps warm pages longer.',
        plan: { ...PARTIAL, set: [...PARTIAL.set, 'cache.policy=prlru'] }, see: ({ result }) => ({ shared: hostPrograms(result), filledLess: fillReads(result), packed: result.report.cache.packed_programs, hitsMore: result.report.cache.write_hit_ratio, copiesMore: copiesEach(result) }),
      },
    ],
    question: 'The host wrote the same. What did the flash save?',
    answer: seen => `The buffer was written back with ${seen.shared.toLocaleString('en')} programs in place of ${seen.alone.toLocaleString('en')}, mostly because warm pages stay: ${percent(seen.hitsMore)} of the written pages were in the buffer already, in place of ${percent(seen.hits)}. Only ${seen.packed.toLocaleString('en')} programs held parts of two pages. Reads to fill up pages fell from ${seen.filled.toLocaleString('en')} to ${seen.filledLess.toLocaleString('en')}. It has a price: for each of these programs, collection copied ${digits(seen.copiesMore)} pages in place of ${digits(seen.copies)}.`,
    holds: seen => seen.shared < seen.alone * 0.95 && seen.filledLess < seen.filled && seen.hitsMore > seen.hits && seen.packed > 0 && seen.packed < (seen.alone - seen.shared) / 2 && seen.copiesMore > seen.copies,
  },
  {
    name: 'cost', title: 'Cheap writes, dear reads',
    about: 'Cells that are programmed in coarse steps take less time, and more sensing when they are read. A regulator chooses for each program (AGCR).',
    acts: [
      {
        look: 'Every program at medium cost, and every read of it, too.',
        plan: { ...REGULATED, set: [...REGULATED.set, 'ftl.cost.policy=traditional'] }, see: ({ result }) => ({ usual: latencies(result), filled: beforeNs(result) }),
      },
      {
        look: 'Now programs are cheap while writes queue up, and dear when there is time. Pages that are read often are written again at high cost, so that their reads are cheap.',
        plan: { ...REGULATED, set: [...REGULATED.set, 'ftl.cost.policy=agcr'] }, see: ({ result }) => ({ regulated: latencies(result), filledAfter: beforeNs(result), again: result.report.flash_commands.rewrite.programs, kinds: result.report.cost.programs }),
      },
    ],
    question: 'Cheap writes make dear reads. Who pays here?',
    answer: seen => `Lower now: ${toldOf(changed(seen.usual, seen.regulated, -1), seen.usual, seen.regulated)}. Higher: ${toldOf(changed(seen.usual, seen.regulated, 1), seen.usual, seen.regulated)}. Of the programs of the host ${countOf(seen.kinds.low)} were cheap, ${countOf(seen.kinds.medium)} at medium cost, and ${countOf(seen.kinds.high)} dear. ${countOf(seen.again)} programs wrote pages again. The data from before was written by the same rules: filling the drive took ${latency(seen.filledAfter)} in place of ${latency(seen.filled)}.`,
    holds: seen => seen.regulated['writes, 99 of 100'] < seen.usual['writes, 99 of 100'] * 0.75 && changed(seen.usual, seen.regulated, 1).length > 0 && seen.kinds.low > 0 && seen.again > 0 && seen.filledAfter > seen.filled,
  },
  {
    name: 'power', title: 'A power cut, and what was lost',
    about: 'The drive tells the host that a write is done once it is in the buffer, which is DRAM. Every 200 ms the power of a copy of the drive is cut, and the copy recovers.',
    acts: [
      {
        look: 'Random writes through a buffer of 256 KiB, without capacitors. After each cut a copy reads the spare area of all pages to find its map again.',
        plan: { ...UNPLUGGED, set: [...UNPLUGGED.set, 'power.capacitors=off'] }, see: ({ result }) => ({ cuts: result.power_cuts.cuts.length, lost: result.power_cuts.lost_pages_mean, recovery: result.power_cuts.recovery_mean_ns }),
      },
      {
        look: 'With capacitors: their charge is enough to program what is in the buffer.',
        plan: { ...UNPLUGGED, set: [...UNPLUGGED.set, 'power.capacitors=on'] }, see: ({ result }) => ({ kept: result.power_cuts.lost_pages_mean, held: result.power_cuts.hold_up_mean_ns }),
      },
    ],
    question: 'Were acknowledged writes lost? Was the drive wrong to lose them?',
    answer: seen => `In each of ${seen.cuts} cuts about ${Math.round(seen.lost)} pages were lost that only DRAM held, and recovery took ${milliseconds(seen.recovery)} on average. That is allowed: without capacitors only a flush or FUA makes a write last. With them ${countOf(seen.kept)} were lost; they held the drive up for ${milliseconds(seen.held)}.`,
    holds: seen => seen.cuts > 0 && seen.lost > 1 && seen.kept === 0 && seen.held > 0,
  },
  {
    name: 'parity', title: 'A die dies under parity',
    about: 'After 100 ms, while the drive is still being filled, a die dies with all that is on it. What is measured begins once it is full.',
    acts: [
      {
        look: 'Without parity. What was queued for it takes its time and fails; then nothing is placed there any more. Reads of its data are tried, and end without data.',
        plan: DYING, see: ({ result }) => ({ lost: result.report.health.lost_pages, unreadable: hostOf(result).read.unreadable_requests, writes: hostOf(result).write.throughput_mb_per_s, reads: hostOf(result).read.throughput_mb_per_s, large: megabytes(result), died: beforeNs(result) > 100e6 }),
      },
      {
        look: 'Each fourth page is the XOR of three others, on another die. Reads of the dead die become reads of the others, and a rebuild (care of blocks) makes stripes whole again.',
        plan: { ...DYING, set: [...DYING.set, 'ftl.parity.policy=dies', 'ftl.parity.width=4', 'ftl.parity.rebuild=on'] }, see: ({ result }) => ({ lostNow: result.report.health.lost_pages, unreadableNow: hostOf(result).read.unreadable_requests, computed: result.report.parity.reconstructed_reads, restored: result.report.parity.restored_pages, parity: result.report.parity.parity_programs, writesNow: hostOf(result).write.throughput_mb_per_s, readsNow: hostOf(result).read.throughput_mb_per_s, small: megabytes(result) }),
      },
    ],
    question: 'What did parity save, and what does it cost?',
    answer: seen => `Without it ${seen.lost} pages were lost, and ${seen.unreadable} reads ended without data. With it ${countOf(seen.lostNow)} were lost: since the drive was full, ${seen.computed} reads were computed from the other dies, and ${seen.restored.toLocaleString('en')} pages were moved to safety. It costs ${seen.parity.toLocaleString('en')} programs of parity in that time, and ${digits(seen.small)} MB are left of ${digits(seen.large)} MB. With less to spare and more to program, writes fell from ${digits(seen.writes)} to ${digits(seen.writesNow)} MB/s, and reads beside them from ${digits(seen.reads)} to ${digits(seen.readsNow)} MB/s.`,
    holds: seen => seen.died && seen.lost > 0 && seen.unreadable > 0 && seen.lostNow === 0 && seen.unreadableNow === 0 && seen.computed > 0 && seen.restored > 0 && seen.parity > 0 && seen.small < seen.large && seen.writesNow < seen.writes && seen.readsNow < seen.reads,
  },
];

// Shows a tour. `drive` adopts plans, lets runs go on, and waits for their ends: `drive(plan, stop, slow)` gives series, blocks
// and result. `knobs` is what holds the knobs, and folds.
function guide(place, choice, knobs, drive) {
  TOURS.forEach(tour => choice.append(new Option(tour.title, tour.name)));
  let tour = null, act = 0, seen = {}, running = false, over = false, turn = 0, left = false;
  function show() {
    // Whoever goes through a tour by keyboard stays in it.
    const focused = place.contains(document.activeElement);
    place.textContent = '';
    place.hidden = !tour;
    if (!tour) return;
    el('h2', place, '', tour.title);
    el('p', place, '', tour.about);
    if (left) el('p', place, 'left', 'The tour ended, because another run was begun. It can begin again, with its own plans.');
    const next = act < tour.acts.length ? offer() : conclude();
    if (focused) next.focus();
  }
  function offer() {
    el('p', place, 'look', `${act + 1} of ${tour.acts.length}: ${tour.acts[act].look}`);
    // What there is to look at stays until the next step is asked for.
    if (over) el('p', place, 'small', 'What is shown below is how this step ended.');
    const button = el('button', place, 'download', running ? 'Running …' : over ? 'Go on' : 'Begin');
    button.type = 'button';
    button.id = 'tour-next';
    button.setAttribute('aria-disabled', running);
    button.addEventListener('click', () => { if (!running) goOn(); });
    return button;
  }
  function conclude() {
    const told = el('details', place), question = el('summary', told, '', tour.question);
    const answer = el('p', told, 'answer', tour.answer(seen));
    answer.id = 'tour-answer';
    const holds = tour.holds(seen);
    place.dataset.holds = holds;
    if (!holds) el('p', place, 'small', 'What was measured does not bear the answer out.');
    return question;
  }
  function goOn() {
    if (over) act += 1;
    over = false;
    if (act < tour.acts.length) perform(); else show();
  }
  async function perform() {
    const { plan, stop, pace, lastsS, see } = tour.acts[act], mine = turn += 1;
    [running, left] = [true, false];
    show();
    let outcome = await drive(plan ?? null, stop ?? '', { pace: pace ?? SPEEDS, lastsS });
    // Something else to stop at was chosen meanwhile: an act without a stop of its own goes on to the end.
    while (mine === turn && outcome && !stop && !outcome.result) outcome = await drive(null, '', null);
    // Another tour may have been chosen meanwhile, or this one again.
    if (mine !== turn) return;
    running = false;
    if (outcome) {
      seen = { ...seen, ...see?.(outcome) };
      over = true;
    }
    show();
  }
  // Begins anew with the tour that is chosen.
  function choose() {
    tour = TOURS.find(one => one.name === choice.value) ?? null;
    [act, seen, running, over, left] = [0, {}, false, false, false];
    turn += 1;
    delete place.dataset.holds;
    // There is more room to watch.
    if (tour) knobs.open = false;
    show();
  }
  // Ends a tour that is under way: what was measured so far does not belong to the run that begins now.
  function leave() {
    if (!tour || act === tour.acts.length || !(act || running || over)) return;
    choose();
    left = true;
    show();
  }
  return { choose, leave };
}
