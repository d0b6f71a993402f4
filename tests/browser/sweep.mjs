// Opens the page of a sweep in a real browser and checks that its drawings match its data.
// usage: node sweep.mjs BROWSER FOLDER [FOLDER_FOR_PICTURES]
import assert from 'node:assert/strict';
import { check, contrast, embedded, end, fits, parsed, picture, read, taken } from './check.mjs';

const sweep = read('sweep.json');
const byKey = key => sweep.metrics.findIndex(metric => metric.key === key);

// Pixels of a panel in the colour of a line, in all or within some CSS pixels of a point of its plotting area.
const painted = (page, panel, line, around = null) => page.evaluate(([panel, line, around]) => {
  const from = document.querySelectorAll('.panel canvas')[panel];
  const context = copyOf(from), copy = context.canvas, scale = from.width / from.clientWidth;
  const box = document.querySelectorAll('.panel .u-over')[panel].getBoundingClientRect(), whole = from.getBoundingClientRect();
  const area = around === null ? [0, 0, copy.width, copy.height]
    : [(box.left - whole.left + around.x * box.width - 4) * scale, (box.top - whole.top + around.y * box.height - 4) * scale, 8 * scale, 8 * scale];
  return coloured(context.getImageData(...area).data, line);
}, [panel, line, around]);

await check('the table says what sweep.json says', {}, async page => {
  const shown = await page.$$eval('#means tbody tr', rows => rows.map(row => ({
    at: [...row.querySelectorAll('th')].map(cell => cell.textContent),
    means: [...row.querySelectorAll('td')].map(cell => cell.querySelector('data') ? Number(cell.querySelector('data').value) : null),
  })));
  const expected = sweep.points.map(point => ({
    at: sweep.axes.map(axis => axis.values.find(value => value.name === point.at[axis.name]).label),
    means: sweep.metrics.map(metric => point.metrics[metric.key]?.mean ?? null),
  }));
  assert.deepEqual(shown, expected);
});

await check('every panel has its lines, with a dot at every mean', {}, async page => {
  const [along, lines, rest] = sweep.axes;
  assert.equal(await page.locator('.panel').count(), rest.values.length);
  const key = 'write_amplification.total';
  assert.equal(await page.inputValue('#metric'), String(byKey(key)));
  const means = sweep.points.map(point => point.metrics[key]);
  const most = Math.max(...means.map(mean => mean.high));
  const numbers = along.values.map(value => value.number);
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)], edge = (last - first) * 0.04;
  for (const [panel] of rest.values.entries()) {
    for (const [line] of lines.values.entries()) {
      for (const [at, number] of numbers.entries()) {
        const mean = means[(at * lines.values.length + line) * rest.values.length + panel].mean;
        const x = (number - first + edge) / (last - first + 2 * edge);
        const y = 1 - mean / (most + (most - Math.min(...means.map(mean => mean.low))) * 0.06);
        // A later line may cover an earlier one.
        const covering = lines.values.map((_, other) => other).filter(other => other >= line);
        const found = await Promise.all(covering.map(other => painted(page, panel, other, { x, y })));
        assert.ok(found.reduce((sum, one) => sum + one) >= 6, `panel ${panel}, line ${line}, value ${at}: ${found}`);
      }
    }
  }
  await picture(page, 'sweep');
});

await check('the glance says which axis moves a metric, and which point is best', {}, async page => {
  const spans = await page.$$eval('#glance td[data-axis]', cells => cells.map(cell => ({ ...cell.dataset, bold: cell.classList.contains('most'), dots: cell.querySelectorAll('circle').length, best: cell.querySelector('.at').textContent })));
  assert.ok(spans.length >= sweep.axes.length * 3, String(spans.length));
  for (const { axis, metric, span, bold, dots, best } of spans) {
    const named = sweep.axes.find(one => one.name === axis), told = sweep.metrics.find(one => one.key === metric);
    const means = named.values.map(value => {
      const known = sweep.points.filter(point => point.at[axis] === value.name).map(point => point.metrics[metric]?.mean).filter(mean => mean !== undefined && mean !== null);
      return known.length ? known.reduce((a, b) => a + b) / known.length : null;
    });
    const known = means.filter(mean => mean !== null), [low, high] = [Math.min(...known), Math.max(...known)];
    assert.ok(Math.abs(Number(span) - (high - low) / Math.max(Math.abs(low), Math.abs(high))) < 1e-9, `${axis} ${metric}`);
    assert.equal(dots, known.length);
    const wanted = named.values[means.indexOf(told.better === 'higher' ? high : low)].label;
    assert.equal(best, `best at ${wanted}`);
    const others = spans.filter(one => one.metric === metric).map(one => Number(one.span));
    assert.equal(bold, Number(span) === Math.max(...others));
  }
  const best = await page.$$eval('#glance tr:last-child td data', cells => cells.map(cell => Number(cell.value)));
  assert.ok(best.length >= 3 && best.every(value => sweep.points.some(point => Object.values(point.metrics).some(mean => mean?.mean === value))));
});

await check('every panel can be taken along', {}, async page => {
  const [along, lines] = sweep.axes, panel = '.panel:first-child';
  const rows = (await taken(page, panel, 'CSV')).trim().split('\n');
  assert.equal(rows.length, along.values.length + 1);
  assert.equal(rows[0].split(',').length, 1 + 3 * lines.values.length);
  const drawn = await parsed(page, await taken(page, panel, 'SVG'), 'svg svg path');
  // A line, an interval and a point for each.
  assert.equal(drawn.fault, undefined);
  assert.equal(drawn.count, lines.values.length * (1 + 2 * along.values.length));
  lines.values.forEach(value => assert.ok(drawn.text.includes(value.label), value.label));
});

await check('the choices change what is drawn', {}, async page => {
  await page.selectOption('#metric', String(byKey('iops')));
  await page.selectOption('#along', '1');
  assert.equal(await page.locator('.panel').count(), sweep.axes[2].values.length, 'the lines are those of the first axis');
  assert.equal(await page.inputValue('#lines'), '0');
  await page.selectOption('#lines', '2');
  assert.equal(await page.locator('.panel').count(), sweep.axes[0].values.length);
  assert.ok((await page.textContent('#legend')).startsWith(sweep.axes[2].label));
  for (const scale of ['fit', 'log', 'zero']) {
    await page.selectOption('#scale', scale);
    assert.ok(await painted(page, 0, 0) > 30 && await painted(page, 0, 1) > 30, scale);
  }
  await picture(page, 'sweep-names');
});

await check('pointing and arrow keys tell means and intervals', {}, async page => {
  const data = await embedded(page);
  const told = () => page.textContent('.panel:first-child output');
  await page.selectOption('#metric', String(byKey('iops')));
  await page.locator('.panel .plot').first().focus();
  await page.keyboard.press('ArrowRight');
  const first = await told(), mean = data.metrics[byKey('iops')].mean[0];
  assert.ok(first.startsWith(`${data.axes[0].label} ${data.axes[0].names[0]}`), first);
  assert.ok(first.includes(`${data.axes[1].names[0]}: ${mean.toFixed(0)} 1/s (`), first);
  await page.keyboard.press('End');
  assert.ok((await told()).startsWith(`${data.axes[0].label} ${data.axes[0].names.at(-1)}`), await told());
  const box = await page.locator('.panel .u-over').first().boundingBox();
  await page.mouse.move(box.x + 2, box.y + box.height / 2);
  await page.waitForFunction(text => document.querySelector('.panel output').textContent === text, first);
});

for (const colorScheme of ['light', 'dark']) {
  await check(`it can be read in ${colorScheme}`, { colorScheme }, async page => {
    const { lowest, ground } = await contrast(page);
    assert.ok(lowest >= 4.5, `text: ${lowest}`);
    assert.equal(ground < 0.2, colorScheme === 'dark');
    assert.ok(await painted(page, 0, 0) > 30, 'the curves have the colours of the scheme');
    await picture(page, `sweep-${colorScheme}`);
  });
}

for (const width of [375, 1400]) {
  await check(`it fits ${width} pixels`, { viewport: { width, height: 800 } }, async page => {
    await fits(page);
    await picture(page, `sweep-${width}`);
  });
}

await check('without JavaScript the table is there', { javaScriptEnabled: false }, async page => {
  assert.ok(await page.locator('#means').isVisible());
  assert.ok(await page.locator('noscript').first().textContent());
  assert.ok(!await page.locator('#drawings').isVisible());
});

await end();
