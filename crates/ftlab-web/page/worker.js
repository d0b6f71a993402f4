// Owns the simulator and its clock: lets the run go on at the pace that the page asks for, and tells it what is seen.
'use strict';
const SLICE_MS = 12, FRAME_MS = 16, SLOW_VIEW_MS = 250;
// Looks between two glances at the clock: those for something interesting are short.
const LOOKS = 1, SHORT_LOOKS = 256;
// Faster than this, single operations would be a blur, and are not noted.
const MOST_FOR_SPANS = 200e6;
const encoder = new TextEncoder(), decoder = new TextDecoder();
let wasm = null, run = 0, opened = false, playing = false, speed = null, stopAt = null;
// One drive, or two side by side: the time that each has come to, whether it has ended, when it was last looked at, and
// since when its single operations are noted, if they are.
let drives = [];
// Where the clocks of the simulation and of the wall were when this pace began.
let origin = { simulated: 0, wall: 0 }, timer = null;
// A message to itself comes at once, after those that wait; a timer of 0 ms takes 4 ms.
const itself = new MessageChannel();
let turn = 0;
itself.port1.onmessage = event => { if (event.data === turn) tick(); };
function later(ms) {
  turn += 1;
  if (ms > 0) timer = setTimeout(tick, ms);
  else itself.port2.postMessage(turn);
}
function rest() {
  clearTimeout(timer);
  turn += 1;
}

function ask(question) {
  const bytes = encoder.encode(JSON.stringify(question));
  // Addresses are without a sign.
  const at = wasm.ftlab_room(bytes.length) >>> 0;
  new Uint8Array(wasm.memory.buffer, at, bytes.length).set(bytes);
  const answer = wasm.ftlab_ask() >>> 0;
  const length = new DataView(wasm.memory.buffer).getUint32(answer, true);
  return JSON.parse(decoder.decode(new Uint8Array(wasm.memory.buffer, answer + 4, length)));
}

const ended = () => drives.every(drive => drive.ended);
// The time that all have come to which go on.
const now = () => Math.min(...drives.filter(drive => !drive.ended || ended()).map(drive => drive.now));
const pace = () => { origin = { simulated: now(), wall: performance.now() }; };
// The page forgets what belongs to an earlier run.
const told = (name, value) => postMessage({ run, [name]: value, memory: wasm.memory.buffer.byteLength });
const problem = (at, error) => at ? `the drive beside it: ${error}` : error;

// The drive whose turn it is: the one that is behind.
function next(limit) {
  let found = null;
  drives.forEach((drive, at) => {
    if (!drive.ended && (limit === null || drive.now < limit) && (found === null || drive.now < drives[found].now)) found = at;
  });
  return found;
}
// The most of a trace that is read, in bytes.
const MOST_TRACE = 2 ** 30;
let kept = null;
const refuse = text => { throw Object.assign(new Error(text), { refused: true }); };
const tooLarge = name => refuse(`${name} has more than ${MOST_TRACE / 1e9} GB, which is too much for a page\n  remedy: use the program, or a part of the file`);
// Hands a trace over, unpacked if gzip packed it, in pieces: no text of a script would hold a large one.
async function keep({ file, number }) {
  if (kept === number) return;
  kept = null;
  if (file.size > MOST_TRACE) tooLarge(file.name);
  let pieces = [], length = 0;
  try {
    const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    const whole = file.stream(), isPacked = first === 0x1f && second === 0x8b;
    for await (const piece of isPacked ? whole.pipeThrough(new DecompressionStream('gzip')) : whole) {
      length += piece.length;
      if (length > MOST_TRACE) tooLarge(file.name);
      pieces.push(piece);
    }
  } catch (error) {
    if (error.refused) throw error;
    const packed = error instanceof TypeError ? ': its gzip is damaged, cut off, or of several parts, which browsers do not unpack' : `: ${error.message}`;
    refuse(`${file.name} can't be read${packed}\n  remedy: use the program, or a part of the file`);
  }
  let at = wasm.ftlab_room(length) >>> 0;
  pieces.forEach(piece => { new Uint8Array(wasm.memory.buffer, at, piece.length).set(piece); at += piece.length; });
  pieces = null;
  wasm.ftlab_keep();
  kept = number;
}

// Goes on for a slice of wall-clock time, or to the simulated time that the pace has come to.
function slice(limit) {
  const began = performance.now(), frames = drives.map(() => []);
  const spans = stopAt === 'anything' || (speed !== null && speed <= MOST_FOR_SPANS);
  drives.forEach(drive => { drive.noted_from = spans ? drive.noted_from ?? drive.now : null; });
  do {
    const at = next(limit);
    if (at === null) break;
    const drive = drives[at], views = began - drive.viewed > SLOW_VIEW_MS;
    const frame = ask({ ask: 'go', run: at, until_ns: limit, looks: stopAt ? SHORT_LOOKS : LOOKS, stop_at: stopAt, spans, views });
    if (frame.error) return { failed: problem(at, frame.error) };
    frames[at].push(frame);
    [drive.now, drive.ended] = [frame.now_ns, frame.ended];
    if (views) drive.viewed = began;
    if (frame.stopped) break;
  } while (performance.now() - began < SLICE_MS);
  const stopped = frames.some(one => one.at(-1)?.stopped);
  return { drives: frames.map((of, at) => joined(of, drives[at])), stopped, stoppedAt: stopped ? stopAt : null, ended: ended() };
}
// What one drive told in several frames, as one; nothing if it had no turn.
function joined(frames, drive) {
  const last = frames.at(-1);
  if (!last) return null;
  last.spans = frames.flatMap(frame => frame.spans);
  last.noted_from = drive.noted_from;
  const viewing = frames.findLast(frame => frame.series);
  [last.series, last.blocks, last.shares] = [viewing?.series ?? null, viewing?.blocks ?? null, viewing?.shares ?? null];
  last.cuts = frames.flatMap(frame => frame.cuts);
  last.left_out = frames.reduce((sum, frame) => sum + frame.left_out, 0);
  return last;
}

// How everything stands while the run rests. It goes no further: this time has come.
function view() {
  const seen = drives.map((_, at) => ask({ ask: 'go', run: at, until_ns: 0, looks: 0, stop_at: null, spans: false, views: true }));
  if (!seen.some(one => one.error)) told('views', seen.map(({ series, blocks, shares }) => ({ series, blocks, shares })));
}

function tick() {
  const wall = performance.now();
  const limit = speed === null ? null : Math.floor(origin.simulated + (wall - origin.wall) / 1000 * speed);
  if (limit === null || next(limit) !== null) {
    const frame = slice(limit);
    if (frame.failed) return fail(frame.failed);
    // A pace that the simulator can't keep is not made up for.
    frame.behind = limit !== null && now() < limit && !frame.drives.some(one => one?.beside_clock);
    // The load begins after the preparation, so the first frame may also be ahead.
    if (limit !== null && now() !== limit) pace();
    if (frame.stopped || frame.ended) playing = false;
    told('frame', frame);
    if (!playing) {
      // Whether it came to its end before what it should have stopped at.
      const missed = frame.ended && stopAt !== null && stopAt !== 'anything';
      stopAt = null;
      view();
      if (frame.ended) postMessage({ run, results: drives.map((_, at) => ask({ ask: 'result', run: at })), missed });
      told('rests', true);
      return;
    }
  }
  later(speed === null ? 0 : FRAME_MS - (performance.now() - wall));
}

function fail(error) {
  playing = opened = false;
  told('failed', error);
}

const orders = {
  async open(order) {
    playing = opened = false;
    rest();
    run = order.run;
    try {
      if (order.trace) await keep(order.trace);
    } catch (error) {
      if (!error.refused) throw error;
      return run === order.run ? told('failed', error.message) : undefined;
    }
    // Another run was asked for while the trace was read.
    if (run !== order.run) return;
    if (!order.trace) kept = null;
    drives.forEach((_, at) => ask({ ask: 'close', run: at }));
    const facts = order.plans.map((plan, at) => ask({ ask: 'open', run: at, plan }));
    drives = facts.map(() => ({ now: 0, ended: false, viewed: 0, noted_from: null }));
    const wrong = facts.findIndex(one => one.error);
    opened = wrong < 0;
    told(opened ? 'opened' : 'failed', opened ? facts : problem(wrong, facts[wrong].error));
  },
  play(order) {
    rest();
    playing = opened && !ended();
    [speed, stopAt] = [order.speed, order.stopAt];
    pace();
    if (playing) tick();
  },
  pause() {
    rest();
    if (playing) view();
    playing = false;
  },
  catalog() { told('catalog', ask({ ask: 'catalog' })); },
};

// Orders that come before the simulator is there wait for it.
let ready = null;
async function load(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  const bytes = await new Response(stream).arrayBuffer();
  wasm = (await WebAssembly.instantiate(bytes, {})).instance.exports;
  orders.catalog();
}
onmessage = async event => {
  const order = event.data;
  try {
    if (order.wasm) ready = load(order.wasm);
    await ready;
    if (order.order) await orders[order.order](order);
  } catch (error) {
    // A trap: the simulator's memory is no longer sound. The page starts another worker.
    postMessage({ dead: String(error) });
  }
};
