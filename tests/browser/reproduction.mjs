// Opens the page of a reproduction in a real browser and checks that its drawings match its data.
// usage: node reproduction.mjs BROWSER FOLDER [FOLDER_FOR_PICTURES]
import assert from 'node:assert/strict';
import { check, contrast, embedded, end, fits, parsed, picture, read, taken } from './check.mjs';

const result = read('result.json');

// Pixels of a panel in the colour of a series, within some CSS pixels of a point on its scales.
const painted = (page, panel, series, around) => page.evaluate(([panel, series, around]) => {
  const from = document.querySelectorAll('.panel canvas')[panel];
  const context = copyOf(from), copy = context.canvas;
  const scale = from.width / from.clientWidth;
  const over = document.querySelectorAll('.panel .u-over')[panel];
  const box = over.getBoundingClientRect(), whole = from.getBoundingClientRect();
  const area = around === null ? [0, 0, copy.width, copy.height]
    : [(box.left - whole.left + around.x * box.width - 3) * scale, (box.top - whole.top + around.y * box.height - 3) * scale, 6 * scale, 6 * scale];
  const pixels = context.getImageData(...area).data;
  return coloured(pixels, series);
}, [panel, series, around]);

await check('the table says what result.json says', {}, async page => {
  const shown = await page.$$eval('#claims tbody', all => all.map(body => ({
    claim: body.dataset.claim,
    rows: [...body.querySelectorAll('tr:not(.claim)')].map(row => [row.className, Number(row.querySelector('data').value), row.querySelector('.is').textContent]),
  })));
  const words = { reproduced: ['reproduced', 'reproduced'], differs_explained: ['explained', 'differs, explained'], out_of_tolerance: ['out', 'out of tolerance'] };
  const expected = result.claims.map(claim => ({
    claim: claim.id,
    rows: claim.rows.map(row => [words[row.verdict][0], row.ours, words[row.verdict][1]]),
  }));
  assert.deepEqual(shown, expected);
  const { reproduced, differs_explained: explained, out_of_tolerance: out } = result.verdicts;
  assert.deepEqual([reproduced, explained, out], [1, 1, 1]);
  assert.match(await page.textContent('.verdict'), /1 reproduced; 1 differs, explained; 1 out of tolerance/);
  assert.ok((await page.textContent('#claims')).includes('It is a test.'));
});

await check('every panel is drawn, and printed numbers are marked where they belong', {}, async page => {
  const data = await embedded(page);
  const panels = data.flatMap(figure => figure.panels.map(panel => ({ figure, panel })));
  assert.equal(await page.locator('.panel').count(), panels.length);
  for (const [at, { figure, panel }] of panels.entries()) {
    for (const series of figure.series.keys()) {
      assert.ok(await painted(page, at, series, null) > 30, `series ${series} of panel ${at}`);
    }
    for (const mark of panel.printed.filter(() => figure.kind === 'lines')) {
      // The scales as the script sets them: from below the first value to beyond the last, and from zero.
      const xs = figure.ticks.map(tick => tick.x);
      const edge = (Math.max(...xs) - Math.min(...xs)) * 0.03;
      const x = (mark.x - Math.min(...xs) + edge) / (Math.max(...xs) - Math.min(...xs) + 2 * edge);
      const tops = panel.points.flat().flatMap(dot => [dot.y, dot.high ?? 0]).concat(panel.references.map(one => one?.y ?? 0), mark.y);
      const y = 1 - mark.y / (Math.max(...tops) * 1.06);
      assert.ok(await painted(page, at, mark.series, { x, y }) >= 12, `the mark of panel ${at}`);
    }
  }
  assert.equal(data[0].panels[0].printed.length, 1);
  await picture(page, 'reproduction');
});

await check('pointing and arrow keys tell values, intervals and what is printed', {}, async page => {
  const data = await embedded(page);
  const plot = page.locator('.panel .plot').first();
  const told = () => page.textContent('.panel:first-child output');
  await plot.focus();
  await page.keyboard.press('ArrowRight');
  const dot = data[0].panels[0].points[0][0];
  const first = await told();
  assert.ok(first.startsWith(dot.name), first);
  assert.ok(first.includes(`average read latency: ${dot.y.toFixed(0)} us (${dot.low.toFixed(0)} to ${dot.high.toFixed(0)}), paper 100 us`), first);
  await page.keyboard.press('End');
  assert.ok((await told()).startsWith('late'), await told());
  const box = await page.locator('.panel .u-over').first().boundingBox();
  await page.mouse.move(box.x + 2, box.y + box.height / 2);
  await page.waitForFunction(text => document.querySelector('.panel output').textContent === text, first);
});

await check('heat maps have their numbers in cells whose colours leave them readable', {}, async page => {
  const cells = await page.$$eval('.map svg g', all => all.map(cell => {
    const linear = value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const light = one => {
      const [r, g, b] = getComputedStyle(one).fill.match(/[\d.]+/g).map(value => linear(Number(value) / 255));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const [ground, ...inks] = [cell.querySelector('rect'), ...cell.querySelectorAll('text')].map(light);
    const ratios = inks.map(ink => (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05));
    const box = cell.querySelector('rect').getBoundingClientRect(), text = cell.querySelector('text').getBoundingClientRect();
    return {
      text: cell.querySelector('text').textContent, title: cell.querySelector('title').textContent,
      fill: cell.querySelector('rect').getAttribute('fill'), lowest: Math.min(...ratios),
      // A text element nested in the rectangle would not be rendered and have no size.
      inside: text.width > 0 && text.height > 0 && text.left >= box.left && text.right <= box.right,
    };
  }));
  const points = result.figures.find(figure => figure.kind === 'heatmap').points;
  const shown = points.map(point => Math.abs(point.value) < 0.05 ? '0.0' : (point.value > 0 ? '+' : '') + point.value.toFixed(1));
  assert.deepEqual(cells.map(cell => cell.text).sort(), shown.sort());
  for (const cell of cells) assert.ok(cell.lowest >= 4.5 && cell.inside, JSON.stringify(cell));
  const most = cells.find(cell => cell.text === shown.find(text => Number(text) === Math.min(...shown.map(Number))));
  assert.equal(most.fill, '#2166ac', 'what is least is blue');
  assert.ok(cells.filter(cell => cell.text === '0.0').every(cell => cell.fill === '#f7f7f7'), 'what is alike is white');
  assert.match(most.title, /read-first, .*% \(-[\d.]+ to -[\d.]+\)/);
  const [steps, visible] = await page.$$eval('.scale svg rect', all => [all.length, all.filter(one => one.getBoundingClientRect().width > 0).length]);
  assert.ok(steps > 2 && visible === steps, `${visible} of ${steps} colours of the legend are drawn`);
  await picture(page, 'heatmap');
});

await check('every figure can be taken along', {}, async page => {
  const figures = await embedded(page), [first] = figures;
  const rows = (await taken(page, '.panel', 'CSV')).trim().split('\n');
  const places = new Set(first.panels[0].points.flat().map(dot => dot.x));
  assert.equal(rows.length, places.size + 1);
  assert.equal(rows[0].split(',').length, 1 + 4 * first.series.length);
  const drawn = await parsed(page, await taken(page, '.panel', 'SVG'), 'svg svg > *');
  assert.equal(drawn.fault, undefined);
  assert.ok(drawn.count >= first.series.length, String(drawn.count));
  first.series.forEach(name => assert.ok(drawn.text.includes(name), name));
  const cells = await page.locator('.maps .map').first().locator('g').count();
  const map = await parsed(page, await taken(page, '.maps .map', 'SVG'), 'g rect');
  assert.deepEqual([map.fault, map.count], [undefined, cells]);
  const table = (await taken(page, '.maps .map', 'CSV')).trim().split('\n').slice(1);
  const numbers = table.flatMap(row => row.match(/[+-]?[\d.]+ ?%|not known/g) ?? []);
  assert.ok(numbers.length >= cells, `${numbers.length} of ${cells}`);
});

for (const colorScheme of ['light', 'dark']) {
  await check(`it can be read in ${colorScheme}`, { colorScheme }, async page => {
    const { lowest, ground } = await contrast(page);
    assert.ok(lowest >= 4.5, `text: ${lowest}`);
    assert.equal(ground < 0.2, colorScheme === 'dark');
    assert.ok(await painted(page, 0, 0, null) > 30, 'the curves have the colours of the scheme');
  });
}

for (const width of [375, 1400]) {
  await check(`it fits ${width} pixels`, { viewport: { width, height: 800 } }, async page => {
    await fits(page);
    await picture(page, `reproduction-${width}`);
  });
}

await check('without JavaScript the numbers are there', { javaScriptEnabled: false }, async page => {
  assert.ok(await page.locator('#claims').isVisible());
  assert.ok(await page.locator('noscript').first().textContent());
  assert.ok((await page.textContent('#readme')).includes('great deal'));
  assert.ok(await page.locator('.map svg').isVisible(), 'heat maps need none');
});

await end();
