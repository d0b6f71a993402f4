// What each die and channel does: single operations at a slow pace, the share of busy time at a fast one.
'use strict';
function stripOf(canvas, legend, about) {
  const AXIS = 20, GUTTER = 84, LEAST_ROW = 2, MOST_ROW = 18, MOST_HEIGHT = 320, WALL_S = 4, MOST_SPANS = 40000, MOST_COLUMNS = 1200;
  // A new drive was never busy.
  const NEVER = { now: 0, all: [] };
  // The colour of an operation is that of its purpose; its kind is its pattern.
  const inksOf = () => facts.origins.map(name => colour(PURPOSE_INKS[name]));
  let facts = null, spans = [], columns = [], busy = NEVER, now = 0, length = 1e6, detailed = true, lost = 0;

  const rows = () => facts ? facts.dies + facts.channels : 0;
  function open(of) {
    [facts, spans, columns, busy, now, lost] = [of, [], [], NEVER, 0, 0];
    canvas.style.height = `${Math.min(MOST_HEIGHT, AXIS + rows() * MOST_ROW)}px`;
    legend.textContent = '';
    const inks = inksOf();
    facts.origins.forEach((name, at) => {
      const entry = el('span', legend);
      el('span', entry, 'ink').style.background = inks[at];
      entry.append(PURPOSE_WORDS[name] ?? name);
    });
    el('span', legend, 'small', 'pale: reads; striped: erases; below, the buses of the channels');
    draw();
  }
  // `speed`: simulated nanoseconds a second of the wall; none if as fast as it goes.
  function add(frame, speed) {
    detailed = frame.spans.length > 0 || (speed !== null && speed <= 200e6);
    now = frame.now_ns;
    lost += frame.left_out;
    if (detailed) {
      length = (speed ?? 1e6) * WALL_S;
      frame.spans.forEach(([bus, place, kind, origin, from, until]) => spans.push({ row: bus ? facts.dies + place : place, kind, origin, from, until }));
      // What was suspended ended earlier than it was told.
      frame.cuts.forEach(([die, from, until]) => {
        spans.filter(span => span.row === die && span.from === from && span.until > until).forEach(span => { span.until = until; });
      });
      spans = spans.filter(span => span.until > now - length).slice(-MOST_SPANS);
    }
    for (const one of frame.busy.filter(one => one.now > busy.now)) {
      const shares = one.all.map((value, at) => Math.min(1, (value - (busy.all[at] ?? 0)) / (one.now - busy.now)));
      columns.push({ from: busy.now, until: one.now, shares });
      busy = one;
    }
    if (columns.length > MOST_COLUMNS) columns.splice(0, columns.length - MOST_COLUMNS);
    draw();
  }

  function draw() {
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width) return;
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const pen = canvas.getContext('2d');
    pen.scale(ratio, ratio);
    pen.fillStyle = css('--ground');
    pen.fillRect(0, 0, width, height);
    if (!facts) return;
    const row = Math.max(LEAST_ROW, Math.min(MOST_ROW, (height - AXIS) / rows()));
    const from = detailed ? now - length : columns[0]?.from ?? 0;
    const span = Math.max(now - from, 1);
    const x = time => GUTTER + Math.max(0, (time - from) / span) * (width - GUTTER);
    pen.font = '11px system-ui, sans-serif';
    const labels = Math.max(1, Math.ceil(13 / row));
    for (let at = 0; at < rows(); at += 1) {
      const first = at === facts.dies;
      if (at % labels && !first) continue;
      pen.fillStyle = css('--faint');
      pen.fillText(at < facts.dies ? `die ${at}` : `channel ${at - facts.dies}`, 4, AXIS + at * row + Math.min(row, 12));
    }
    if (detailed) paintSpans(pen, row, x);
    else paintColumns(pen, row, x);
    pen.fillStyle = css('--faint');
    for (let mark = 0; mark <= 4; mark += 1) {
      const time = from + span * mark / 4;
      pen.textAlign = mark === 4 ? 'end' : 'start';
      if (time >= 0) pen.fillText(time ? latency(time) : '0', mark === 4 ? width - 2 : x(time) + 2, 13);
    }
    pen.textAlign = 'start';
    about.textContent = detailed
      ? `The last ${latency(length)} of simulated time, to ${latency(now)}.${lost ? ` ${lost.toLocaleString('en')} operations were too many to draw.` : ''}`
      : 'The share of time in which each was busy; the darker, the more. Slow down to see single operations.';
  }
  function paintSpans(pen, row, x) {
    const tall = Math.max(row - 2, 1), ground = css('--ground');
    const inks = inksOf(), read = facts.kinds.indexOf('reads'), erase = facts.kinds.indexOf('erases');
    spans.forEach(span => {
      const left = x(span.from), right = Math.max(x(span.until), left + 0.7), y = AXIS + span.row * row;
      pen.globalAlpha = span.kind === read ? 0.55 : 1;
      pen.fillStyle = inks[span.origin];
      pen.fillRect(left, y, right - left, tall);
      pen.globalAlpha = 1;
      if (span.kind === erase && right - left > 6) {
        pen.strokeStyle = ground;
        pen.beginPath();
        for (let stripe = left + 3; stripe < right - 2; stripe += 6) { pen.moveTo(stripe, y + tall); pen.lineTo(stripe + 3, y); }
        pen.stroke();
      }
    });
  }
  function paintColumns(pen, row, x) {
    pen.fillStyle = colour(0);
    columns.forEach(({ from, until, shares }) => {
      const left = x(from), wide = Math.max(x(until) - left, 1);
      shares.forEach((share, at) => {
        if (share <= 0) return;
        pen.globalAlpha = share;
        pen.fillRect(left, AXIS + at * row, wide, Math.max(row - 1, 1));
      });
    });
    pen.globalAlpha = 1;
  }
  new ResizeObserver(draw).observe(canvas);
  return { open, add, draw, MOST_SPANS };
}
