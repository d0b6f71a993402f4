// Opens a page with many variants, or of many points, in a real browser.
// usage: node huge.mjs BROWSER FOLDER [FOLDER_FOR_PICTURES]
import assert from 'node:assert/strict';
import { check, contrast, embedded, end, fits, picture } from './check.mjs';

for (const [width, colorScheme] of [[360, 'dark'], [1600, 'light']]) {
  await check(`it fits ${width} pixels in ${colorScheme}`, { viewport: { width, height: 900 }, colorScheme }, async page => {
    await fits(page);
    const { lowest } = await contrast(page);
    assert.ok(lowest >= 4.5, `text: ${lowest}`);
    await picture(page, `huge-${width}`);
  });
}

await check('every canvas that is there is painted', {}, async page => {
  const empty = await page.$$eval('canvas', all => all.filter(one => {
    const pixels = copyOf(one).getImageData(0, 0, one.width, one.height).data;
    return !pixels.some(value => value > 0);
  }).length);
  assert.equal(empty, 0);
  assert.ok(await page.locator('.glance tbody tr').count() >= 3);
});

await check('lines are told apart by more than their colours', {}, async page => {
  const data = await embedded(page), lines = (data.variants ?? data.axes[1].names).length;
  const styles = await page.evaluate(lines => [...Array(lines).keys()].map(at => `${colour(at)} ${dash(at)}`), lines);
  assert.equal(new Set(styles).size, lines);
});

await end();
