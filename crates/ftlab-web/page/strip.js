// What each die and channel does: single operations at a slow pace, shares of busy time by purpose at a fast one.
'use strict';
function stripOf(canvas, legend, about) {
  const AXIS = 20, GUTTER = 84, LEAST_ROW = 2, MOST_ROW = 18, MOST_HEIGHT = 320, WALL_S = 4, MOST_SPANS = 40000, [NONE, FULL] = [48, 63];
  // The colour of an operation is that of its purpose; its kind is its pattern.
  const inksOf = () => facts.origins.map(name => colour(PURPOSE_INKS[name]));
  const wordOf = name => PURPOSE_WORDS[name] ?? name;
  let facts = null, spans = [], shares = null, now = 0, length = 1e6, detailed = true, since = 0, lost = 0;
  // The time to which shares reach at least, so that those of two drives have one axis; whether the run has ended; and the layout.
  let least = 0, over = false, view = { row: MOST_ROW, from: 0, span: 1 };

  const nameOf = at => at < facts.dies ? `die ${at}` : `channel ${at - facts.dies}`;
  const rows = () => facts ? facts.dies + facts.channels : 0;
  function open(of) {
    [facts, spans, shares, now, since, lost, least, over] = [of, [], null, 0, 0, 0, 0, false];
    canvas.style.height = `${Math.min(MOST_HEIGHT, AXIS + rows() * MOST_ROW)}px`;
    legend.textContent = '';
    const inks = inksOf();
    facts.origins.forEach((name, at) => {
      const entry = el('span', legend);
      el('span', entry, 'ink').style.background = inks[at];
      entry.append(wordOf(name));
    });
    el('span', legend, 'small', 'pale: reads; striped: erases; below, the buses of the channels');
    draw();
  }
  // `speed`: simulated nanoseconds a second of the wall; none if as fast as it goes.
  function add(frame, speed) {
    const before = detailed;
    [detailed, since] = [frame.noted_from !== null, frame.noted_from ?? 0];
    now = frame.now_ns;
    lost += frame.left_out;
    if (detailed) {
      length = (speed ?? 1e6) * WALL_S;
      frame.spans.forEach(([bus, place, kind, origin, from, until]) => spans.push({ row: bus ? facts.dies + place : place, kind, origin, from, until }));
      // What was suspended ended earlier than it was told.
      frame.cuts.forEach(([die, from, until]) => {
        spans.filter(span => span.row === die && span.from === from && span.until > until).forEach(span => { span.until = until; });
      });
      spans = spans.filter(span => span.from >= since && span.until > now - length).slice(-MOST_SPANS);
    }
    // Shares come with their own news.
    if (detailed || before) draw();
  }
  // Shares of busy time from the beginning, in windows of simulated time: a letter for each, from none to all of it.
  function share(told) {
    shares = told;
    draw();
  }
  // The time to which shares are known, and that to which the picture reaches.
  const end = () => windows() * (shares?.window_ns ?? 0), reached = () => detailed ? now : Math.max(end(), least);
  // `detail`: whether single operations are shown, as of the drive that goes on. One that has ended gets no frames.
  function beside(ns, detail, ended) {
    const before = [detailed, reached()].join();
    if (detail !== detailed) [detailed, spans, since] = [detail, [], detail ? now : 0];
    [least, over] = [ns, ended];
    if (before !== [detailed, reached()].join()) draw();
  }
  // What is at a place of the picture.
  function tell({ x, y }) {
    const width = canvas.clientWidth - GUTTER, at = Math.floor((y - AXIS) / view.row);
    if (!facts || x < GUTTER || at < 0 || at >= rows()) return null;
    const time = view.from + (x - GUTTER) / width * view.span;
    const [from, until, text] = detailed ? operationAt(at, time) : sharesAt(at, time);
    const left = GUTTER + Math.max(from - view.from, 0) / view.span * width, right = GUTTER + Math.min((until - view.from) / view.span, 1) * width;
    return { text: `${nameOf(at)}, ${latency(Math.max(from, 0))} to ${latency(until)} (${latency(until - Math.max(from, 0))}): ${text}`, box: [left, AXIS + at * view.row, Math.max(right - left, 1), view.row] };
  }
  // The operation of a row at a time, or the gap between two: from when to when, and what it is.
  function operationAt(at, time) {
    const own = spans.filter(span => span.row === at);
    // What is narrower than a pixel is drawn, too.
    const pixel = view.span / Math.max(canvas.clientWidth - GUTTER, 1);
    const found = own.findLast(span => span.from <= time + pixel / 2 && time - pixel / 2 < span.until);
    if (found) return [found.from, found.until, `${facts.kinds[found.kind]}, ${wordOf(facts.origins[found.origin])}`];
    const from = Math.max(since, view.from, ...own.map(span => span.until).filter(ns => ns <= time));
    const until = Math.min(now, ...own.map(span => span.from).filter(ns => ns > time));
    return time < since ? [view.from, since, 'not noted'] : [from, Math.max(until, from), 'nothing'];
  }
  // How far an arrow key goes: a window, or a hundredth of the picture.
  const step = () => (canvas.clientWidth - GUTTER) * (detailed || !shares ? 0.01 : shares.window_ns / view.span);
  function sharesAt(at, time) {
    const window = shares?.window_ns ?? 1, cell = Math.floor(time / window);
    if (!shares || cell >= windows()) return [end(), Math.max(reached(), time), over ? 'it had ended' : 'still to come'];
    const told = shares.by_origin.map((of, origin) => [wordOf(facts.origins[origin]), of.length ? (of.charCodeAt(cell * rows() + at) - NONE) / FULL * 100 : 0]);
    const busy = told.filter(([, share]) => share > 0).map(([word, share]) => `${word} ${share.toFixed(0)} %`);
    return [cell * window, (cell + 1) * window, busy.join(', ') || 'nothing'];
  }
  // Whole windows of the shares.
  const windows = () => Math.max(0, ...(shares?.by_origin ?? []).map(of => of.length)) / rows();

  function draw() {
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width) return;
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const pen = canvas.getContext('2d');
    pen.scale(ratio, ratio);
    pen.fillStyle = css('--ground');
    pen.fillRect(0, 0, width, height);
    if (!facts) return;
    picture(pen, width, height);
    pointer.mark(pen);
    about.textContent = told();
  }
  // The operations or shares of all rows, and the axis of time.
  function picture(pen, width, height) {
    const row = Math.max(LEAST_ROW, Math.min(MOST_ROW, (height - AXIS) / rows()));
    const until = reached(), from = detailed ? now - length : 0;
    const span = Math.max(until - from, 1);
    view = { row, from, span };
    const x = time => GUTTER + Math.max(0, (time - from) / span) * (width - GUTTER);
    pen.font = '11px system-ui, sans-serif';
    const labels = Math.max(1, Math.ceil(13 / row));
    for (let at = 0; at < rows(); at += 1) {
      const first = at === facts.dies;
      if (at % labels && !first) continue;
      pen.fillStyle = css('--faint');
      pen.fillText(nameOf(at), 4, AXIS + at * row + Math.min(row, 12));
    }
    if (detailed) {
      paintSpans(pen, row, x);
      paintUnknown(pen, x, from, height);
    } else paintShares(pen, row, x);
    pen.fillStyle = css('--faint');
    for (let mark = 0; mark <= 4 && until > 0; mark += 1) {
      const time = from + span * mark / 4;
      pen.textAlign = mark === 4 ? 'end' : 'start';
      if (time >= 0) pen.fillText(time ? latency(time) : '0', mark === 4 ? width - 2 : x(time) + 2, 13);
    }
    pen.textAlign = 'start';
  }
  // What is shown, in words.
  function told() {
    return detailed
      ? `The last ${latency(length)} of simulated time, to ${latency(now)}.${since > view.from ? ` Operations are noted from ${latency(since)} on; what was under way then is not drawn.` : ''}${lost ? ` ${lost.toLocaleString('en')} operations were too many to draw.` : ''}`
      : `How busy each was from the beginning: a full row is all of the time, in the colours of the purposes.${sums()} Slow down to see single operations.`;
  }
  // What all dies together did with their time.
  function sums() {
    if (!shares?.now_ns) return '';
    const told = shares.busy_ns.map((of, at) => [wordOf(facts.origins[at]), of.slice(0, facts.dies).reduce((sum, ns) => sum + ns, 0) / shares.now_ns / facts.dies * 100])
      .filter(([, share]) => share >= 0.05);
    return ` Of the time of the cells of all dies, since the beginning and with the preparation (transfers are in the rows of the buses): ${told.map(([name, share]) => `${name} ${share.toFixed(1)} %`).join(', ') || 'nothing yet'}.`;
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
  // The time before operations were noted is no idle time.
  function paintUnknown(pen, x, from, height) {
    if (since <= from) return;
    const left = x(from), right = x(since);
    pen.fillStyle = css('--line');
    pen.fillRect(left, AXIS, right - left, height - AXIS);
    pen.fillStyle = css('--faint');
    pen.fillText('not noted', left + 4, AXIS + 14, Math.max(right - left - 8, 1));
  }
  // Purposes stand on each other, so that the height of each is its share.
  function paintShares(pen, row, x) {
    if (!shares) return;
    const tall = Math.max(row - 1, 1), inks = inksOf(), used = shares.by_origin.flatMap((of, at) => of.length ? [at] : []);
    const floors = new Float64Array(windows() * rows());
    const share = (at, cell) => shares.by_origin[at].charCodeAt(cell) - NONE;
    // Units of a die may work at the same time.
    const sums = floors.map((_, cell) => used.reduce((sum, at) => sum + share(at, cell), 0));
    used.forEach(at => {
      pen.fillStyle = inks[at];
      floors.forEach((_, cell) => {
        const value = share(at, cell);
        if (!value) return;
        const left = x(Math.floor(cell / rows()) * shares.window_ns), right = x((Math.floor(cell / rows()) + 1) * shares.window_ns);
        const high = value / Math.max(sums[cell], FULL) * tall;
        floors[cell] += high;
        pen.fillRect(left, AXIS + cell % rows() * row + tall - floors[cell], right - left, high);
      });
    });
  }
  // What is drawn, as a table.
  function table() {
    if (detailed) {
      const columns = [span => nameOf(span.row), span => facts.kinds[span.kind], span => wordOf(facts.origins[span.origin]), span => span.from, span => span.until];
      return csv(['place', 'operation', 'purpose', 'from_ns', 'until_ns'], columns.map(column => spans.map(column)));
    }
    const cells = Array.from({ length: windows() * rows() }, (_, cell) => cell), told = cells.map(cell => sharesAt(cell % rows(), (Math.floor(cell / rows()) + 0.5) * shares.window_ns));
    return csv(['place', 'from_ns', 'until_ns', 'busy'], [cells.map(cell => nameOf(cell % rows())), ...[0, 1, 2].map(of => told.map(one => one[of]))]);
  }
  function blank() {
    [facts, legend.textContent, about.textContent] = [null, '', ''];
    pointer.clear();
    draw();
  }
  const pointer = pointed(canvas, { corner: [GUTTER, AXIS], steps: () => [step(), view.row], tell, redraw: draw });
  pictureFiles(canvas, (pen, width, height) => { if (facts) picture(pen, width, height); }, () => facts ? table() : '');
  new ResizeObserver(draw).observe(canvas);
  return { open, add, share, blank, end, beside, detailed: () => detailed, MOST_SPANS };
}
