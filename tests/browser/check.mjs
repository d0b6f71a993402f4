// Opens a page of ftlab in a real browser and checks that its drawings match its data.
// The command line of each check: BROWSER FOLDER [FOLDER_FOR_PICTURES], or, instead of a folder, the address of a server.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [executablePath, folder, pictures] = process.argv.slice(2);
const live = folder.startsWith('http://');
const address = live ? folder : pathToFileURL(resolve(folder, 'report.html')).href;
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
let done = 0;

// A document of the folder.
export const read = name => JSON.parse(readFileSync(join(folder, name), 'utf8'));

export async function check(name, options, body) {
  const context = await browser.newContext({ viewport: { width: 1600, height: 1000 }, ...options });
  const page = await context.newPage();
  const complaints = [], requests = [];
  page.on('console', message => complaints.push(message.text()));
  page.on('pageerror', error => complaints.push(String(error)));
  page.on('request', request => requests.push(request.url()));
  await page.addInitScript(() => {
    // Reads from a copy: reading the page's own canvas makes the browser warn about speed.
    globalThis.copyOf = from => {
      const to = document.createElement('canvas');
      [to.width, to.height] = [from.width, from.height];
      const context = to.getContext('2d', { willReadFrequently: true });
      context.drawImage(from, 0, 0);
      return context;
    };
    // The number of these pixels in the colour of a variant or series.
    globalThis.coloured = (pixels, at) => {
      const text = getComputedStyle(document.documentElement).getPropertyValue('--v' + at).trim();
      const wanted = [1, 3, 5].map(at => parseInt(text.slice(at, at + 2), 16));
      let found = 0;
      for (let at = 0; at < pixels.length; at += 4) {
        if (pixels[at + 3] === 255 && wanted.every((value, channel) => Math.abs(pixels[at + channel] - value) < 3)) found += 1;
      }
      return found;
    };
  });
  await page.goto(address);
  try {
    // Who expects complaints takes them out of the list.
    await body(page, complaints);
    assert.deepEqual(complaints, [], 'the console is silent');
    if (live) assert.deepEqual(requests.filter(url => !url.startsWith(address)), [], 'nothing leaves the server');
    else assert.deepEqual(requests, [address], 'nothing but the page is fetched');
    done += 1;
    console.log(`ok: ${name}`);
  } catch (error) {
    if (pictures) await page.screenshot({ path: join(pictures, 'failed.png'), fullPage: true });
    throw new Error(`${name}: ${error.message}`, { cause: error });
  } finally {
    await context.close();
  }
}

export const picture = (page, name) => pictures ? page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true }) : null;
export const embedded = page => page.evaluate(() => JSON.parse(document.getElementById('data').textContent));

// The lowest contrast of texts as WCAG 2.2 defines it, and the lightness of the ground.
export const contrast = page => page.evaluate(() => {
  const linear = value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = text => {
    const [r, g, b] = text.match(/[\d.]+/g).slice(0, 3).map(value => linear(Number(value) / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = light(getComputedStyle(document.body).backgroundColor);
  document.querySelectorAll('details').forEach(one => { one.open = true; });
  const texts = [...document.querySelectorAll('h1, h2, h3, h4, p, td, th, li, summary, dt, dd, .legend span')];
  const ratios = texts.map(one => {
    const ink = light(getComputedStyle(one).color);
    return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
  });
  return { lowest: Math.min(...ratios), ground };
});

// The text of a file that a button within a place (a selector or locator) hands out.
export async function taken(page, within, name) {
  const place = typeof within === 'string' ? page.locator(within) : within;
  const button = place.getByRole('button', { name, exact: true }).first();
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return readFileSync(await file.path(), 'utf8');
}

// How many of some elements a drawing has, its text, and what is wrong with it.
export const parsed = (page, source, selector) => page.evaluate(([source, selector]) => {
  const made = new DOMParser().parseFromString(source, 'image/svg+xml');
  return { count: made.querySelectorAll(selector).length, text: made.documentElement.textContent, fault: made.querySelector('parsererror')?.textContent };
}, [source, selector]);

// Checks that nothing is wider than the window.
export async function fits(page) {
  const [whole, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(whole <= window, `${whole} wide in ${window}`);
}

export async function end() {
  await browser.close();
  console.log(`${done} checks of the page passed`);
}
