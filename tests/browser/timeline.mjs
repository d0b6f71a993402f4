// Opens pages with time lines in a real browser and checks that what is drawn is what the trace says.
// usage: node timeline.mjs BROWSER FOLDER [FOLDER_FOR_PICTURES]
import assert from 'node:assert/strict';
import { check, contrast, embedded, end, fits, parsed, picture, taken } from './check.mjs';

// The fields of a slice, as the page has them.
const [FROM, LENGTH, NAME, CATEGORY] = [1, 2, 3, 4];
const panelOf = async page => (await embedded(page)).moments[0].panel;
const FILES = '.timeline .files';
const canvas = page => page.locator('.timeline canvas').first();

// Pixels of the panel in a colour.
const painted = (page, at) => page.evaluate(at => {
  const copy = copyOf(document.querySelector('.timeline canvas'));
  return coloured(copy.getImageData(0, 0, copy.canvas.width, copy.canvas.height).data, at);
}, at);
const told = page => page.locator('.timeline output').first().textContent();
for (const colorScheme of ['light', 'dark']) {
  await check(`the panel shows reads, collections and the host's commands, ${colorScheme}`, { colorScheme }, async page => {
    await canvas(page).scrollIntoViewIfNeeded();
    for (const at of [0, 1]) assert.ok(await painted(page, at) > 200, `colour ${at}: ${await painted(page, at)}`);
    const { lowest, ground } = await contrast(page);
    assert.ok(lowest >= 4.5, `contrast ${lowest}`);
    assert.equal(ground < 0.2, colorScheme === 'dark');
    await picture(page, `timeline-${colorScheme}`);
  });
}

await check('the request in question is told, with what it waited for', {}, async page => {
  const panel = await panelOf(page), moment = (await embedded(page)).moments[0];
  const requests = panel.slices.filter(slice => panel.texts[slice[CATEGORY]] === 'request');
  assert.ok(requests.length > 3);
  const text = await told(page);
  assert.match(text, /^(reads|writes), \d+: (read|write) \d+; .*latency .*linked$/);
  if (moment.about) assert.ok(text.includes(moment.about), text);
});

await check('a click on a slice tells what it is', {}, async page => {
  const panel = await panelOf(page);
  await canvas(page).focus();
  await page.keyboard.press('Escape');
  assert.equal(await told(page), '');
  await canvas(page).scrollIntoViewIfNeeded();
  const box = await canvas(page).boundingBox();
  // Along the rows of dies, until one is met.
  const names = new Set(panel.slices.map(slice => panel.texts[slice[NAME]]));
  let found = '';
  for (let y = 50; y < 400 && !found; y += 5) {
    await page.mouse.click(box.x + 150 + (box.width - 150) * 0.6, box.y + y);
    found = await told(page);
  }
  assert.ok([...names].some(name => found.includes(`: ${name}; `)), found);
  assert.match(found, /from \d+(\.\d+)? (s|ms|us)/);
});

await check('it can be zoomed and moved with keys and buttons', {}, async page => {
  await canvas(page).focus();
  const picture = () => page.evaluate(() => document.querySelector('.timeline canvas').toDataURL().length + document.querySelector('.timeline canvas').toDataURL().slice(-4000));
  const settled = async () => { await page.waitForTimeout(120); return picture(); };
  const whole = await settled();
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  const near = await settled();
  assert.notEqual(near, whole);
  await page.keyboard.press('Home');
  const again = await settled();
  assert.equal(again, whole);
  const before = await told(page);
  await page.keyboard.press('ArrowRight');
  const after = await told(page);
  await page.keyboard.press('ArrowUp');
  assert.ok(after !== before || await told(page) !== before, before);
});

await check('SVG and CSV have what is drawn', {}, async page => {
  const panel = await panelOf(page);
  await page.locator('.timeline .files').first().getByRole('button', { name: 'Show everything' }).click();
  const rows = (await taken(page, FILES, 'CSV')).trim().split('\n').slice(1);
  assert.equal(rows.length, panel.slices.length);
  const starts = rows.map(row => Number(row.match(/,(-?\d+),(\d*),/)[1]));
  const offset = panel.from_ns - panel.zero_ns;
  const expected = panel.slices.map(slice => slice[FROM] + offset);
  assert.deepEqual(starts.sort((a, b) => a - b), expected.sort((a, b) => a - b));
  const drawn = await taken(page, FILES, 'SVG');
  const { count: rects, text, fault } = await parsed(page, drawn, 'rect');
  assert.equal(fault, undefined);
  assert.ok(rects >= panel.slices.filter(slice => slice[LENGTH] !== null).length, `${rects} rects`);
  for (const word of ['Dies', 'Channels', 'Requests', 'Collections']) assert.ok(text.includes(word), word);
});

await check('it fits a telephone', { viewport: { width: 390, height: 800 }, deviceScaleFactor: 3, hasTouch: true }, async page => {
  await canvas(page).scrollIntoViewIfNeeded();
  await fits(page);
  assert.ok(await painted(page, 0) > 200);
  await picture(page, 'timeline-narrow');
});

await end();
