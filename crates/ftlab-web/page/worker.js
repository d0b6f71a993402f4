// Owns the simulator and its clock: lets the run go on at the pace that the page asks for, and tells it what is seen.
'use strict';
const SLICE_MS = 12, FRAME_MS = 16, SLOW_VIEW_MS = 250;
// Looks between two glances at the clock: those for something interesting are short.
const LOOKS = 1, SHORT_LOOKS = 256;
// Faster than this, single operations would be a blur, and are not noted.
const MOST_FOR_SPANS = 200e6;
const encoder = new TextEncoder(), decoder = new TextDecoder();
let wasm = null, run = 0, opened = false, playing = false, speed = null, stopAt = null, now = 0, ended = false;
// Where the clocks of the simulation and of the wall were when this pace began.
let origin = { simulated: 0, wall: 0 }, viewed = 0, timer = null;

function ask(question) {
  const bytes = encoder.encode(JSON.stringify(question));
  // Addresses are without a sign.
  const at = wasm.ftlab_room(bytes.length) >>> 0;
  new Uint8Array(wasm.memory.buffer, at, bytes.length).set(bytes);
  const answer = wasm.ftlab_ask() >>> 0;
  const length = new DataView(wasm.memory.buffer).getUint32(answer, true);
  return JSON.parse(decoder.decode(new Uint8Array(wasm.memory.buffer, answer + 4, length)));
}

const pace = () => { origin = { simulated: now, wall: performance.now() }; };
// The page forgets what belongs to an earlier run.
const told = (name, value) => postMessage({ run, [name]: value, memory: wasm.memory.buffer.byteLength });

// Goes on for a slice of wall-clock time, or to the simulated time that the pace has come to.
function slice(limit) {
  const began = performance.now(), frames = [];
  const spans = stopAt === 'anything' || (speed !== null && speed <= MOST_FOR_SPANS);
  const views = began - viewed > SLOW_VIEW_MS;
  do {
    const frame = ask({ ask: 'go', run: 0, until_ns: limit, looks: stopAt ? SHORT_LOOKS : LOOKS, stop_at: stopAt, spans, views: views && frames.length === 0 });
    if (frame.error) return { failed: frame.error };
    frames.push(frame);
    now = frame.now_ns;
    ended = frame.ended;
    if (frame.stopped || ended || (limit !== null && now >= limit)) break;
  } while (performance.now() - began < SLICE_MS);
  const last = frames.at(-1);
  last.spans = frames.flatMap(frame => frame.spans);
  const viewing = frames.findLast(frame => frame.series);
  [last.series, last.blocks] = [viewing?.series ?? null, viewing?.blocks ?? null];
  if (views) viewed = began;
  last.stoppedAt = last.stopped ? stopAt : null;
  last.cuts = frames.flatMap(frame => frame.cuts);
  last.left_out = frames.reduce((sum, frame) => sum + frame.left_out, 0);
  return last;
}

// How everything stands while the run rests. It goes no further: this time has come.
function view() {
  const { series, blocks, error } = ask({ ask: 'go', run: 0, until_ns: 0, looks: 0, stop_at: null, spans: false, views: true });
  if (!error) told('views', { series, blocks });
}

function tick() {
  timer = null;
  const wall = performance.now();
  const limit = speed === null ? null : Math.floor(origin.simulated + (wall - origin.wall) / 1000 * speed);
  if (limit === null || limit > now) {
    const frame = slice(limit);
    if (frame.failed) return fail(frame.failed);
    // A pace that the simulator can't keep is not made up for.
    frame.behind = limit !== null && now < limit;
    // The load begins after the preparation, so the first frame may also be ahead.
    if (limit !== null && now !== limit) pace();
    if (frame.stopped || ended) playing = false;
    told('frame', frame);
    if (!playing) {
      stopAt = null;
      view();
      if (ended) told('result', ask({ ask: 'result', run: 0 }));
      told('rests', true);
      return;
    }
  }
  timer = setTimeout(tick, speed === null ? 0 : Math.max(0, FRAME_MS - (performance.now() - wall)));
}

function fail(error) {
  playing = opened = false;
  told('failed', error);
}

const orders = {
  open(order) {
    playing = false;
    clearTimeout(timer);
    run = order.run;
    const { plan } = order, facts = ask({ ask: 'open', run: 0, plan });
    [now, ended, viewed] = [0, false, 0];
    opened = !facts.error;
    told(opened ? 'opened' : 'failed', facts.error ?? facts);
  },
  play(order) {
    clearTimeout(timer);
    playing = opened && !ended;
    [speed, stopAt] = [order.speed, order.stopAt];
    pace();
    if (playing) tick();
  },
  pause() {
    clearTimeout(timer);
    if (playing) view();
    playing = false;
  },
  catalog() { told('catalog', ask({ ask: 'catalog' })); },
};

onmessage = async event => {
  const order = event.data;
  try {
    if (order.wasm) {
      const stream = new Blob([order.wasm]).stream().pipeThrough(new DecompressionStream('gzip'));
      const bytes = await new Response(stream).arrayBuffer();
      wasm = (await WebAssembly.instantiate(bytes, {})).instance.exports;
      return orders.catalog();
    }
    orders[order.order](order);
  } catch (error) {
    // A trap: the simulator's memory is no longer sound. The page starts another worker.
    postMessage({ dead: String(error) });
  }
};
