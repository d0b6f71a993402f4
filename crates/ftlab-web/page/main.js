// The page: knobs, the order of time, and what is drawn. The simulator is in a worker (worker.js).
'use strict';
const $ = id => document.getElementById(id);
const TEXT = name => $(name).textContent;
const SLOW_NS = 10e6, LEAST_SPEED = 1e3, SPEEDS = 25;
let worker = null, current = null, playing = false, ended = false, trace = null, waiting = null, run = 0;
// What is known of each drive: one, or two side by side. None before they are open, and after a failure.
let drives = [];
// What came since it was drawn last.
const fresh = { series: false, blocks: false, shares: false };
const seen = name => drives.map(drive => drive[name]);

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
  if (told.failed) failed(told.failed);
  if (told.frame) {
    gather(told.frame, told.memory);
    views(told.frame.drives);
  }
  if (told.views) views(told.views);
  if (told.results) {
    told.results.forEach((of, at) => { drives[at].result = of.text; });
    [ended, fresh.series] = [true, drives.every(drive => drive.series)];
    takeAlong();
    notes(told.results, told.missed);
    soon();
  }
  if (told.rests && drives.length) {
    const [{ series, blocks, result }] = drives;
    settle({ series, blocks, result: result && JSON.parse(result) });
  }
  if (told.dead) {
    plays(false);
    opening = startAtOnce = false;
    drives = [];
    fault(`The simulator stopped: ${told.dead}\n  remedy: a smaller device or trace, or the program itself; this page is ready for another run`);
    state('stopped');
    settle(null);
    hire();
  }
}
function failed(text) {
  plays(false);
  opening = startAtOnce = false;
  // A refused plan has nothing to show, and what stands there is of the run before it.
  if (!drives.length) blank();
  state(drives.length ? 'failed' : 'refused');
  drives = [];
  forget();
  fault(beforehand(text));
  settle(null);
}
function blank() {
  [...strips, ...maps].forEach(one => one.blank());
  plots.clear();
}
// A hidden page draws nothing for long, and must not gather without end.
function gather(frame, memory) {
  const kept = frame.drives.map((one, at) => {
    const before = waiting?.drives[at];
    if (!one || !before) return one ?? before ?? null;
    const join = name => [...before[name], ...one[name]].slice(-strips[at].MOST_SPANS);
    return { ...one, spans: join('spans'), cuts: join('cuts'), left_out: before.left_out + one.left_out };
  });
  waiting = { ...frame, drives: kept, memory };
}
function views(all) {
  all.forEach((of, at) => {
    for (const name of Object.keys(fresh)) if (of?.[name]) [drives[at][name], fresh[name]] = [of[name], true];
  });
  soon();
}

const linesOf = id => $(id).value.split('\n').map(line => line.trim()).filter(line => line && !line.startsWith('#'));
// Knobs that are options of the device.
const KNOBS = { op: 'ftl.over_provisioning', victim: 'ftl.gc.victim', streams: 'ftl.streams.policy', scheduler: 'scheduler.policy', slc: 'ftl.slc_cache.policy' };
// A workload of the page's own knobs, as a file for the program.
const MIX = 'my-mix.toml';
function mix() {
  // What makes no sense is refused by the simulator, and not made to fit.
  const reads = Number($('reads').value) || 0, skew = Number($('skew').value) || 0;
  return ['name = "my-mix"', '', '[[phase]]', 'name = "mixed"', `reads = "${reads}%"`, `writes = "${100 - reads}%"`, `size = "${$('size').value}"`,
    `address = { kind = "zipf", theta = ${skew} }`, 'arrivals = { kind = "closed", queue_depth = 32 }', 'requests = 1_000_000', ''].join('\n');
}
// The knobs of such a file; nothing happens to those that it does not tell.
function unmix(text) {
  const told = { reads: /^reads = "([\d.]+)%"/m, skew: /theta = ([\d.]+)/, size: /^size = "(\w+)"/m };
  Object.entries(told).forEach(([id, pattern]) => { const found = pattern.exec(text); if (found) $(id).value = found[1]; });
}
// Whether an option has a line of its own, which counts more than a knob.
const isLine = key => linesOf('sets').some(line => line.split('=')[0].trim() === key);
// Shows which of the knobs count: a trace takes the place of the workload, and a device file that of the device.
function weigh() {
  const [file, load] = ['file', 'load'].map(id => Boolean($(id).value.trim()));
  $('mix').hidden = Boolean(trace) || load || $('workload').value !== MIX;
  [$('workload').disabled, $('device').disabled, $('trace-remove').hidden] = [Boolean(trace) || load, file, !trace];
  const lines = Object.entries(KNOBS).filter(([, key]) => isLine(key));
  Object.entries(KNOBS).forEach(([id, key]) => { $(id).disabled = isLine(key); });
  const told = [trace ? `The trace ${trace.file.name} is played, and no workload.` : '', load && !trace ? 'The load is that of the workload file below, and no built-in workload.' : '', file ? 'The drive is that of the device file below, and no built-in device.' : '',
    ...lines.map(([, key]) => `Of ${key} the line in "More options" counts, and not the knob.`)];
  $('counts').textContent = told.filter(Boolean).join(' ');
}

// A workload file of one's own takes the place of the others.
const LOAD = 'my-load.toml';
const workload = () => $('load').value.trim() ? { workload: LOAD, workload_text: $('load').value } : ({ workload: $('workload').value, ...($('workload').value === MIX ? { workload_text: mix() } : {}) });
// What to run, as the knobs say.
function plan() {
  const set = Object.entries(KNOBS).filter(([id, key]) => $(id).value.trim() && !isLine(key)).map(([id, key]) => `${key}=${$(id).value.trim()}`);
  set.push(...linesOf('sets'));
  const options = {};
  if ($('precondition').value) options.precondition = $('precondition').value;
  if ($('depth').value) options.queue_depth = $('depth').value;
  if ($('requests').value) options.requests = $('requests').value;
  if ($('cut').value.trim()) options.cut_power = $('cut').value.trim();
  const made = { device: $('device').value, set, options, seed: $('seed').value };
  if (linesOf('beside').length) made.beside = linesOf('beside');
  if ($('file').value.trim()) [made.device, made.device_text] = ['my-drive.toml', $('file').value];
  if (trace) return { ...made, options: { ...options, address: 'fold' }, trace: trace.file.name };
  return { ...made, ...workload() };
}
// The plans of the drives: the second is the first with some options more.
function plansOf({ beside, ...first }) {
  return beside ? [first, { ...first, beside }] : [first];
}
const word = text => /^[\w.,:=%+/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
function command(of) {
  const parts = ['ftlab', 'run', '--device', of.device];
  [...of.set, ...(of.beside ?? [])].forEach(one => parts.push('--set', one));
  parts.push(...(of.trace ? ['--trace', of.trace] : ['--workload', of.workload]));
  Object.entries(of.options).forEach(([name, value]) => parts.push(`--${name.replaceAll('_', '-')}`, value));
  parts.push('--seed', String(of.seed));
  return parts.map(word).join(' ');
}
// `byTour`: whether a tour asks for it; anyone else ends a tour that is under way.
function begin(byTour = false) {
  if (!byTour) tours.leave();
  plays(false);
  fault(null);
  settle(null);
  [waiting, ended, drives] = [null, false, []];
  for (const name of Object.keys(fresh)) fresh[name] = false;
  state('');
  $('tiles').textContent = '';
  forget();
  weigh();
  run += 1;
  opening = true;
  current = plan();
  address();
  if (trace) state(`reading ${trace.file.name} …`);
  order('open', { run, plans: plansOf(current), trace });
}
// Nothing of an earlier run is left to be taken along.
function forget() {
  $('command').textContent = $('files').textContent = '';
  $('along').hidden = true;
  notes([]);
}
function opened(facts) {
  opening = false;
  drives = facts.map(of => ({ facts: of, series: null, blocks: null, shares: null, result: null }));
  $('beside-strip').hidden = $('beside-blocks').hidden = drives.length < 2;
  drives.forEach((drive, at) => strips[at].open(drive.facts));
  plots.clear();
  takeAlong();
  warnings = [...new Set(facts.flatMap(of => of.warnings))].join('\n');
  fault(beforehand(warnings));
  state('ready');
  if (startAtOnce) { startAtOnce = false; go(); }
}
// Whether a run is being opened, which takes a while with a trace; and whether it starts once it is.
let opening = false, startAtOnce = false;
// What the simulator says of the drives.
let warnings = '';
function go(byTour = false) {
  if (opening && !byTour) {
    startAtOnce = true;
    return;
  }
  if (!drives.length || ended) {
    startAtOnce = true;
    return begin(byTour);
  }
  // What was wrong with a link is no news any more.
  fault(warnings);
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
const strips = [stripOf($('strip'), $('strip-legend'), $('strip-about')), stripOf($('strip-second'), $('strip-legend'), $('strip-second-about'))];
const maps = [blocksOf($('blocks'), $('blocks-legend'), $('blocks-about')), blocksOf($('blocks-second'), $('blocks-legend'), $('blocks-second-about'))];
const plots = plotsOf($('time'), $('time-about'));
function draw() {
  if (!drives.length) return;
  if (waiting) {
    const frame = waiting;
    waiting = null;
    frame.drives.forEach((one, at) => { if (one) { drives[at].frame = one; strips[at].add(one, speed()); } });
    tiles(frame.memory);
    if (frame.ended) { plays(false); state('ended'); }
    else if (frame.stopped) { plays(false); state(frame.stoppedAt === 'anything' ? 'one step' : `stopped: ${$('stop').selectedOptions[0].textContent}`); takeAlong(); }
    else if (playing) state(frame.behind && speed() !== null ? 'the simulator is slower than that' : seen('frame').findLast(one => one && !one.ended)?.doing ?? '');
  }
  if (fresh.series && drives.every(drive => drive.series)) {
    fresh.series = false;
    plots.show(seen('series'), ended, seen('frame').every(frame => frame?.host.measured), besideCache());
  }
  if (fresh.blocks) {
    fresh.blocks = false;
    drives.forEach((drive, at) => { if (drive.blocks) maps[at].show(drive.blocks, drive.facts); });
  }
  if (fresh.shares) {
    fresh.shares = false;
    drives.forEach((drive, at) => { if (drive.shares) strips[at].share(drive.shares); });
  }
  // Two drives have one axis of time.
  if (drives.length > 1) {
    const furthest = Math.max(...strips.map(strip => strip.end()));
    const going = drives.findIndex(drive => drive.frame && !drive.frame.ended);
    const detail = strips[Math.max(going, 0)].detailed();
    drives.forEach((drive, at) => strips[at].beside(furthest, detail, Boolean(drive.frame?.ended)));
  }
}
// Blocks of the SLC cache's own are free blocks in the map, and not in what is counted.
const besideCache = () => seen('facts').some(facts => facts.slc_blocks > 0) ? ' outside the SLC cache' : '';
// A rate from the first request of the phase to the last completion; one request has none.
const over = (count, host, factor) => host.requests > 1 && host.duration_ns ? count / host.duration_ns * factor : null;
// What a tile shows of a frame, and where it is shown at all. The ratio of two drives is told where it is one.
const TILES = [
  ['Simulated time', frame => frame.now_ns, latency],
  ['Phase', frame => frame.host.phase || frame.doing, text => text],
  ['Requests', ({ host }) => host.requests, count => count.toLocaleString('en')],
  ['Requests a second', ({ host }) => over(host.requests, host, 1e9), rate => Math.round(rate).toLocaleString('en')],
  ...['read', 'write'].map(op => [`${op === 'read' ? 'Read' : 'Write'} MB/s`, ({ host }) => over(host[op].bytes, host, 1e3), digits]),
  ...['read', 'write'].flatMap(op => [['p50', 'p50_ns'], ['p99', 'p99_ns'], ['p99.9', 'p999_ns']].map(([name, field]) => [`${op === 'read' ? 'Read' : 'Write'} ${name}`, ({ host }) => host[op][field], latency])),
  ['Write amplification', ({ host }) => host.write_amplification_ratio, value => value.toFixed(3)],
  ['Free blocks, fewest', ({ levels }) => levels?.free_blocks, String],
  ['Pages in the buffer', ({ levels }) => levels?.buffered_pages, String, ({ facts }) => facts.buffer],
  ['Collections', ({ host }) => host.collections, count => count.toLocaleString('en')],
  ['Merges', ({ host }) => host.merges, count => count.toLocaleString('en'), ({ frame }) => frame?.host.merges > 0],
];
function tiles(memory) {
  const frames = seen('frame').filter(Boolean);
  const told = TILES.filter(([, , , where]) => !where || drives.some(where)).map(([name, take, show]) => {
    const [first, second] = frames.map(take);
    const ratio = typeof second === 'number' && first > 0 ? `×${(second / first).toPrecision(3)}` : '';
    return [name === 'Free blocks, fewest' ? name + besideCache() : name, shown(first, show), frames.length > 1 ? `beside ${shown(second, show)} ${ratio}` : ''];
  });
  told.push(['Memory taken', `${Math.round(memory / 1e6)} MB`, 'the most since the page was opened']);
  const place = $('tiles');
  told.forEach((texts, at) => {
    const tile = place.children[at] ?? el('div', place);
    if (!tile.firstChild) { el('span', tile); el('b', tile); el('span', tile, 'small'); }
    texts.forEach((text, line) => { if (tile.children[line].textContent !== text) tile.children[line].textContent = text; });
  });
  while (place.childElementCount > told.length) place.lastChild.remove();
}

// What a reader of the figures needs to know, as the program tells it at the end.
// What came of power cuts; nothing where power was never cut.
function ofCuts({ power_cuts: of }) {
  if (!of?.cuts.length) return [];
  const told = [[of.lost_pages_mean, 'pages lost', value => value.toFixed(1)], [of.recovery_mean_ns, 'for recovery', latency], [of.hold_up_mean_ns, 'on capacitors', latency]];
  const means = told.filter(([value]) => value !== null && value !== undefined).map(([value, words, show]) => `${show(value)} ${words}`);
  return [`Power was cut ${of.cuts.length.toLocaleString('en')} ${of.cuts.length > 1 ? 'times' : 'time'}. The mean of the cuts: ${means.join(', ')}.`];
}
// `missed`: whether the run should have stopped at something that did not happen.
function notes(results, missed) {
  const place = $('notes');
  place.textContent = '';
  place.hidden = !results.length;
  const until = missed ? [`Until "${$('stop').selectedOptions[0].textContent}": from where the run went on last to its end, that did not happen.`] : [];
  const told = results.map(of => [...until, ...ofCuts(JSON.parse(of.text)), ...of.notes, ...of.warnings.map(text => `Warning: ${text}.`), ...of.assumed.map(text => `Assumed: ${text}.`)]);
  const same = told.length > 1 && told[0].join('\n') === told[1].join('\n');
  told.slice(0, same ? 1 : 2).forEach((texts, at) => {
    el('h2', place, '', same ? 'Notes on both drives' : at ? 'Notes on the drive beside it' : 'Notes');
    const list = el('ul', place);
    texts.forEach(text => el('li', list, '', text));
  });
}
// The address of the page is a link to what it shows. Of a trace it has only the name, to ask for it.
function address() {
  if (!current) return;
  const { address: _, ...options } = current.options;
  const short = current.trace ? { ...current, ...workload(), options } : current;
  const more = { pace: Number($('speed').value), stop: $('stop').value, tour: $('tour').value };
  for (const [name, usual] of [['pace', SPEEDS], ['stop', ''], ['tour', '']]) if (more[name] === usual) delete more[name];
  history.replaceState(null, '', `#${encodeURIComponent(JSON.stringify({ ...short, ...more }))}`);
  const link = document.getElementById('link');
  if (link) link.href = location.href;
}
// The command, the link and the files.
function takeAlong() {
  const of = current;
  const plans = plansOf(of);
  $('command').textContent = plans.map(command).join('\n');
  const files = $('files');
  files.textContent = '';
  $('along').hidden = false;
  if (of.trace) el('span', files, 'small', 'No link: it would have to hold the trace.');
  else el('a', files, 'download', 'Link').id = 'link';
  address();
  if (of.workload_text) download(files, 'Workload file', of.workload, 'text/plain', () => of.workload_text);
  drives.forEach(({ facts, series, result }, at) => {
    const [name, tail] = at ? [', beside', '-beside'] : ['', ''];
    download(files, `Device file${name}`, of.device_text && !at ? of.device : `${of.device.replace(/\.toml$/, '')}${tail}.toml`, 'text/plain', () => facts.device_file);
    const columns = PLOTS.flatMap(plot => plot.lines.map(([, column]) => column));
    if (series) download(files, `CSV${name}`, `over-time${tail}.csv`, 'text/csv', () => csv(['start_ns', ...columns], [series.start_ns, ...columns.map(column => series[column])]));
    if (result) download(files, `Result${name}`, `result${tail}.json`, 'application/json', () => result);
  });
}

function offers(catalog) {
  if (!$('device').length) {
    const fill = (id, names, first) => {
      if (first !== undefined) $(id).append(new Option(first, ''));
      names.forEach(([name, about]) => { const option = new Option(name, name); option.title = about ?? ''; $(id).append(option); });
    };
    fill('device', catalog.devices.map(one => [one.name, one.description]));
    Object.entries(catalog.too_large).forEach(([name, needs]) => { [...$('device').options].find(one => one.value === name).text = `${name}: too large for a page (${needs})`; });
    fill('workload', catalog.workloads.map(one => [one.name, one.doc]));
    $('workload').prepend(new Option('a mix of my own', MIX));
    const policies = option => catalog.policies.find(one => one.option === option).policies.map(one => [one.name, one.doc]);
    fill('victim', policies('ftl.gc.victim'), 'as it is');
    fill('streams', policies('ftl.streams.policy'), 'as it is');
    fill('scheduler', policies('scheduler.policy'), 'as it is');
    fill('slc', policies('ftl.slc_cache.policy'), 'as it is');
    [$('device').value, $('workload').value] = ['tlc-32g', 'mixed-70-30-zipf'];
    follow();
  }
}
// Sets a knob, also to what it does not offer: then the library says what is wrong with it.
function turn(id, value) {
  const knob = $(id);
  if (knob.options && ![...knob.options].some(one => one.value === value)) knob.append(new Option(value, value));
  knob.value = value;
}
// Sets the knobs to a plan.
function adopt(of) {
  $('file').value = of.device_text ?? '';
  if (!of.device_text) turn('device', of.device);
  $('load').value = of.workload === LOAD ? of.workload_text ?? '' : '';
  // Without its text it is none that the library knows, which is told.
  if (of.workload !== LOAD || !of.workload_text) turn('workload', of.workload);
  if (of.workload === MIX) unmix(of.workload_text ?? '');
  for (const id of Object.keys(KNOBS)) $(id).value = '';
  [trace, $('trace').value] = [null, ''];
  const others = of.set.filter(one => {
    const [key, ...value] = one.split('='), knob = Object.keys(KNOBS).find(id => KNOBS[id] === key);
    if (knob) turn(knob, value.join('='));
    return !knob;
  });
  $('sets').value = others.join('\n');
  $('beside').value = (of.beside ?? []).join('\n');
  turn('precondition', of.options.precondition ?? '');
  $('depth').value = of.options.queue_depth ?? '';
  $('requests').value = of.options.requests ?? '';
  $('cut').value = of.options.cut_power ?? '';
  $('seed').value = of.seed;
}
// Shows what is written in the boxes.
function unfold() {
  for (const id of ['sets', 'file', 'load', 'beside']) if ($(id).value.trim()) $(id).closest('details').open = true;
}
// What went wrong before a run was opened, to be told with what is wrong with the run.
let complaint = '';
function beforehand(text) {
  const told = complaint + text;
  complaint = '';
  return told;
}
// Does what a link says.
function follow() {
  const more = recall();
  if (Number.isInteger(more.pace) && more.pace >= 0 && more.pace <= SPEEDS) $('speed').value = more.pace;
  for (const id of ['stop', 'tour']) if ([...$(id).options].some(one => one.value === more[id])) $(id).value = more[id];
  paced();
  tours.choose();
  begin();
}
// Sets the knobs to a link, and returns what else it tells.
function recall() {
  complaint = location.hash.length > 1 ? 'The link can\'t be read, so the knobs stay as they are\n  remedy: copy the whole link\n' : '';
  try {
    const { pace, stop, tour, trace: file, ...of } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    const areTexts = list => Array.isArray(list) && list.every(one => typeof one === 'string');
    if (typeof of.device === 'string' && typeof of.workload === 'string' && areTexts(of.set) && areTexts(of.beside ?? []) && typeof of.options === 'object' && of.options) {
      adopt(of);
      unfold();
      complaint = typeof file === 'string' ? `The trace ${file} is not part of an address: this is the workload ${of.workload}, with the other knobs\n  remedy: choose the trace again\n` : '';
      return { pace: pace ?? SPEEDS, stop: stop ?? '', tour: tour ?? '' };
    }
  } catch {
    // No link, or one that is cut off: the page begins as it would without.
  }
  return {};
}

// What waits for the end of a run, or for a stop within it.
let awaited = null;
function settle(outcome) {
  const waits = awaited;
  awaited = null;
  if (waits) waits(outcome);
}
// Runs a plan, or lets the run go on, to a stop or to its end; at a pace, which can last for some seconds.
function drive(of, stop, slow) {
  $('stop').value = stop;
  if (slow) $('speed').value = slow.pace;
  paced();
  if (of) {
    adopt(of);
    startAtOnce = true;
    begin(true);
  } else go(true);
  return new Promise(done => {
    awaited = done;
    const hurry = () => { if (awaited === done && playing && Number($('speed').value) === slow.pace) { $('speed').value = SPEEDS; turned(); } };
    if (slow?.lastsS) setTimeout(hurry, slow.lastsS * 1000);
  });
}
const tours = guide($('guide'), $('tour'), $('what'), drive);

// The worker reads it, and knows it again by its number.
let traces = 0;
function take(file) {
  traces += 1;
  trace = file ? { file, number: traces } : null;
}
$('plan').addEventListener('change', event => {
  if (event.target.id === 'trace') take($('trace').files[0]);
  begin();
});
// A file that is dropped on the page: a device or workload file by its name and what is in it, or else a trace.
async function dropped(file) {
  if (!/\.toml$/i.test(file.name)) {
    const held = new DataTransfer();
    held.items.add(file);
    $('trace').files = held.files;
    return take(file);
  }
  const text = await file.text();
  const isLoad = /^\s*(\[\[\s*phase\s*\]\]|phase\s*=)/m.test(text);
  $(isLoad ? 'load' : 'file').value = text;
  // It would take the place of the load.
  if (isLoad) [trace, $('trace').value] = [null, ''];
  unfold();
}
const holdsFiles = event => event.dataTransfer.types.includes('Files');
const hovers = yes => document.body.classList.toggle('hovered', yes);
window.addEventListener('dragover', event => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  hovers(true);
});
window.addEventListener('dragleave', event => { if (!event.relatedTarget) hovers(false); });
window.addEventListener('drop', async event => {
  if (!holdsFiles(event)) return;
  event.preventDefault();
  hovers(false);
  for (const file of [...event.dataTransfer.files]) {
    try { await dropped(file); } catch (error) { complaint += `${file.name} can't be read: ${error.message}\n  remedy: choose another file\n`; }
  }
  begin();
});
$('trace-remove').addEventListener('click', () => {
  [trace, $('trace').value] = [null, ''];
  begin();
  $('trace').focus();
});
window.addEventListener('hashchange', follow);
$('tour').addEventListener('change', () => { tours.choose(); address(); });
$('plan').addEventListener('submit', event => event.preventDefault());
$('play').addEventListener('click', () => {
  if (!playing) return go();
  plays(false);
  order('pause');
  state('paused');
  takeAlong();
});
$('step').addEventListener('click', () => { if (drives.length && !ended) { plays(true); order('play', { speed: null, stopAt: 'anything' }); } });
$('restart').addEventListener('click', () => begin());
function paced() {
  const now = speed();
  $('pace').textContent = now === null ? 'as fast as it goes' : `${latency(now)} a second`;
  if (playing) order('play', { speed: now, stopAt: stopAt() });
}
function turned() {
  paced();
  address();
}
$('speed').addEventListener('input', turned);
$('stop').addEventListener('change', turned);
window.addEventListener('resize', () => { fresh.blocks = true; soon(); });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  drives.forEach((drive, at) => { strips[at].open(drive.facts); maps[at].clear(); });
  plots.clear();
  for (const name of Object.keys(fresh)) fresh[name] = true;
  soon();
});
hire();
