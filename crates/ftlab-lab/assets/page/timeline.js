// Draws a time line: what requests, dies and buses did. It can be zoomed, moved, and asked what each slice is.
// `about` is the name of the request in question; without it, that is the slowest one that was asked for.
function timePanel(parent, data, title, about) {
  const ROW = 15, COUNTER = 30, HEAD = 20, AXIS = 22, MOST_HEIGHT = 720, LEAST_TEXT = 34;
  const { tracks, texts, keys, length_ns: whole, windows } = data;
  const SLICES = ['track', 'from', 'length', 'name', 'category', 'flows', 'keys', 'values'];
  const slices = data.slices.map(fields => Object.fromEntries(SLICES.map((name, at) => [name, fields[at]])));
  const INKS = { ...PURPOSE_INKS, read: 0, collection: 1, merge: 1, write: 2, trim: 4, loss: 6, flush: 7 };
  const requests = slices.map((slice, at) => at).filter(at => texts[slices[at].category] === 'request');
  const took = at => slices[at].values[keys[slices[at].keys].indexOf('latency_ns')];
  // A window that is as long as a request was made for it; a request that reaches beyond the windows only passes by.
  const asked = requests.filter(at => windows.some(([from, until]) => slices[at].from === from && slices[at].from + slices[at].length === until));
  const within = requests.filter(at => slices[at].length === took(at));
  const likely = [asked, within, requests].find(some => some.length);
  const slowest = likely ? likely.reduce((best, at) => took(at) > took(best) ? at : best) : null;
  const first = requests.find(at => texts[slices[at].name] === about) ?? slowest;
  let from = 0, until = whole, picked = first, pointed = null;

  const box = el('div', parent, 'chart timeline');
  if (title) el('h3', box, '', title);
  const buttons = el('div', box, 'files');
  const button = (text, label, act) => {
    const made = el('button', buttons, 'download', text);
    made.type = 'button';
    made.setAttribute('aria-label', label);
    made.addEventListener('click', act);
  };
  const legend = el('div', box, 'legend');
  const scroller = el('div', box, 'scroller');
  const canvas = el('canvas', scroller), spacer = el('div', scroller, 'spacer');
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'application');
  canvas.setAttribute('aria-label', `${title || 'Time line'}. Arrow keys go from slice to slice and from row to row, plus and minus zoom, Home shows everything.`);
  const readout = el('output', box);

  // Rows from top to bottom: a heading for each group, a row for each track that has anything.
  const counters = new Map(data.counts.map(one => [one.track, one]));
  const byTrack = new Map();
  slices.forEach((slice, at) => {
    if (!byTrack.has(slice.track)) byTrack.set(slice.track, []);
    byTrack.get(slice.track).push(at);
  });
  // The dies come first; there may be very many requests at a time.
  const path = track => track.parent === null ? [track.name] : [...path(tracks[track.parent]), track.name];
  const rows = [];
  const order = tracks.map((_, at) => at).filter(at => byTrack.has(at) || counters.has(at));
  // The lane of the request in question is the first of its group.
  const isAbout = track => first !== null && track === slices[first].track;
  const rank = at => counters.has(at) ? 3 : isAbout(at) ? 1 : path(tracks[at])[0] === 'Requests' ? 2 : 0;
  order.sort((a, b) => rank(a) - rank(b) || a - b);
  let height = AXIS, group = null;
  order.forEach(at => {
    const track = tracks[at];
    const [root, ...rest] = path(track);
    if (root !== group) {
      rows.push({ y: height, height: HEAD, head: root });
      height += HEAD;
      group = root;
    }
    const size = counters.has(at) ? COUNTER : ROW;
    rows.push({ y: height, height: size, label: rest.join(', ').toLowerCase(), track: at, slices: byTrack.get(at) ?? [], counter: counters.get(at) });
    height += size;
  });
  const rowOf = new Map(rows.filter(row => row.track !== undefined).map(row => [row.track, row]));
  const byFlow = new Map();
  slices.forEach((slice, at) => slice.flows.forEach(flow => {
    if (!byFlow.has(flow)) byFlow.set(flow, []);
    byFlow.get(flow).push(at);
  }));
  spacer.style.height = height + 'px';
  const viewHeight = Math.min(height, MOST_HEIGHT);
  scroller.style.height = viewHeight + 'px';

  const end = slice => slice.from + (slice.length ?? 0);
  const kind = slice => texts[slice.name].split(' ')[0];
  const ink = slice => INKS[texts[slice.category]] ?? INKS[kind(slice)] ?? 7;
  const gutter = () => Math.min(150, scroller.clientWidth * 0.25);
  const atX = (time, width) => gutter() + (time - from) / (until - from) * (width - gutter());

  // Times from the start of measuring, in a unit and with the digits that tell neighbours apart.
  function clock(time, step) {
    const size = Math.max(Math.abs(data.from_ns - data.zero_ns) + whole, 1);
    const [unit, name] = size >= 1e9 ? [1e9, 's'] : size >= 1e6 ? [1e6, 'ms'] : [1e3, 'us'];
    const places = Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
    return ((data.from_ns - data.zero_ns + time) / unit).toFixed(places) + ' ' + name;
  }
  function ticks(width) {
    const wanted = Math.max((width - gutter()) / 130, 2), raw = (until - from) / wanted;
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = Math.max([1, 2, 5, 10].map(one => one * power).find(one => one >= raw), 1);
    const offset = data.from_ns - data.zero_ns, marks = [];
    for (let mark = Math.ceil((from + offset) / step) * step - offset; mark <= until; mark += step) marks.push(mark);
    return [marks, step];
  }

  // The same strokes on the canvas and in a file.
  const onCanvas = context => ({
    rect(x, y, width, height, fill, alpha = 1) {
      context.globalAlpha = alpha;
      context.fillStyle = fill;
      context.fillRect(x, y, width, height);
      context.globalAlpha = 1;
    },
    line(points, stroke, width = 1) {
      context.strokeStyle = stroke;
      context.lineWidth = width;
      context.beginPath();
      points.forEach(([x, y], at) => at ? context.lineTo(x, y) : context.moveTo(x, y));
      context.stroke();
    },
    text(x, y, text, fill, most, bold) {
      context.font = `${bold ? 600 : 400} 11px system-ui, sans-serif`;
      context.fillStyle = fill;
      const size = context.measureText(text).width;
      const shown = size <= most ? text : text.slice(0, Math.max(Math.floor(text.length * most / size) - 1, 0)) + '…';
      if (shown.length > 1) context.fillText(shown, x, y);
    },
  });
  const inFile = parts => {
    return {
      rect(x, y, width, height, fill, alpha = 1) {
        parts.push(`<rect x="${tenths(x)}" y="${tenths(y)}" width="${tenths(width)}" height="${tenths(height)}" fill="${fill}"${alpha < 1 ? ` fill-opacity="${alpha}"` : ''}/>`);
      },
      line(points, stroke, width = 1) {
        parts.push(`<polyline points="${points.map(([x, y]) => `${tenths(x)},${tenths(y)}`).join(' ')}" fill="none" stroke="${stroke}" stroke-width="${width}"/>`);
      },
      text(x, y, text, fill, most, bold) {
        // Letters are about this wide.
        const shown = text.length * 6.2 <= most ? text : text.slice(0, Math.max(Math.floor(most / 6.2) - 1, 0)) + '…';
        if (shown.length > 1) parts.push(`<text x="${tenths(x)}" y="${tenths(y)}" fill="${fill}"${bold ? ' font-weight="600"' : ''}>${escaped(shown)}</text>`);
      },
    };
  };

  // Draws rows from `top` on, on a ground `width` by `tall`.
  function paint(pen, paper, { width, top, tall }) {
    const left = gutter();
    pen.rect(0, 0, width, tall, paper.ground);
    const [marks, step] = ticks(width);
    marks.forEach(mark => pen.line([[atX(mark, width), AXIS], [atX(mark, width), tall]], paper.line));
    gaps().forEach(([first, last]) => {
      const [x, right] = [first, last].map(time => Math.min(Math.max(atX(time, width), left), width));
      if (right > x) pen.rect(x, AXIS, right - x, tall - AXIS, paper.line, 0.35);
    });
    rows.forEach(row => {
      const y = row.y - top;
      if (y + row.height < AXIS || y > tall) return;
      if (row.head) return pen.text(4, y + 14, row.head, paper.ink, width, true);
      if (row.counter) paintCounter(pen, paper, row, y, width);
      else paintSlices(pen, paper, row, y, width);
      pen.rect(0, y, left - 2, row.height, paper.ground);
      pen.text(10, y + row.height / 2 + 4, row.label, paper.faint, left - 14);
    });
    paintLinks(pen, paper, top, width);
    pen.rect(0, 0, width, AXIS, paper.ground);
    marks.forEach(mark => {
      const x = atX(mark, width);
      if (x > left - 1 && x < width - 30) pen.text(x + 3, 15, clock(mark, step), paper.faint, 120);
    });
    pen.line([[0, AXIS], [width, AXIS]], paper.line);
  }

  // What lies between the windows.
  const gaps = () => [...windows, [whole, whole]].map(([first], at) => [at ? windows[at - 1][1] : 0, first]);

  function paintSlices(pen, paper, row, y, width) {
    const left = gutter(), linked = new Set(picked === null ? [] : links(picked));
    row.slices.forEach(at => {
      const slice = slices[at];
      if (end(slice) < from || slice.from > until) return;
      const x = Math.max(atX(slice.from, width), left), right = Math.min(atX(end(slice), width), width);
      const fill = paper.inks[ink(slice)], tall = row.height - 3;
      if (slice.length === null) {
        pen.rect(x - 1, y, 3, row.height - 1, paper.inks[6]);
        return;
      }
      const size = Math.max(right - x - (right - x > 4 ? 0.8 : 0), 0.7), faint = kind(slice) === 'sense';
      pen.rect(x, y + 1, size, tall, fill, faint ? 0.45 : 1);
      if (kind(slice) === 'erase' && size > 6) {
        // Beside the name, so that it stays legible.
        const words = size > LEAST_TEXT ? texts[slice.name].length * 6 + 6 : 0;
        for (let stripe = x + 3 + words; stripe < right - 2; stripe += 6) pen.line([[stripe, y + tall], [stripe + 3, y + 2]], paper.ground);
      }
      if (at === picked || at === pointed || linked.has(at)) pen.line([[x, y + 1], [x + size, y + 1], [x + size, y + tall + 1], [x, y + tall + 1], [x, y + 1]], paper.ink, at === picked ? 2 : 1.2);
      if (size > LEAST_TEXT) pen.text(x + 3, y + 11, texts[slice.name], faint ? paper.ink : paper.ground, size - 6);
    });
  }

  function paintCounter(pen, paper, row, y, width) {
    const { at, value } = row.counter, most = Math.max(1, ...value), tall = row.height - 6;
    const points = [];
    at.forEach((time, place) => {
      const next = at[place + 1] ?? whole;
      if (next < from || time > until) return;
      const level = y + 3 + tall - value[place] / most * tall;
      points.push([Math.max(atX(time, width), gutter()), level], [Math.min(atX(next, width), width), level]);
    });
    if (points.length) pen.line(points, paper.inks[0], 1.5);
    pen.text(width - 130, y + 12, `at most ${most} ${row.counter.unit}`, paper.faint, 130);
  }

  // Lines from what is picked to what belongs to it.
  function paintLinks(pen, paper, top, width) {
    if (picked === null) return;
    const middle = at => {
      const row = rowOf.get(slices[at].track);
      return [Math.min(Math.max(atX(slices[at].from, width), gutter()), width), row.y - top + row.height / 2];
    };
    links(picked).forEach(at => pen.line([middle(picked), middle(at)], paper.ink, 0.7));
  }

  function links(of) {
    return [...new Set(slices[of].flows.flatMap(flow => byFlow.get(flow)))].filter(at => at !== of);
  }

  const paperOf = read => ({ ground: read('--ground'), ink: read('--ink'), faint: read('--faint'), line: read('--line'), inks: [...Array(COLOURS).keys()].map(at => read('--v' + at)) });

  function draw() {
    const ratio = devicePixelRatio || 1, width = scroller.clientWidth;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(viewHeight * ratio);
    canvas.style.width = width + 'px';
    canvas.style.height = viewHeight + 'px';
    const context = canvas.getContext('2d');
    context.scale(ratio, ratio);
    paint(onCanvas(context), paperOf(css), { width, top: scroller.scrollTop, tall: viewHeight });
  }
  let waiting = false;
  function redraw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }

  function show(first, last) {
    const length = Math.min(Math.max(last - first, Math.min(whole, 200)), whole);
    from = Math.min(Math.max(first, 0), whole - length);
    until = from + length;
    redraw();
  }
  function zoom(factor, around = (from + until) / 2) {
    show(around - (around - from) * factor, around + (until - around) * factor);
  }
  // A part of what is seen to the left or right; from window to window, if there are several.
  function move(way) {
    const middle = (from + until) / 2, part = (until - from) / 3;
    const next = way > 0 ? windows.find(([first]) => first > middle) : windows.findLast(([, last]) => last < middle);
    if (windows.length > 1 && next) showWindow(next);
    else show(from + way * part, until + way * part);
  }
  const showWindow = ([first, last]) => show(first - (last - first) * 0.1, last + (last - first) * 0.1);
  function sliceAt(x, y) {
    const row = rows.find(one => one.slices && y >= one.y && y < one.y + one.height);
    if (!row || x < gutter()) return null;
    const width = scroller.clientWidth, near = 3;
    const hit = at => atX(slices[at].from, width) - near <= x && atX(end(slices[at]), width) + near >= x;
    const inside = at => atX(slices[at].from, width) <= x && atX(end(slices[at]), width) >= x;
    return row.slices.findLast(inside) ?? row.slices.find(hit) ?? null;
  }

  const plain = key => key.replace(/\*$/, '').replace(/_ns$/, '').replaceAll('_', ' ');
  function worded(key, value) {
    if (key.endsWith('*')) return texts[value];
    if (/began_ns|ended_ns/.test(key)) return clock(value - data.from_ns, 1000);
    return key.endsWith('_ns') ? latency(value) : value.toLocaleString('en');
  }
  function tell() {
    const at = pointed ?? picked;
    readout.textContent = '';
    if (at === null) return;
    const slice = slices[at], category = texts[slice.category];
    el('b', readout, '', `${path(tracks[slice.track]).slice(1).join(', ')}: ${texts[slice.name]}`);
    const parts = [slice.length === null ? `at ${clock(slice.from, 1000)}` : `${latency(slice.length)} from ${clock(slice.from, 1000)}`];
    if (PURPOSE_WORDS[category]) parts.push(`for ${PURPOSE_WORDS[category]}`);
    keys[slice.keys].forEach((key, place) => parts.push(`${plain(key)} ${worded(key, slice.values[place])}`));
    if (at === picked && links(at).length) parts.push(`${links(at).length} linked`);
    readout.append('; ' + parts.join('; '));
  }

  // Moves from slice to slice, and to the row above or below.
  function step(along, across) {
    const full = rows.filter(row => row.slices && row.slices.length);
    if (!full.length) return;
    if (picked === null) picked = first ?? full[0].slices[0];
    else {
      const row = full.findIndex(one => one.track === slices[picked].track);
      const next = full[Math.min(Math.max(row + across, 0), full.length - 1)];
      const nearest = next.slices.reduce((best, at) => Math.abs(slices[at].from - slices[picked].from) < Math.abs(slices[best].from - slices[picked].from) ? at : best);
      const place = across ? next.slices.indexOf(nearest) : next.slices.indexOf(picked) + along;
      picked = next.slices[Math.min(Math.max(place, 0), next.slices.length - 1)];
    }
    reveal();
  }
  function reveal() {
    const slice = slices[picked], row = rowOf.get(slice.track);
    if (end(slice) < from || slice.from > until) show(slice.from - (until - from) / 2, slice.from + (until - from) / 2);
    if (row.y - AXIS < scroller.scrollTop) scroller.scrollTop = row.y - AXIS;
    if (row.y + row.height > scroller.scrollTop + viewHeight) scroller.scrollTop = row.y + row.height - viewHeight;
    pointed = null;
    tell();
    redraw();
  }

  let drag = null;
  const placeOf = event => [event.offsetX, event.offsetY + scroller.scrollTop];
  canvas.addEventListener('pointerdown', event => {
    drag = { x: event.offsetX, from, until, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', event => {
    if (drag) {
      const shift = (drag.x - event.offsetX) / (scroller.clientWidth - gutter()) * (drag.until - drag.from);
      drag.moved ||= Math.abs(event.offsetX - drag.x) > 3;
      if (drag.moved) show(drag.from + shift, drag.until + shift);
      return;
    }
    const at = sliceAt(...placeOf(event));
    if (at !== pointed) { pointed = at; tell(); redraw(); }
  });
  canvas.addEventListener('pointerup', event => {
    if (drag && !drag.moved) { picked = sliceAt(...placeOf(event)); tell(); redraw(); }
    drag = null;
  });
  canvas.addEventListener('pointerleave', () => { pointed = null; tell(); redraw(); });
  canvas.addEventListener('dblclick', event => {
    const at = sliceAt(...placeOf(event));
    if (at !== null) show(slices[at].from - slices[at].length, end(slices[at]) + slices[at].length);
  });
  canvas.addEventListener('wheel', event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const part = Math.max(event.offsetX - gutter(), 0) / (scroller.clientWidth - gutter());
    zoom(event.deltaY > 0 ? 1.25 : 0.8, from + part * (until - from));
  }, { passive: false });
  canvas.addEventListener('keydown', event => {
    const act = {
      ArrowLeft: () => step(-1, 0), ArrowRight: () => step(1, 0), ArrowUp: () => step(0, -1), ArrowDown: () => step(0, 1),
      '+': () => zoomTo(0.5), '=': () => zoomTo(0.5), '-': () => zoomTo(2), Home: () => show(0, whole),
      Escape: () => { picked = null; tell(); redraw(); },
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  const zoomTo = factor => zoom(factor, picked === null ? undefined : slices[picked].from);
  scroller.addEventListener('scroll', redraw);

  button('+', 'Zoom in', () => zoomTo(0.5));
  button('−', 'Zoom out', () => zoomTo(2));
  button('◂', 'Earlier', () => move(-1));
  button('▸', 'Later', () => move(1));
  button('All', 'Show everything', () => show(0, whole));
  download(buttons, 'SVG', 'time-line.svg', 'image/svg+xml', () => {
    const parts = [], width = scroller.clientWidth;
    paint(inFile(parts), paperOf(lightly), { width, top: 0, tall: height });
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="11"><title>${escaped(title || 'Time line')}</title>${parts.join('')}</svg>\n`;
  });
  download(buttons, 'CSV', 'time-line.csv', 'text/csv', () => {
    const seen = slices.filter(slice => end(slice) >= from && slice.from <= until);
    const told = slice => keys[slice.keys].map((key, at) => `${key.replace('*', '')}=${key.endsWith('*') ? texts[slice.values[at]] : slice.values[at]}`).join(' ');
    const offset = data.from_ns - data.zero_ns;
    return csv(['track', 'start_ns', 'length_ns', 'name', 'category', 'about'], [
      seen.map(slice => path(tracks[slice.track]).join(', ')), seen.map(slice => offset + slice.from), seen.map(slice => slice.length),
      seen.map(slice => texts[slice.name]), seen.map(slice => texts[slice.category]), seen.map(told)]);
  });

  function paintLegend() {
    legend.textContent = '';
    const named = slice => PURPOSE_WORDS[texts[slice.category]] ?? (texts[slice.category] === 'request' ? `${kind(slice)} requests` : texts[slice.category]);
    const known = new Map(slices.filter(slice => slice.length !== null).map(slice => [named(slice), ink(slice)]));
    known.forEach((at, name) => {
      const entry = el('span', legend);
      el('span', entry, 'ink').style.background = colour(at);
      entry.append(name);
    });
    el('span', legend, 'small', 'pale: sensing; striped: erases; Ctrl and the wheel zoom, a click shows what belongs together');
  }
  if (data.left_out) el('p', box, 'small', `${data.left_out.toLocaleString('en')} slices farther from the longest request are not drawn; timeline.pftrace has them.`);
  paintLegend();
  tell();
  if (windows.length > 1) showWindow(windows.find(([, last]) => first !== null && last >= end(slices[first])) ?? windows[0]);
  draw();
  new ResizeObserver(redraw).observe(scroller);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { paintLegend(); draw(); });
}

// All time lines of the page.
JSON.parse(document.getElementById('data').textContent).moments.forEach(moment => {
  timePanel(document.getElementById('moments'), moment.panel, moment.title, moment.about);
});
