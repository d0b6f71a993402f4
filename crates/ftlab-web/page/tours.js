// Guided tours: a few runs, each with what to look at, and a conclusion from what was measured just now.
'use strict';
// An act has a plan and what it waits for; `see` takes the figures that the conclusion needs. `holds` says whether the
// conclusion is true of this run: a tour never states a number that was not measured in the page.
const SKEWED = { device: 'tiny', workload: 'mixed-70-30-zipf', seed: 1 };
const AT_RANDOM = { device: 'tiny', workload: 'randwrite-4k', seed: 1 };
const hostOf = result => result.report.host;
const milliseconds = ns => `${digits(ns / 1e6)} ms`;
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
        plan: { ...AT_RANDOM, set: [], options: { requests: '60000' } }, stop: 'collection', see: ({ series }) => ({ fresh: writeRate(series, 0, series.start_ns.length - 1) }),
      },
      {
        look: 'It goes on. Each block that is freed costs copies, in another colour, and an erase.',
        see: ({ series }) => ({ used: writeRate(series, Math.floor(series.start_ns.length * 2 / 3), series.start_ns.length - 1) }),
      },
    ],
    question: 'How much slower does a drive get that is full, and why?',
    answer: seen => `${digits(seen.fresh)} MB/s became ${digits(seen.used)} MB/s. To free a block, its valid pages are copied first, so the dies program several pages for each page of the host, and erase.`,
    holds: seen => seen.used < seen.fresh / 2,
  },
  {
    name: 'spare', title: 'What over-provisioning does',
    about: 'The same writes, on the same dies, with more space that the host does not see.',
    acts: [
      {
        look: 'A full and aged drive with a spare quarter. Watch how much of the programs is collection.',
        plan: { ...AT_RANDOM, set: ['ftl.over_provisioning=28%'], options: { precondition: 'fill,age', requests: '20000' } }, see: ({ result }) => ({ less: amplified(result), slow: hostOf(result).write.throughput_mb_per_s }),
      },
      {
        look: 'The same with more than half to spare: victims have fewer valid pages.',
        plan: { ...AT_RANDOM, set: ['ftl.over_provisioning=60%'], options: { precondition: 'fill,age', requests: '20000' } }, see: ({ result }) => ({ more: amplified(result), fast: hostOf(result).write.throughput_mb_per_s }),
      },
    ],
    question: 'Why does space that nobody uses make a drive faster?',
    answer: seen => `Stale pages have longer to gather before a block is collected. Write amplification fell from ${seen.less.toFixed(2)} to ${seen.more.toFixed(2)}, and writes rose from ${digits(seen.slow)} to ${digits(seen.fast)} MB/s.`,
    holds: seen => seen.more < seen.less * 0.75 && seen.fast > seen.slow,
  },
  {
    name: 'reads', title: 'Reads first, and who pays',
    about: 'A read takes a tenth of a program, and an erase takes longer still. In order of arrival, reads wait for both (the read/write scheduler beneath the FTL).',
    acts: [
      {
        look: 'Reads and writes in order of arrival. Slow it down, and look for a pale read behind a long program or a striped erase.',
        plan: { ...SKEWED, set: ['scheduler.policy=fifo'], options: { precondition: 'fill', requests: '20000' } }, see: ({ result }) => ({ reads: hostOf(result).read.latency_ns.p99, writes: hostOf(result).write.latency_ns.p99 }),
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
        plan: { ...SKEWED, set: ['nand.blocks_per_plane=128'], options: { precondition: 'fill', requests: '200000' } }, see: ({ result }) => ({ together: amplified(result) }),
      },
      {
        look: 'SepBIT writes pages that will die soon to other blocks than pages that will live. Blocks become strong or pale.',
        plan: { ...SKEWED, set: ['nand.blocks_per_plane=128', 'ftl.streams.policy=sepbit'], options: { precondition: 'fill', requests: '200000' } }, see: ({ result }) => ({ apart: amplified(result) }),
      },
    ],
    question: 'The drive has the same space and the same load. What did separation buy?',
    answer: seen => `Write amplification fell from ${seen.together.toFixed(2)} to ${seen.apart.toFixed(2)}: a victim is nearly empty, or is left alone.`,
    holds: seen => seen.apart < seen.together * 0.95,
  },
];

// Shows a tour. `drive` adopts plans, lets runs go on, and waits for their ends: `run(plan, stop)` gives series and result.
function guide(place, choice, drive) {
  TOURS.forEach(tour => choice.append(new Option(tour.title, tour.name)));
  let tour = null, act = 0, seen = {}, running = false;
  function show() {
    place.textContent = '';
    place.hidden = !tour;
    if (!tour) return;
    el('h2', place, '', tour.title);
    el('p', place, '', tour.about);
    if (act < tour.acts.length) {
      el('p', place, 'look', `${act + 1} of ${tour.acts.length}: ${tour.acts[act].look}`);
      const button = el('button', place, 'download', running ? 'Running …' : act ? 'Go on' : 'Begin');
      button.type = 'button';
      button.id = 'tour-next';
      button.disabled = running;
      button.addEventListener('click', next);
      return;
    }
    const told = el('details', place);
    el('summary', told, '', tour.question);
    const answer = el('p', told, 'answer', tour.answer(seen));
    answer.id = 'tour-answer';
    const holds = tour.holds(seen);
    place.dataset.holds = holds;
    if (!holds) el('p', place, 'small', 'With the knobs as they are now this is not so.');
  }
  async function next() {
    const { plan, stop, see } = tour.acts[act], of = tour;
    running = true;
    show();
    const outcome = await drive(plan ?? null, stop ?? '');
    running = false;
    if (of !== tour) return;
    if (outcome) {
      seen = { ...seen, ...see(outcome) };
      act += 1;
    }
    show();
  }
  choice.addEventListener('change', () => {
    tour = TOURS.find(one => one.name === choice.value) ?? null;
    [act, seen] = [0, {}];
    delete place.dataset.holds;
    show();
  });
}
