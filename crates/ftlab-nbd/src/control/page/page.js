// The live page of a drive: asks the server each second, draws what it tells, and sends orders.
'use strict';
const PERIOD_MS = 1000, PATIENCE_MS = 5000, SURE_MS = 4000, MOST_SAMPLES = 600, LEAST_SPAN_S = 60, MOST_ROOMY_DIES = 128;
const $ = id => document.getElementById(id);
function el(tag, parent, cls, text) {
  const made = document.createElement(tag);
  if (cls) made.className = cls;
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}
function svg(tag, parent, attributes, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}
// Changes a text only if it differs, so that selections and screen readers are left in peace.
const say = (where, text) => { if (where.textContent !== text) where.textContent = text; };

// Numbers with three significant digits, or all digits before the point, and the largest unit that fits.
const digits = value => value.toFixed(value === 0 ? 0 : Math.abs(value) < 9.995 ? 2 : Math.abs(value) < 99.95 ? 1 : 0);
function scaled(value, units) {
  let at = 0;
  while (Math.abs(value) >= 999.5 && at + 1 < units.length) { value /= 1000; at += 1; }
  return `${at === 0 && Number.isInteger(value) ? value : digits(value)} ${units[at]}`.trim();
}
const DASH = '–';
const known = (value, show) => value === null || value === undefined ? DASH : show(value);
const bytes = value => scaled(value, ['B', 'kB', 'MB', 'GB', 'TB', 'PB']);
const rate = value => scaled(value, ['B/s', 'kB/s', 'MB/s', 'GB/s']);
const time = ns => scaled(ns, ['ns', 'µs', 'ms', 's']);
const iops = value => scaled(Math.round(value), ['', 'k', 'M']);
const count = value => value.toLocaleString('en');
const share = value => `${(100 * value).toFixed(1)} %`;
function longTime(ns) {
  const s = Math.floor(ns / 1e9), m = Math.floor(s / 60), h = Math.floor(m / 60), d = Math.floor(h / 24);
  return d ? `${d} d ${h % 24} h` : h ? `${h} h ${m % 60} min` : m ? `${m} min ${s % 60} s` : time(ns);
}

// What is known.
let reading = null, samples = [], lostSince = null, cursor = null;
const sampleAt = () => samples.find(sample => sample.number === cursor) ?? samples.at(-1);

// Steps of 1, 2 and 5 times a power of ten.
const nice = value => {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 5, 10].find(step => step * power >= value * 0.9999);
};
// The ticks of an axis from zero, and of one of equal ratios.
function evenTicks(most) {
  const step = nice(most / 3);
  return Array.from({ length: Math.ceil(most / step - 1e-9) + 1 }, (_, at) => at * step);
}
function ratioTicks(least, most) {
  const low = Math.floor(Math.log10(least)), high = Math.max(low + 1, Math.ceil(Math.log10(most)));
  const steps = high - low > 2 ? [1] : [1, 2, 5], all = [];
  for (let power = low; power <= high; power += 1) steps.forEach(step => all.push(step * 10 ** power));
  const from = all.findLastIndex(tick => tick <= least * 1.0001), to = all.findIndex(tick => tick >= most * 0.9999);
  return all.slice(Math.max(0, from), Math.max(to, from + 1) + 1);
}

const LEFT = 62, RIGHT = 8, TOP = 8, BOTTOM = 22, HEIGHT = 170;
// A chart of samples. `series`: name, of (a sample's value or null), at (its colour), dash. `ratio`: equal ratios, not differences.
function chart(title, show, series, { ratio = false, least = 0 } = {}) {
  const place = el('figure', $('charts'), 'chart');
  const name = el('h3', place, '', title), legend = el('div', place, 'legend');
  const values = series.map(one => {
    const entry = el('span', legend), swatch = svg('svg', entry, { viewBox: '0 0 26 8', 'aria-hidden': true });
    svg('path', swatch, { d: 'M0 4h26', class: `curve s${one.at} d${one.dash ?? 0}` });
    entry.append(one.name + ' ');
    return el('b', entry);
  });
  const picture = svg('svg', place, { role: 'img', tabindex: 0, 'aria-label': `${name.textContent} over time` });
  const point = event => {
    const box = picture.getBoundingClientRect(), shown = domain();
    const at = shown.from + (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT) * (shown.to - shown.from);
    const near = samples.reduce((best, one) => !best || Math.abs(one.at_ns - at) < Math.abs(best.at_ns - at) ? one : best, null);
    cursor = near && near.number;
    drawCharts();
  };
  picture.addEventListener('pointermove', point);
  picture.addEventListener('pointerdown', point);
  picture.addEventListener('pointerleave', () => { cursor = null; drawCharts(); });
  picture.addEventListener('blur', () => { cursor = null; drawCharts(); });
  picture.addEventListener('keydown', event => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -MOST_SAMPLES, End: MOST_SAMPLES }[event.key];
    if (event.key === 'Escape') cursor = null;
    else if (step === undefined || !samples.length) return;
    else cursor = Math.min(Math.max(sampleAt().number + step, samples[0].number), samples.at(-1).number);
    event.preventDefault();
    drawCharts();
  });
  const draw = () => {
    const now = sampleAt();
    series.forEach((one, at) => say(values[at], known(now && one.of(now), show)));
    drawChart(picture, series, show, ratio, least);
  };
  return { place, draw };
}
// The time that is shown: it grows from one minute to ten.
function domain() {
  const to = samples.at(-1)?.at_ns ?? 0, age = (to - (samples[0]?.at_ns ?? 0)) / 1e9;
  return { from: to - Math.max(LEAST_SPAN_S, Math.ceil(age / 60) * 60) * 1e9, to };
}
function drawChart(picture, series, show, ratio, least) {
  picture.replaceChildren();
  const width = picture.clientWidth, { from, to } = domain(), bottom = HEIGHT - BOTTOM;
  picture.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
  const all = series.flatMap(one => samples.map(one.of)).filter(value => Number.isFinite(value) && (!ratio || value > 0));
  const most = Math.max(least, ...all);
  const ticks = !ratio ? evenTicks(most || 1) : all.length ? ratioTicks(Math.min(...all), most) : [1e4, 1e5, 1e6];
  const scale = ratio ? Math.log10 : value => value, low = scale(ticks[0]), high = scale(ticks.at(-1));
  const x = at => LEFT + (at - from) / (to - from) * (width - LEFT - RIGHT);
  const y = value => bottom - (scale(Math.max(value, ratio ? ticks[0] : 0)) - low) / (high - low) * (bottom - TOP);
  ticks.forEach(tick => {
    svg('path', picture, { class: 'grid', d: `M${LEFT} ${y(tick).toFixed(1)}H${width - RIGHT}` });
    svg('text', picture, { x: LEFT - 6, y: (y(tick) + 4).toFixed(1), 'text-anchor': 'end' }, show(tick).replace(/\.0+(?=\D|$)|(\.\d*?)0+(?=\D|$)/, '$1'));
  });
  const minutes = (to - from) / 60e9, step = minutes > 5 ? 2 : minutes > 2 ? 1 : minutes > 1 ? 0.5 : 0.25;
  for (let ago = 0; ago <= minutes; ago += step) {
    const label = ago === 0 ? 'now' : step < 1 ? `${DASH}${ago * 60} s` : `${DASH}${ago} min`;
    svg('text', picture, { x: x(to - ago * 60e9).toFixed(1), y: HEIGHT - 5, 'text-anchor': ago === 0 ? 'end' : 'middle' }, label);
  }
  const cuts = samples.filter(one => one.cuts > 0).map(one => `M${x(one.at_ns).toFixed(1)} ${TOP}V${bottom}`).join('');
  if (cuts) svg('path', picture, { class: 'cut', d: cuts });
  series.forEach(one => {
    const runs = runsOf(one.of).map(run => run.map(([at, value]) => `${x(at).toFixed(1)} ${y(value).toFixed(1)}`));
    const line = runs.map(run => `M${run.join('L')}${run.length === 1 ? 'h0.1' : ''}`).join('');
    const area = runs.map(run => `M${run[0].split(' ')[0]} ${bottom}L${run.join('L')}V${bottom}Z`).join('');
    if (!ratio) svg('path', picture, { class: `area s${one.at}`, d: area });
    svg('path', picture, { class: `curve s${one.at} d${one.dash ?? 0}`, 'stroke-linecap': 'round', d: line });
  });
  const marked = cursor && samples.find(sample => sample.number === cursor);
  if (marked) svg('path', picture, { class: 'cursor', d: `M${x(marked.at_ns).toFixed(1)} ${TOP}V${bottom}` });
}
// Pieces of a curve between samples without a value.
function runsOf(of) {
  const runs = [];
  let before = null;
  samples.forEach(one => {
    const value = of(one);
    if (!Number.isFinite(value)) { before = null; return; }
    if (before !== one.number - 1) runs.push([]);
    runs.at(-1).push([one.at_ns, value]);
    before = one.number;
  });
  return runs;
}
const latencies = kind => [['p50_ns', 'p50', 2, 0], ['p99_ns', 'p99', 0, 1], ['p999_ns', 'p99.9', 3, 2]]
  .map(([key, name, at, dash]) => ({ name, of: one => one[kind]?.[key], at, dash }));
const pair = (read, write) => [{ name: 'read', of: one => one[read], at: 0 }, { name: 'write', of: one => one[write], at: 1, dash: 1 }];
const charts = [
  chart('Throughput', rate, pair('read_bytes_per_s', 'written_bytes_per_s')),
  chart('Requests a second', iops, pair('reads_per_s', 'writes_per_s')),
  chart('Write amplification of each second', digits, [{ name: 'flash / host', of: one => one.write_amplification, at: 2 }], { least: 2 }),
  chart('Read latency', time, latencies('read'), { ratio: true }),
  chart('Write latency', time, latencies('write'), { ratio: true }),
  chart('Free blocks of a plane', digits, [{ name: 'mean', of: one => one.free_blocks_mean, at: 2 }, { name: 'least', of: one => one.free_blocks_min, at: 3, dash: 1 }], { least: 2 }),
];
let drawn = false;
function drawCharts() {
  if (drawn) return;
  drawn = true;
  requestAnimationFrame(() => { drawn = false; charts.forEach(one => one.draw()); });
}

const tiles = [
  ['Read', 'read'], ['Write', 'write'], ['Read p99', 'read'], ['Write p99', 'write'],
  ['Write amplification', 'flash'], ['Free blocks, least', 'flash'], ['Dies busy', 'flash'], ['Life used', 'life'],
].map(([name, cls]) => {
  const tile = el('div', $('tiles'), cls);
  el('span', tile, '', name);
  return { value: el('b', tile, '', DASH), more: el('span', tile, '', '\u00a0') };
});
function drawTiles() {
  const now = samples.at(-1), { flash, dies, smart, window_latencies: { read, write } } = reading;
  const of = latency => latency.simulated.count ? time(latency.simulated.p99_ns) : DASH;
  const most = latency => latency.simulated.count ? `max ${time(latency.simulated.max_ns)}` : 'none now';
  const busy = dies.reduce((sum, die) => sum + die.utilisation, 0) / Math.max(dies.length, 1);
  [
    [known(now?.read_bytes_per_s, rate), `${known(now?.reads_per_s, iops)} IOPS`],
    [known(now?.written_bytes_per_s, rate), `${known(now?.writes_per_s, iops)} IOPS`],
    [of(read), most(read)],
    [of(write), most(write)],
    [known(flash.write_amplification, digits), `now ${known(now?.write_amplification, digits)}`],
    [count(flash.free_blocks_min), `mean ${digits(flash.free_blocks_mean)} a plane`],
    [share(busy), `${dies.reduce((sum, die) => sum + die.queued, 0)} commands wait`],
    [known(smart.percentage_used, used => `${used.toFixed(1)} %`), `spare ${known(smart.available_spare_percent, left => `${left.toFixed(0)} %`)}`],
  ].forEach(([value, more], at) => { say(tiles[at].value, value); say(tiles[at].more, more); });
}

const WORDS = { idle: 'idle', read: 'read', program: 'prog', erase: 'erase', suspended: 'susp', dead: 'dead' };
let cells = [];
function buildDies() {
  const place = $('dies'), channels = new Map();
  place.replaceChildren();
  place.classList.toggle('compact', reading.dies.length > MOST_ROOMY_DIES);
  cells = reading.dies.map((die, at) => {
    if (!channels.has(die.channel)) {
      const row = el('div', place, 'channel');
      el('span', row, '', `ch ${die.channel}`);
      channels.set(die.channel, el('div', row, 'cells'));
    }
    const button = el('button', channels.get(die.channel), 'die');
    button.type = 'button';
    button.addEventListener('click', () => { $('die').value = at; drawDies(); });
    el('b', button, '', at);
    return { button, word: el('i', button), more: el('span', button), bar: el('em', button) };
  });
  $('die').max = Math.max(0, cells.length - 1);
}
function drawDies() {
  if (cells.length !== reading.dies.length) buildDies();
  const counts = {};
  reading.dies.forEach((die, at) => {
    const { button, word, more, bar } = cells[at];
    counts[die.state] = (counts[die.state] ?? 0) + 1;
    button.className = `die ${die.state}`;
    button.setAttribute('aria-pressed', $('die').valueAsNumber === at);
    say(word, WORDS[die.state]);
    say(more, die.state === 'dead' ? '\u00a0' : `${Math.round(100 * die.utilisation)} %${die.queued ? ` +${die.queued}` : ''}`);
    bar.style.width = `${100 * die.utilisation}%`;
    button.title = `Die ${at} on channel ${die.channel}: ${die.state}, ${share(die.utilisation)} busy, ${die.queued} waiting, `
      + `${die.erases_min} to ${die.erases_max} erases (mean ${digits(die.erases_mean)})`;
    button.setAttribute('aria-label', button.title);
  });
  const now = Object.entries(counts).map(([state, number]) => `${number} ${state}`).join(', ');
  say($('dies-told'), `Now: ${now || 'none'}. Bar and percent: busy in the last second; +n: commands that wait. A click chooses the die to kill.`);
}

// Dark is little wear in both schemes; all colours stand out from that of bad blocks.
const HEAT = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function heat(part) {
  const at = Math.min(Math.max(part, 0), 1) * (HEAT.length - 1), low = Math.min(Math.floor(at), HEAT.length - 2);
  return HEAT[low].map((value, channel) => Math.round(value + (HEAT[low + 1][channel] - value) * (at - low)));
}
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const wearRows = () => reading.dies.flatMap((die, at) => die.planes.map((cells, plane) => ({ die: at, plane, cells })));
// Where the pointer or the keys are, as row and column.
let wearAt = null;
function drawWear() {
  const rows = wearRows(), canvas = $('wear'), columns = Math.max(1, ...rows.map(row => row.cells.length));
  const known = rows.flatMap(row => row.cells).filter(value => value !== null);
  const low = known.length ? Math.min(...known) : 0, high = known.length ? Math.max(...known) : 0;
  const image = new ImageData(columns, Math.max(1, rows.length)), bad = css('--v6');
  const badColour = [1, 3, 5].map(at => parseInt(bad.slice(at, at + 2), 16));
  rows.forEach((row, y) => row.cells.forEach((value, x) => {
    image.data.set([...(value === null ? badColour : heat((value - low) / (high - low || 1))), 255], 4 * (y * columns + x));
  }));
  [canvas.width, canvas.height] = [image.width, image.height];
  canvas.getContext('2d').putImageData(image, 0, 0);
  canvas.style.height = `${Math.min(Math.max(rows.length * 12, 24), Math.max(320, Math.min(rows.length * 3, 900)))}px`;
  labelDies();
  say($('wear-low'), `${low} erases`);
  const rated = reading.smart.rated_erases;
  say($('wear-high'), `${high}${rated ? `; rated for ${count(rated)}` : ''}`);
  tellWear();
}
// Names of some dies beside their rows.
function labelDies() {
  const place = $('map'), dies = reading.dies, step = Math.ceil(dies.length / 8), rows = dies.reduce((sum, die) => sum + die.planes.length, 0);
  place.querySelectorAll('span').forEach(one => one.remove());
  let row = 0;
  dies.forEach((die, at) => {
    if (at % step === 0) el('span', place, '', `die ${at}`).style.top = `${100 * row / rows}%`;
    row += die.planes.length;
  });
}
function tellWear() {
  const row = wearAt && wearRows()[wearAt[0]], value = row?.cells[wearAt[1]];
  if (value === undefined) { say($('wear-told'), 'Point at the map, or focus it and use the arrow keys, to read it.'); return; }
  const block = Math.floor(wearAt[1] * reading.device.blocks_per_plane / row.cells.length);
  say($('wear-told'), `Die ${row.die}, plane ${row.plane}, near block ${block}: ${value === null ? 'bad blocks' : `${value} erases on average`}`);
}
function watchWear() {
  const canvas = $('wear');
  canvas.addEventListener('pointermove', event => {
    const box = canvas.getBoundingClientRect();
    wearAt = [Math.floor((event.clientY - box.top) / box.height * canvas.height), Math.floor((event.clientX - box.left) / box.width * canvas.width)];
    if (reading) tellWear();
  });
  canvas.addEventListener('keydown', event => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || !reading) return;
    event.preventDefault();
    const limits = [canvas.height, canvas.width];
    wearAt = (wearAt ?? [0, 0]).map((at, axis) => Math.min(Math.max(at + step[axis], 0), limits[axis] - 1));
    tellWear();
  });
  const scale = $('wear-scale').getContext('2d');
  for (let x = 0; x < 256; x += 1) { scale.fillStyle = `rgb(${heat(x / 255)})`; scale.fillRect(x, 0, 1, 1); }
}

// Fills a table: rows of a name and values. A row may be followed by its class.
function fill(id, rows) {
  const body = $(id).querySelector('tbody');
  rows.forEach(([name, values, cls = ''], at) => {
    const row = body.rows[at] ?? el('tr', body);
    row.className = cls;
    if (!row.firstChild) el('th', row).scope = 'row';
    say(row.firstChild, name);
    [values].flat().forEach((value, at) => say(row.cells[at + 1] ?? el('td', row), value));
  });
  while (body.rows.length > rows.length) body.lastChild.remove();
}
const QUANTILES = ['p50_ns', 'p90_ns', 'p99_ns', 'p999_ns', 'max_ns'];
function drawTables() {
  const { device, host, flash, smart, power, policy } = reading;
  const alarm = bad => bad ? 'alarm' : '';
  const times = found => [count(found.count), ...QUANTILES.map(key => found.count ? time(found[key]) : DASH)];
  fill('latency', Object.entries(reading.latencies).flatMap(([kind, found]) => [[kind, times(found.simulated)], ['late', times(found.late), 'late']]));
  fill('smart', [
    ['Written by the host', bytes(smart.host_bytes_written)], ['Written to flash', bytes(smart.media_bytes_written)],
    ['Life used', known(smart.percentage_used, used => `${used.toFixed(2)} %`), alarm(smart.percentage_used >= 100)],
    ['Available spare', known(smart.available_spare_percent, left => `${left.toFixed(1)} %`), alarm(smart.available_spare_percent !== null && smart.available_spare_percent <= 0)],
    ['Grown bad blocks', known(smart.grown_bad_blocks, count)], ['Media errors', count(smart.media_errors), alarm(smart.media_errors > 0)],
    ['Power cycles', count(smart.power_cycles)], ['Unsafe shutdowns', count(smart.unsafe_shutdowns)],
    ['Time with power', longTime(smart.power_on_time_ns)], ['End of life', smart.end_of_life ? 'yes: no more writes' : 'no', alarm(smart.end_of_life)],
  ]);
  const programmed = flash.programs.reduce((sum, one) => sum + one.pages, 0);
  fill('flash', [
    ['Pages programmed', [count(programmed), '']],
    ...flash.programs.map(one => [`for ${one.origin}`, [count(one.pages), share(one.pages / (programmed || 1))], 'late']),
    ['Pages read', [count(flash.reads), '']], ['Blocks erased', [count(flash.erases), '']],
    ['Valid pages', [known(flash.valid_share, share), '']],
  ]);
  fill('power', [
    ['Power', power.on ? 'on' : 'cut', alarm(!power.on)], ['Cuts', count(power.cuts)],
    ['Last recovery', known(power.last_recovery_ns, time)],
    ['Pages lost by the last cut', known(power.last_lost_pages, count)], ['Pages lost by all cuts', count(power.lost_pages)],
    ['Cut every', known(power.cut_every_ms, ms => time(ms * 1e6))], ['Next cut in', known(power.next_cut_in_ns, time)],
    ['Recovery', known(policy.recovery, text => text)], ['Volatile cache', known(policy.volatile_cache, on => on ? 'yes' : 'no')],
  ]);
  fill('host', [
    ['Reads', [count(host.reads), bytes(host.read_bytes)]], ['Writes', [count(host.writes), bytes(host.written_bytes)]],
    ['Flushes', [count(host.flushes), '']], ['Trims', [count(host.trims), '']], ['Writes of zeroes', [count(host.write_zeroes), '']],
    ['In flight', [count(host.in_flight), '']], ['Errors', [count(host.errors), ''], alarm(host.errors > 0)],
    ['Connections open', [count(host.connections_open), `of ${count(host.connections_total)}`]], ['Connections refused', [count(host.connections_refused), '']],
  ]);
  fill('device', [
    ['Capacity', bytes(device.capacity_bytes)], ['Dies', `${device.dies} on ${device.channels} channels`],
    ['Die', `${device.planes_per_die} planes of ${count(device.blocks_per_plane)} blocks`],
    ['Block', `${count(device.pages_per_block)} pages of ${device.page_bytes / 1024} KiB`],
    ['File', known(policy.data_file, text => text)],
  ]);
}

function drawHead() {
  const { device, power, policy, smart } = reading;
  document.title = `${lostSince ? '(lost) ' : power.on ? '' : '(power cut) '}${device.name} – ftlab`;
  say($('name'), device.name);
  say($('title'), device.title);
  const state = lostSince ? ['not connected', 'lost'] : power.on ? ['power on', ''] : ['power cut', 'off'];
  const facts = $('facts');
  facts.replaceChildren();
  el('span', facts, `state ${state[1]}`, state[0]);
  [['', bytes(device.capacity_bytes)], ['clock', device.clock], ['simulated', longTime(device.simulated_now_ns)], ['up', longTime(device.uptime_ns)],
    ['cuts', known(power.cut_every_ms, ms => `every ${ms / 1000} s`)]].forEach(([name, value]) => {
    if (value === DASH) return;
    const fact = el('span', facts, '', name ? name + ' ' : '');
    el('b', fact, '', value);
  });
  const dead = reading.dies.flatMap((die, at) => die.state === 'dead' ? [at] : []);
  const alarm = !power.on ? 'Power is cut: the device does not answer until it has recovered.' : '';
  const notice = smart.end_of_life ? 'End of life: the device accepts no more writes.' : policy.read_only ? 'The device can only be read.'
    : policy.ignores_flushes ? 'This drive lies: it answers flushes at once, without bringing data to flash.' : dead.length ? `Dead: die ${dead.join(', ')}.` : '';
  banner(lostSince ? `Connection lost at ${lostSince}: the server does not answer. Trying again; all numbers are old.` : alarm, notice);
}
function banner(alarm, notice) {
  const place = $('banner');
  place.hidden = !(alarm || notice);
  place.classList.toggle('notice', !alarm);
  say(place, alarm || notice);
  document.body.classList.toggle('lost', Boolean(lostSince));
}

async function ask(target) {
  const answer = await fetch(target, { signal: AbortSignal.timeout(PATIENCE_MS) });
  if (!answer.ok) throw new Error(`${target}: ${answer.status}`);
  return answer.json();
}
async function poll() {
  try {
    const told = await ask('/api/reading');
    // A server that began anew counts anew.
    if (reading && told.device.uptime_ns < reading.device.uptime_ns) samples = [];
    const news = await ask(`/api/history?after=${samples.at(-1)?.number ?? 0}`);
    samples = samples.concat(news.samples).slice(-MOST_SAMPLES);
    if (!reading) chooseClock(told.device.clock);
    reading = told;
    lostSince = null;
  } catch {
    lostSince ??= new Date().toLocaleTimeString();
  }
  draw();
  setTimeout(poll, PERIOD_MS);
}
function draw() {
  if (!reading) { banner(lostSince ? `The server does not answer since ${lostSince}.` : '', ''); return; }
  [drawHead, drawTiles, drawCharts, drawDies, drawWear, drawTables].forEach(part => part());
}
function chooseClock(clock) {
  const choice = $('clock');
  if (![...choice.options].some(option => option.value === clock)) el('option', choice, '', clock).value = clock;
  choice.value = clock;
}

async function order(target, body) {
  const place = $('told'), at = new Date().toLocaleTimeString();
  try {
    const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body), signal: AbortSignal.timeout(PATIENCE_MS) };
    const answer = await fetch(target, init), told = await answer.json();
    place.className = answer.ok ? '' : 'bad';
    place.textContent = `${at}: ${told.done ?? `refused: ${told.error}`}`;
  } catch {
    place.className = 'bad';
    place.textContent = `${at}: no answer to the order`;
  }
}
// A button that gives an order; if `sure`, on a second click, which its text asks for.
function button(id, act, sure) {
  const place = $(id), text = place.textContent;
  let waiting = null;
  const reset = () => { clearTimeout(waiting); waiting = null; place.textContent = text; place.classList.remove('sure'); };
  place.addEventListener('click', () => {
    if ([...place.closest('fieldset').querySelectorAll(`[data-for~=${id}]`)].some(input => !input.reportValidity())) return;
    if (sure && waiting === null) {
      place.textContent = sure();
      place.classList.add('sure');
      waiting = setTimeout(reset, SURE_MS);
      return;
    }
    reset();
    act();
  });
}
button('cut', () => order('/api/cut', {}));
button('repeat', () => order('/api/cut', { every_ms: Math.round(1000 * $('every').valueAsNumber) }));
button('never', () => order('/api/cut', { every_ms: null }));
button('kill', () => order('/api/kill-die', { die: $('die').valueAsNumber }), () => `Really kill die ${$('die').value}?`);
button('set-clock', () => order('/api/clock', { clock: $('clock').value }));
button('save', () => order('/api/save', {}));
button('stop', () => order('/api/stop', {}), () => 'Really stop the server?');
$('die').addEventListener('input', () => { if (reading) drawDies(); });
addEventListener('resize', drawCharts);
watchWear();
poll();
