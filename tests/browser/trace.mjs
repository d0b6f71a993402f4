// Opens the page of one trace or of two in a real browser and checks that its figures match what `--json` says.
// usage: node trace.mjs BROWSER FOLDER [FOLDER_FOR_PICTURES]
import assert from 'node:assert/strict';
import { check, contrast, embedded, end, fits, parsed, picture, read, taken } from './check.mjs';

const traces = read('traces.json').map(name => read(name));
const characters = traces.map(trace => trace.character);
const isOne = traces.length === 1;

const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 1e-4 * Math.max(Math.abs(a), Math.abs(b)) + 1e-9, `${what}: ${a}, not ${b}`);
const whole = async page => (await embedded(page)).groups.flat();
// A line of a figure by title: the curve of one trace, whose name is in the title if there are several traces.
function lineOf(panels, title, curve, load) {
  const panel = panels.find(one => one.title === (isOne || !curve ? title : `${title}: ${curve}`));
  assert.ok(panel, title);
  const line = isOne ? panel.lines.find(one => one.name === curve) : panel.lines[load];
  return line.x.map((x, at) => [x, line.y[at]]);
}
// Pixels of a chart in the colour of a line.
const painted = (page, chart, line) => page.evaluate(([chart, line]) => {
  const copy = copyOf(document.querySelectorAll('.chart canvas')[chart]);
  return coloured(copy.getImageData(0, 0, copy.canvas.width, copy.canvas.height).data, line);
}, [chart, line]);
const chartOf = async (page, title) => (await page.locator('.chart h3').allTextContents()).indexOf(title);

await check('the figures are those of the traces', {}, async page => {
  const panels = await whole(page);
  for (const [load, of] of characters.entries()) {
    const same = (line, expected, what) => expected.forEach(([x, y], at) => {
      near(line[at][0], x, `${what}, place ${at}`);
      near(line[at][1], y, `${what} at ${x}`);
    });
    const mix = of.mix, seconds = mix.interval_ns / 1e9;
    const rates = lineOf(panels, 'requests a second', 'reads', load);
    assert.equal(rates.length, mix.intervals.length + 1);
    mix.intervals.forEach((interval, at) => near(rates[at][1], interval.reads / seconds, 'rate of reads'));
    // What a distribution has up to each bin; the curve begins before and ends behind it.
    const shares = (title, curve, { bins, count }, factor) => {
      let sum = 0;
      const line = lineOf(panels, title, curve, load), expected = bins.map(bin => [bin.from * factor, 100 * (sum += bin.count) / count]);
      const from = line.length - bins.length - 1;
      same(line.slice(from), [...expected], title);
      assert.equal(line.at(-1)[1], 100);
    };
    shares('request size', 'writes', of.write_bytes, 1);
    shares('gap between arrivals', isOne ? 'share of gaps' : null, of.arrivals.gap_ns, 1);
    shares('reuse distance', isOne ? 'share of reuses' : null, of.reuse.reuse_pages, 4096);
    shares('overwrite distance', isOne ? 'share of overwrites' : null, of.reuse.overwrite_bytes, 1);
    const one = title => lineOf(panels, title, isOne ? '' : null, load);
    same(one('misses of an LRU cache of reads and writes'), of.reuse.lru.map(point => [point.cache_pages * 4096, 100 * point.miss_ratio]), 'misses');
    same(one('skew: share of accesses to the pages used most'), of.skew.top.map(top => [top.pages_percent, 100 * top.accesses_ratio]), 'skew');
    same(one('idle: share of the time in gaps of at least a length'), of.arrivals.idle.map(idle => [idle.at_least_ns, 100 * idle.time_ratio]), 'idle');
  }
});

await check('every figure is drawn', {}, async page => {
  const panels = await whole(page);
  assert.equal(await page.locator('.chart').count(), panels.length);
  for (const [at, panel] of panels.entries()) {
    const pixels = await Promise.all(panel.lines.map((_, line) => painted(page, at, line)));
    assert.ok(pixels.some(count => count > 30), `${panel.title}: ${pixels}`);
  }
  await picture(page, `trace-${traces.length}`);
});

await check('the tables and the doubts say what the traces say', {}, async page => {
  for (const warning of traces.flatMap(trace => trace.warnings)) assert.ok((await page.textContent('.doubts')).includes(warning), warning);
  const facts = await page.textContent('.facts');
  traces.forEach(trace => assert.ok(facts.includes(trace.digest)));
  if (isOne) return;
  const compared = read('compared.json');
  const rows = table => page.$$eval(`#${table} tbody tr`, all => all.map(row => [row.dataset.name, ...[...row.querySelectorAll('td')].map(cell => cell.querySelector('data')?.value ?? null)]));
  const expected = (list, keys) => list.map(one => [one.name, ...keys.map(key => one[key] === null ? null : String(one[key]))]);
  const numbers = all => all.map(([name, ...values]) => [name, ...values.map(value => value === null ? null : Number(value))]);
  assert.deepEqual(numbers(await rows('figures')), numbers(expected(compared.figures, ['first', 'second', 'ratio'])));
  assert.deepEqual(numbers(await rows('distances')), numbers(expected(compared.distances, ['kolmogorov_smirnov', 'total_variation'])));
});

await check('arrow keys and the pointer tell the values', {}, async page => {
  const title = 'misses of an LRU cache of reads and writes', at = await chartOf(page, title);
  const plot = page.locator('.plot').nth(at), told = () => page.locator('.chart output').nth(at).textContent();
  const sizes = [...new Set(characters.flatMap(of => of.reuse.lru.map(point => point.cache_pages)))].sort((a, b) => a - b);
  await plot.focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  const pages = sizes[Math.floor(sizes.length / 2) + 1], text = await told();
  characters.forEach((of, load) => {
    const point = of.reuse.lru.find(one => one.cache_pages === pages);
    const found = text.match(new RegExp(`${isOne ? 'share of misses' : 'AB'[load] + ': \\w[^:]*'}: ([\\d.]+) %`));
    assert.equal(found !== null, point !== undefined, text);
    if (point) assert.ok(Math.abs(Number(found[1]) - 100 * point.miss_ratio) < 0.51, `${text}, not ${point.miss_ratio}`);
  });
  const size = pages * 4096, [unit, name] = size >= 0.9995e6 ? [1e6, 'MB'] : [1e3, 'kB'];
  assert.ok(text.startsWith(`cache ${Number((size / unit).toPrecision(4))} ${name};`), text);
  const box = await page.locator('.u-over').nth(at).boundingBox();
  await page.mouse.move(box.x + 2, box.y + box.height / 2);
  await page.waitForFunction(at => document.querySelectorAll('.chart output')[at].textContent.startsWith('cache 4.096 kB'), at);
});

await check('legends name the lines, and boxes hide them', {}, async page => {
  const panels = await whole(page);
  if (isOne) {
    for (const [at, panel] of panels.entries()) {
      const names = await page.locator('.chart').nth(at).locator('.names > span').allTextContents();
      assert.deepEqual(names, panel.lines.length > 1 ? panel.lines.map(line => line.name) : []);
    }
    const swatch = await page.locator('.names .swatch').first().evaluate(one => getComputedStyle(one).backgroundImage);
    assert.match(swatch, /gradient/);
    assert.ok(!await page.locator('#toggles').isVisible());
    return;
  }
  const at = await chartOf(page, 'gap between arrivals');
  for (const load of traces.keys()) {
    const before = await painted(page, at, load);
    assert.ok(before > 30, String(before));
    await page.locator('#toggles input').nth(load).focus();
    await page.keyboard.press('Space');
    assert.equal(await painted(page, at, load), 0);
    await page.keyboard.press('Space');
    assert.equal(await painted(page, at, load), before);
  }
});

await check('every figure can be taken along', {}, async page => {
  const panels = await whole(page), at = await chartOf(page, 'gap between arrivals');
  const chart = page.locator('.chart').nth(at), panel = panels[at];
  const rows = (await taken(page, chart, 'CSV')).trim().split('\n');
  assert.equal(rows.length, 1 + new Set(panel.lines.flatMap(line => line.x)).size);
  assert.equal(rows[1].split(',')[0], String(Math.min(...panel.lines.flatMap(line => line.x))));
  const drawn = await parsed(page, await taken(page, chart, 'SVG'), 'svg svg path');
  assert.deepEqual([drawn.count, drawn.fault], [traces.length, undefined]);
});

for (const colorScheme of ['light', 'dark']) {
  await check(`it can be read in ${colorScheme}`, { colorScheme }, async page => {
    const { lowest, ground } = await contrast(page);
    assert.ok(lowest >= 4.5, `text: ${lowest}`);
    assert.equal(ground < 0.2, colorScheme === 'dark');
    await picture(page, `trace-${traces.length}-${colorScheme}`);
  });
}

for (const width of [375, 1400]) {
  await check(`it fits ${width} pixels`, { viewport: { width, height: 800 } }, async page => {
    await fits(page);
    // On a wide screen no table is cut off, however long the names of the traces are.
    const cut = await page.$$eval('.wide', all => all.filter(box => box.scrollWidth > box.clientWidth + 1).map(box => box.ariaLabel));
    if (width > 1000) assert.deepEqual(cut, []);
    await picture(page, `trace-${traces.length}-${width}`);
  });
}

await check('without JavaScript the tables are there', { javaScriptEnabled: false }, async page => {
  assert.ok(await page.locator('.facts').isVisible());
  assert.ok(await page.locator('noscript').first().textContent());
  assert.ok(!await page.locator('#drawings').isVisible());
});

await end();
