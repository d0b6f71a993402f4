// Draws the curves and maps of report.html from the data in the page.
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const drawings = document.getElementById('drawings');
  drawings.hidden = false;
  const { chart, toggles, ready } = lineCharts(data.variants);

  // Enough digits to show the distance from 100 %.
  function share(beyond) {
    const places = beyond > 0 ? Math.max(1, Math.ceil(-Math.log10(beyond)) + 1) : 0;
    return ((1 - beyond) * 100).toFixed(Math.min(places, 8)) + ' %';
  }
  function latencyCharts() {
    const parent = document.getElementById('latencies');
    for (const curves of data.latencies) {
      // Each step up is one more nine.
      const nines = beyond => Math.abs(-Math.log10(beyond));
      const top = Math.max(1, ...curves.beyond.flat().filter(beyond => beyond > 0).map(nines)) * 1.03;
      // When nothing is left, the curve ends at the top.
      const ys = curves.beyond.map(one => {
        const end = one.indexOf(0);
        return curves.ns.map((_, at) => !one.length || (end >= 0 && at > end) ? null : at === end ? top : nines(one[at]));
      });
      const marks = [0, Math.log10(2)];
      for (let mark = 1; mark <= Math.ceil(top); mark++) marks.push(mark);
      chart(parent, {
        title: `${curves.op} latency: share of requests that took no longer`,
        x: 'latency_ns',
        aligned: [curves.ns, ...ys],
        columns: () => [curves.ns, ...curves.beyond.map(one => curves.ns.map((_, at) => one.length ? 1 - one[at] : null))],
        gaps: false,
        scales: { x: { time: false, distr: 3, range: [curves.ns[0], curves.ns[curves.ns.length - 1]] }, y: { range: [0, top] } },
        axes: [
          { splits: plot => decades(curves.ns[0], curves.ns[curves.ns.length - 1], plot.width), filter: (_, splits) => splits, values: (_, splits) => splits.map(roundLatency) },
          { splits: marks, filter: (_, splits) => splits, values: (_, splits) => splits.map(mark => mark === 0 ? '0 %' : Math.abs(mark - Math.log10(2)) < 1e-9 ? '50 %' : (100 - Math.pow(10, 2 - mark)).toFixed(Math.max(0, mark - 2)) + ' %') },
        ],
        at: x => {
          const at = Math.max(0, place(curves.ns, x));
          return [`up to ${latency(curves.ns[at])}`, curves.beyond.map(one => one.length ? share(one[at]) : null)];
        },
      });
    }
  }

  const SERIES = [
    ['throughput', 'throughput, MB/s', value => digits(value) + ' MB/s'],
    ['read_p99', 'read latency, p99', latency],
    ['write_p99', 'write latency, p99', latency],
    ['wa', 'write amplification', value => value.toFixed(3)],
  ];

  function timeCharts() {
    const parent = document.getElementById('time');
    for (const [key, title, format] of SERIES) {
      const known = data.time.some(one => one[key].some(value => value !== null));
      if (!known) continue;
      const isLatency = key.endsWith('p99');
      chart(parent, {
        title,
        x: 'time_s',
        aligned: uPlot.join(data.time.map(one => [one.s, one[key]])),
        gaps: true,
        scales: {
          x: { time: false },
          y: isLatency ? { distr: 3 } : { range: (_, low, high) => [0, (high > 0 ? high : 1) * 1.05] },
        },
        axes: [
          { values: (_, splits) => splits.map(s => tick(s) + ' s'), space: 70 },
          { values: (_, splits) => splits.map(value => value === null ? '' : isLatency ? roundLatency(value) : tick(value)) },
        ],
        at: x => {
          const texts = data.time.map(one => {
            const at = place(one.s, x);
            const inside = at >= 0 && x < one.s[at] + one.length_s * 1.001;
            return inside && one[key][at] !== null ? format(one[key][at]) : null;
          });
          return [`at ${tick(x)} s`, texts];
        },
      });
    }
  }

  function tenantCharts() {
    if (!data.queues) return;
    const { names, s, length_s: length, throughput, latency: latencies } = data.queues;
    const add = (title, series, format, scale) => chart(document.getElementById('tenants'), {
      title, names, x: 'time_s', aligned: [s, ...series], gaps: true,
      scales: { x: { time: false }, y: scale },
      axes: [
        { values: (_, splits) => splits.map(at => tick(at) + ' s'), space: 70 },
        { values: (_, splits) => splits.map(value => value === null ? '' : format(value)) },
      ],
      at: x => {
        const at = place(s, x), inside = at >= 0 && x < s[at] + length * 1.001;
        return [`at ${tick(x)} s`, series.map(one => inside && one[at] !== null ? format(one[at]) : null)];
      },
    });
    add('throughput by tenant, MB/s', throughput, tick, { range: (_, low, high) => [0, (high > 0 ? high : 1) * 1.05] });
    add('mean latency by tenant', latencies, roundLatency, { distr: 3 });
  }

  // How long the plane with the fewest free blocks had no more than so many.
  function freeChart() {
    const times = data.time.map(one => {
      const spent = new Map();
      // Windows are equally long.
      one.free.forEach(free => {
        if (free !== null) spent.set(free, (spent.get(free) ?? 0) + 1);
      });
      return spent;
    });
    const blocks = [...new Set(times.flatMap(spent => [...spent.keys()]))].sort((a, b) => a - b);
    if (!blocks.length) return;
    const ys = times.map(spent => {
      const all = [...spent.values()].reduce((a, b) => a + b, 0);
      let sum = 0;
      return blocks.map(free => spent.size ? (sum += spent.get(free) ?? 0) / all : null);
    });
    // A step needs a place to end.
    const xs = [...blocks, blocks[blocks.length - 1] + 1];
    chart(document.getElementById('time'), {
      title: 'free blocks of the plane that has the fewest: share of the time with no more',
      x: 'free_blocks',
      aligned: [xs, ...ys.map(one => [...one, one[one.length - 1]])],
      gaps: false,
      scales: { x: { time: false, range: [xs[0], xs[xs.length - 1]] }, y: { range: [0, 1.05] } },
      axes: [
        { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000], values: (_, splits) => splits.map(String) },
        { values: (_, splits) => splits.map(value => value > 1 ? '' : Math.round(value * 100) + ' %') },
      ],
      at: x => {
        const at = Math.max(0, place(blocks, x));
        return [`${blocks[at]} free blocks or fewer`, ys.map(one => one[at] === null ? null : share(1 - one[at]))];
      },
    });
  }

  // Viridis, by Smith and van der Walt (CC0), at five places.
  const RAMP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  function ramp(part) {
    const at = Math.min(Math.max(part, 0), 1) * (RAMP.length - 1);
    const low = Math.min(Math.floor(at), RAMP.length - 2);
    return RAMP[low].map((from, channel) => Math.round(from + (RAMP[low + 1][channel] - from) * (at - low)));
  }
  function paint(canvas, columns, rows, value) {
    canvas.width = columns;
    canvas.height = rows;
    const context = canvas.getContext('2d');
    const image = context.createImageData(columns, rows);
    for (let at = 0; at < columns * rows; at++) image.data.set([...ramp(value(at)), 255], at * 4);
    context.putImageData(image, 0, 0);
  }

  function mapOf(map, name, parent, select) {
    const box = el('div', parent, 'map');
    el('h3', box, '', name);
    const canvas = el('canvas', box);
    canvas.tabIndex = 0;
    canvas.setAttribute('role', 'img');
    canvas.style.height = Math.max(48, Math.min(320, map.rows * 14)) + 'px';
    const tip = el('div', box, 'tip');
    tip.hidden = true;
    const scale = el('div', box, 'scale');
    const low = el('span', scale), strip = el('canvas', scale), high = el('span', scale);
    strip.setAttribute('aria-hidden', 'true');
    const readout = el('output', box);
    let cell = -1;

    function draw() {
      const all = data.maps.flatMap(one => one[select.value]);
      const from = all.reduce((a, b) => Math.min(a, b)), to = all.reduce((a, b) => Math.max(a, b));
      paint(canvas, map.columns, map.rows, at => to > from ? (map[select.value][at] - from) / (to - from) : 0);
      paint(strip, 64, 1, at => at / 63);
      low.textContent = tick(from);
      high.textContent = tick(to);
      const label = select.options[select.selectedIndex].text;
      canvas.setAttribute('aria-label', `${name}: ${label}, ${map.dies} dies of ${map.blocks} blocks, from ${tick(from)} to ${tick(to)} over all variants. Arrow keys move over it.`);
      readout.textContent = '';
      tip.hidden = true;
    }
    function range(at, parts, all) {
      const from = Math.ceil(at * all / parts), to = Math.max(from, Math.ceil((at + 1) * all / parts) - 1);
      return from === to ? String(from) : `${from} to ${to}`;
    }
    function say(at) {
      cell = at;
      const row = Math.floor(at / map.columns), column = at % map.columns;
      const text = `die ${range(row, map.rows, map.dies)}, block ${range(column, map.columns, map.blocks)}: ${map[select.value][at]}`;
      readout.textContent = text;
      tip.textContent = text;
      tip.hidden = false;
      const x = (column + 0.5) / map.columns * canvas.clientWidth, y = (row + 1) / map.rows * canvas.clientHeight;
      tip.style.left = Math.max(0, Math.min(x, box.clientWidth - tip.offsetWidth)) + 'px';
      tip.style.top = canvas.offsetTop + y + 6 + 'px';
    }
    canvas.addEventListener('pointermove', event => {
      const column = Math.floor(event.offsetX / canvas.clientWidth * map.columns);
      const row = Math.floor(event.offsetY / canvas.clientHeight * map.rows);
      if (column >= 0 && column < map.columns && row >= 0 && row < map.rows) say(row * map.columns + column);
    });
    const hide = () => { tip.hidden = true; };
    canvas.addEventListener('pointerleave', hide);
    canvas.addEventListener('blur', hide);
    canvas.addEventListener('keydown', event => {
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -map.columns, ArrowDown: map.columns }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = cell < 0 ? 0 : cell + step;
      if (next >= 0 && next < map.columns * map.rows) say(next);
    });
    const told = () => `${name}: ${select.options[select.selectedIndex].text}`;
    const cells = map.rows * map.columns;
    const ofCell = part => [...Array(cells).keys()].map(at => part(Math.floor(at / map.columns), at % map.columns));
    const table = () => csv(['die', 'block', select.options[select.selectedIndex].text], [
      ofCell(row => range(row, map.rows, map.dies)), ofCell((_, column) => range(column, map.columns, map.blocks)), map[select.value]]);
    // The colours of the canvas, so that the file shows what the page shows.
    function drawing() {
      const pixels = canvas.getContext('2d').getImageData(0, 0, map.columns, map.rows).data;
      const [wide, tall] = [Math.max(900 / map.columns, 3), Math.max(14, 48 / map.rows)], head = 40;
      const rects = ofCell((row, column) => {
        const at = 4 * (row * map.columns + column);
        return `<rect x="${tenths(column * wide)}" y="${tenths(head + row * tall)}" width="${tenths(wide + 0.05)}" height="${tenths(tall)}" fill="rgb(${pixels[at]},${pixels[at + 1]},${pixels[at + 2]})"/>`;
      });
      return `<svg xmlns="http://www.w3.org/2000/svg" width="${tenths(map.columns * wide)}" height="${tenths(head + map.rows * tall)}" font-family="sans-serif" font-size="12">`
        + `<title>${escaped(told())}</title><text x="0" y="14">${escaped(told())}</text><text x="0" y="32">${escaped(`${low.textContent} (dark) to ${high.textContent} (pale); a row for each die`)}</text>${rects.join('')}</svg>\n`;
    }
    fileButtons(box, `${name} blocks`, drawing, table);
    select.addEventListener('change', draw);
    draw();
  }

  toggles();
  latencyCharts();
  timeCharts();
  freeChart();
  tenantCharts();
  ready();
  const select = document.getElementById('heat');
  data.maps.forEach((map, at) => mapOf(map, data.variants[at], document.getElementById('maps'), select));
})();
