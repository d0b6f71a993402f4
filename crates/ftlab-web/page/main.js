// The page: knobs, the order of time, and what is drawn. The simulator is in a worker (worker.js).
'use strict';
const $ = id => document.getElementById(id);
const TEXT = name => $(name).textContent;
const SLOW_NS = 10e6, LEAST_SPEED = 1e3, SPEEDS = 25;
let worker = null, current = null, facts = null, playing = false, ended = false, result = null, trace = null, waiting = null, series = null, blocks = null, run = 0;
// What came since it was drawn last.
const fresh = { series: false, blocks: false };

// Speeds: three to a power of ten, from one microsecond a second; the last is as fast as it goes.
const speedAt = at => at >= SPEEDS ? null : LEAST_SPEED * [1, 2, 5][at % 3] * 10 ** Math.floor(at / 3);
const speed = () => speedAt(Number($('speed').value));
const stopAt = () => ({ '': null, slow: { slow: SLOW_NS } })[$('stop').value] ?? ($('stop').value || null);

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}
function hire() {
  if (worker) worker.terminate();
  const source = URL.createObjectURL(new Blob([JSON.parse(TEXT('worker'))], { type: 'text/javascript' }));
  worker = new Worker(source);
  setTimeout(() => URL.revokeObjectURL(source), 10000);
  worker.onmessage = event => hears(event.data);
  worker.onerror = event => hears({ dead: event.message });
  worker.postMessage({ wasm: bytesOf(TEXT('wasm')) });
}
const order = (name, more = {}) => worker.postMessage({ order: name, ...more });

function fault(text) {
  $('error').hidden = !text;
  $('error').textContent = text ?? '';
}
function state(text) { if ($('state').textContent !== text) $('state').textContent = text; }
function plays(yes) {
  playing = yes;
  $('play').textContent = yes ? 'Pause' : 'Run';
}

function hears(told) {
  if (told.run !== undefined && told.run !== run && !told.catalog) return;
  if (told.catalog) offers(told.catalog);
  if (told.opened) opened(told.opened);
  if (told.failed) { plays(false); state(facts ? 'failed' : 'refused'); facts = null; startAtOnce = false; fault(told.failed); settle(null); }
  if (told.frame) {
    // A hidden page draws nothing for long, and must not gather without end.
    const join = name => [...(waiting?.[name] ?? []), ...told.frame[name]].slice(-strip.MOST_SPANS);
    const left_out = (waiting?.left_out ?? 0) + told.frame.left_out;
    waiting = { ...told.frame, spans: join('spans'), cuts: join('cuts'), left_out, memory: told.memory };
    views(told.frame);
  }
  if (told.views) views(told.views);
  if (told.rests) settle({ series, result: result && JSON.parse(result) });
  if (told.result) { [result, ended, fresh.series] = [told.result.text, true, series !== null]; takeAlong(); soon(); }
  if (told.dead) {
    plays(false);
    facts = null;
    fault(`The simulator stopped: ${told.dead}\n  remedy: a smaller device or trace, or the program itself; this page is ready for another run`);
    state('stopped');
    settle(null);
    hire();
  }
}
function views(of) {
  if (of.series) [series, fresh.series] = [of.series, true];
  if (of.blocks) [blocks, fresh.blocks] = [of.blocks, true];
  soon();
}

// What to run, as the knobs say.
function plan() {
  const sets = [['op', 'ftl.over_provisioning'], ['victim', 'ftl.gc.victim'], ['streams', 'ftl.streams.policy'], ['scheduler', 'scheduler.policy']];
  const set = sets.filter(([id]) => $(id).value.trim()).map(([id, key]) => `${key}=${$(id).value.trim()}`);
  set.push(...$('sets').value.split('\n').map(line => line.trim()).filter(line => line && !line.startsWith('#')));
  const options = {};
  if ($('precondition').value) options.precondition = $('precondition').value;
  if ($('depth').value) options.queue_depth = $('depth').value;
  if ($('requests').value) options.requests = $('requests').value;
  const made = { device: $('device').value, set, options, seed: $('seed').value };
  if ($('file').value.trim()) [made.device, made.device_text] = ['my-drive.toml', $('file').value];
  if (trace) {
    options.address = 'fold';
    return { ...made, trace: trace.name, trace_text: trace.text };
  }
  return { ...made, workload: $('workload').value };
}
const word = text => /^[\w.,:=%+/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
function command(of) {
  const parts = ['ftlab', 'run', '--device', of.device];
  of.set.forEach(one => parts.push('--set', one));
  parts.push(...(of.trace ? ['--trace', of.trace] : ['--workload', of.workload]));
  Object.entries(of.options).forEach(([name, value]) => parts.push(`--${name.replaceAll('_', '-')}`, value));
  parts.push('--seed', String(of.seed));
  return parts.map(word).join(' ');
}
function begin() {
  plays(false);
  fault(null);
  settle(null);
  [waiting, series, blocks, result, ended, facts] = [null, null, null, null, false, null];
  [fresh.series, fresh.blocks] = [false, false];
  state('');
  $('tiles').textContent = '';
  run += 1;
  current = plan();
  order('open', { run, plan: current });
}
function opened(of) {
  facts = of;
  strip.open(facts);
  clearCharts();
  takeAlong();
  fault(facts.warnings.length ? facts.warnings.join('\n') : null);
  state('ready');
  if (startAtOnce) { startAtOnce = false; go(); }
}
let startAtOnce = false;
function go() {
  if (!facts || ended) {
    startAtOnce = true;
    return begin();
  }
  plays(true);
  order('play', { speed: speed(), stopAt: stopAt() });
}

// Drawing waits for the screen, so a fast run does not queue frames.
let drawing = false;
function soon() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => { drawing = false; draw(); });
}
const strip = stripOf($('strip'), $('strip-legend'), $('strip-about'));
function draw() {
  if (!facts) return;
  if (waiting) {
    const frame = waiting;
    waiting = null;
    strip.add(frame, speed());
    tiles(frame);
    if (frame.ended) { plays(false); state('ended'); }
    else if (frame.stopped) { plays(false); state(frame.stoppedAt === 'anything' ? 'one step' : `stopped: ${$('stop').selectedOptions[0].textContent}`); takeAlong(); }
    else if (playing) state(frame.behind && speed() !== null ? 'the simulator is slower than that' : frame.doing);
  }
  if (fresh.series) drawSeries();
  if (fresh.blocks) drawBlocks();
}
const shown = (value, show) => value === null || value === undefined ? '–' : show(value);
function tiles(frame) {
  const { read, write } = frame.host;
  const told = [
    ['Simulated time', latency(frame.now_ns)], ['Phase', frame.host.phase || frame.doing],
    ['Requests', (read.requests + write.requests).toLocaleString('en')],
    ['Read p50', shown(read.p50_ns, latency)], ['Read p99', shown(read.p99_ns, latency)], ['Read p99.9', shown(read.p999_ns, latency)],
    ['Write p50', shown(write.p50_ns, latency)], ['Write p99', shown(write.p99_ns, latency)], ['Write p99.9', shown(write.p999_ns, latency)],
    ['Programs for each of the host’s', shown(frame.host.programmed_ratio, value => value.toFixed(3))],
    ['Free blocks, fewest', shown(frame.levels, levels => levels.free_blocks)], ['Pages in the buffer', shown(frame.levels, levels => levels.buffered_pages)],
    ['Collections', frame.collections.toLocaleString('en')], ['Memory of the simulator', `${Math.round(frame.memory / 1e6)} MB`],
  ];
  const place = $('tiles');
  told.forEach(([name, text], at) => {
    const tile = place.children[at] ?? el('div', place);
    if (!tile.firstChild) { el('span', tile, '', name); el('b', tile); }
    if (tile.lastChild.textContent !== text) tile.lastChild.textContent = text;
  });
}

let charts = [];
function clearCharts() {
  charts.forEach(({ made, observer }) => { observer.disconnect(); made.destroy(); });
  charts = [];
  $('time').textContent = '';
}
const PLOTS = [
  { title: 'Throughput', unit: 'MB/s', lines: [['reads', 'read_bytes', 1e3], ['writes', 'write_bytes', 1e3]], rate: true },
  { title: 'Latency, 99th percentile', unit: 'ms', lines: [['reads', 'read_p99_ns', 1e-6], ['writes', 'write_p99_ns', 1e-6]] },
  { title: 'Pages programmed, for the host and for collection', unit: 'pages/s', lines: [['host', 'host_pages', 1e9], ['collection', 'copied_pages', 1e9]], rate: true },
  { title: 'Free blocks of the plane with the fewest', unit: 'blocks', lines: [['free blocks', 'free_blocks', 1]] },
];
// Columns for a chart: seconds, and a line for each; the last window is not over and left out while the run goes on.
function columnsOf(plot) {
  const count = Math.max(series.start_ns.length - (ended ? 0 : 1), 0), window = series.window_ns;
  const values = (name, factor) => series[name].slice(0, count).map(value => value === null ? null : value * factor / (plot.rate ? window : 1));
  return [series.start_ns.slice(0, count).map(ns => ns / 1e9), ...plot.lines.map(([, name, factor]) => values(name, factor))];
}
function drawSeries() {
  if (!charts.length) {
    charts = PLOTS.map(plot => {
      const box = el('div', $('time'), 'chart');
      el('h3', box, '', `${plot.title}, ${plot.unit}`);
      const axis = { stroke: css('--faint'), grid: { stroke: css('--line') }, ticks: { stroke: css('--line') } };
      const made = new uPlot({
        width: Math.max(box.clientWidth, 240), height: 200, cursor: { drag: { x: false } }, scales: { x: { time: false } },
        axes: [{ ...axis, values: (_, marks) => marks.map(mark => latency(mark * 1e9)) }, { ...axis, size: 64 }],
        series: [{ label: 'at', value: (_, at) => shown(at, value => latency(value * 1e9)) }, ...plot.lines.map(([label], at) => ({ label, stroke: colour(at), dash: dash(at), width: 2, value: (_, value) => shown(value, digits) }))],
      }, columnsOf(plot), box);
      const observer = new ResizeObserver(() => made.setSize({ width: Math.max(box.clientWidth, 240), height: 200 }));
      observer.observe(box);
      return { made, observer };
    });
  } else charts.forEach(({ made }, at) => made.setData(columnsOf(PLOTS[at])));
  fresh.series = false;
}

// The blocks: a row for each plane; the colour is the state, its strength the share of valid pages.
const STATE_INKS = [null, 2, 0, 1, 6, 7, 7];
function drawBlocks() {
  fresh.blocks = false;
  const canvas = $('blocks'), planes = Math.max(blocks.state.length / Math.max(blocks.per_plane, 1), 1);
  const ratio = devicePixelRatio || 1, width = canvas.clientWidth, row = Math.max(4, Math.min(16, 360 / planes));
  canvas.style.height = `${row * planes}px`;
  [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(row * planes * ratio)];
  const pen = canvas.getContext('2d'), wide = width / blocks.per_plane;
  pen.scale(ratio, ratio);
  const inks = STATE_INKS.map(at => at === null ? css('--panel') : colour(at));
  blocks.state.forEach((of, at) => {
    pen.globalAlpha = of === 0 ? 1 : 0.15 + 0.85 * blocks.valid[at] / 255;
    pen.fillStyle = inks[of];
    pen.fillRect(at % blocks.per_plane * wide, Math.floor(at / blocks.per_plane) * row, Math.max(wide - (wide > 3 ? 0.6 : 0), 0.5), row - (row > 3 ? 1 : 0));
  });
  if (!$('blocks-legend').firstChild) {
    blocks.states.forEach((name, at) => {
      const entry = el('span', $('blocks-legend'));
      el('span', entry, 'ink').style.background = inks[at];
      entry.append(name);
    });
  }
  $('blocks-about').textContent = `A row for each plane, a cell for ${facts.blocks_per_plane === blocks.per_plane ? 'each block' : 'some neighbouring blocks'}; the paler, the fewer valid pages. Most erases of a block: ${Math.max(0, ...blocks.erases)}.`;
}

// The command, the link and the files.
function takeAlong() {
  const of = current;
  $('command').textContent = command(of);
  const files = $('files');
  files.textContent = '';
  const { trace_text: text, ...short } = of;
  if (!text) {
    history.replaceState(null, '', `#${encodeURIComponent(JSON.stringify(short))}`);
    const link = el('a', files, 'download', 'Link');
    link.href = location.href;
  } else history.replaceState(null, '', location.pathname);
  if (facts) download(files, 'Device file', of.device_text ? of.device : `${of.device}.toml`, 'text/plain', () => facts.device_file);
  if (series) download(files, 'CSV', 'over-time.csv', 'text/csv', () => csv(['start_ns', ...PLOTS.flatMap(plot => plot.lines.map(([, name]) => name))], [series.start_ns, ...PLOTS.flatMap(plot => plot.lines.map(([, name]) => series[name]))]));
  if (result) download(files, 'Result', 'result.json', 'application/json', () => result);
}

function offers(catalog) {
  if (!$('device').length) {
    const fill = (id, names, first) => {
      if (first !== undefined) $(id).append(new Option(first, ''));
      names.forEach(([name, about]) => { const option = new Option(name, name); option.title = about ?? ''; $(id).append(option); });
    };
    fill('device', catalog.devices.map(one => [one.name, one.description]));
    fill('workload', catalog.workloads.map(one => [one.name, one.doc]));
    const policies = option => catalog.policies.find(one => one.option === option).policies.map(one => [one.name, one.doc]);
    fill('victim', policies('ftl.gc.victim'), 'as it is');
    fill('streams', policies('ftl.streams.policy'), 'as it is');
    fill('scheduler', policies('scheduler.policy'), 'as it is');
    [$('device').value, $('workload').value] = ['tlc-32g', 'mixed-70-30-zipf'];
    recall();
    begin();
  }
}
// Sets the knobs to a plan.
function adopt(of) {
  $('file').value = of.device_text ?? '';
  if (!of.device_text) $('device').value = of.device;
  $('workload').value = of.workload;
  for (const id of ['op', 'victim', 'streams', 'scheduler']) $(id).value = '';
  [trace, $('trace').value] = [null, ''];
  const knobs = { 'ftl.over_provisioning': 'op', 'ftl.gc.victim': 'victim', 'ftl.streams.policy': 'streams', 'scheduler.policy': 'scheduler' };
  const others = of.set.filter(one => {
    const [key, ...value] = one.split('='), knob = knobs[key];
    if (knob) $(knob).value = value.join('=');
    return !knob;
  });
  $('sets').value = others.join('\n');
  $('precondition').value = of.options.precondition ?? '';
  $('depth').value = of.options.queue_depth ?? '';
  $('requests').value = of.options.requests ?? '';
  $('seed').value = of.seed;
}
// What a link says.
function recall() {
  try {
    const of = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    if (typeof of.device === 'string' && typeof of.workload === 'string' && Array.isArray(of.set) && typeof of.options === 'object') adopt(of);
  } catch {
    // No link, or one that is cut off: the page begins as it would without.
  }
}

// What waits for the end of a run, or for a stop within it.
let awaited = null;
function settle(outcome) {
  const waits = awaited;
  awaited = null;
  if (waits) waits(outcome);
}
// Runs a plan, or lets the run go on, to a stop or to its end.
function drive(of, stop) {
  $('stop').value = stop;
  if (of) {
    adopt(of);
    startAtOnce = true;
    begin();
  } else go();
  return new Promise(done => { awaited = done; });
}
guide($('guide'), $('tour'), drive);

$('plan').addEventListener('change', async event => {
  if (event.target.id === 'trace') {
    const file = $('trace').files[0];
    try {
      const text = file ? await file.text() : null;
      // Another one may have been chosen while this one was read.
      if (file !== $('trace').files[0]) return;
      trace = file ? { name: file.name, text } : null;
    } catch (error) {
      return fault(`${file.name} can't be read: ${error}\n  remedy: use the program, or a part of the file`);
    }
  }
  begin();
});
window.addEventListener('hashchange', () => { recall(); begin(); });
$('plan').addEventListener('submit', event => event.preventDefault());
$('play').addEventListener('click', () => {
  if (!playing) return go();
  plays(false);
  order('pause');
  state('paused');
  takeAlong();
});
$('step').addEventListener('click', () => { if (facts && !ended) { plays(true); order('play', { speed: null, stopAt: 'anything' }); } });
$('restart').addEventListener('click', begin);
function paced() {
  const now = speed();
  $('pace').textContent = now === null ? 'as fast as it goes' : `${latency(now)} a second`;
  if (playing) order('play', { speed: now, stopAt: stopAt() });
}
$('speed').addEventListener('input', paced);
$('stop').addEventListener('change', paced);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { if (facts) { strip.open(facts); clearCharts(); $('blocks-legend').textContent = ''; charts = []; fresh.series = series !== null; fresh.blocks = blocks !== null; soon(); } });
hire();
