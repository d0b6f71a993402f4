// What the checks of the page that ./x web makes have in common: BROWSER FOLDER.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [executablePath, folder] = process.argv.slice(2);
export const file = resolve(folder, 'ftlab.html');
export const scratch = mkdtempSync(join(tmpdir(), 'ftlab-web-'));
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
let checks = 0;

// Opens the page with a plan in its address, as a link of the page does.
export async function open(plan, options = {}) {
  const page = await (await browser.newContext({ viewport: { width: 1400, height: 1000 }, ...options })).newPage();
  const complaints = [], requests = [];
  page.on('console', message => complaints.push(message.text()));
  page.on('pageerror', error => complaints.push(String(error)));
  page.on('request', request => requests.push(request.url()));
  const hash = plan ? `#${encodeURIComponent(JSON.stringify(plan))}` : '';
  await page.goto(pathToFileURL(file).href + hash);
  await page.waitForFunction(() => ['ready', 'refused'].includes(document.getElementById('state').textContent), null, { timeout: 60000 });
  const close = async () => {
    assert.deepEqual(complaints, [], 'the console is silent');
    assert.deepEqual(requests.filter(url => !url.startsWith('file:') && !url.startsWith('blob:')), [], 'nothing is fetched');
    await page.context().close();
  };
  return { page, close };
}
export const state = (page, text, timeout = 120000) => page.waitForFunction(told => document.getElementById('state').textContent === told, text, { timeout });
export async function check(name, body) {
  await body();
  checks += 1;
  console.log(`${name}: as it should be`);
}
// Hands out what a button of the page, or of one of its charts, downloads.
export async function downloaded(page, name, chart = null) {
  const waiting = page.waitForEvent('download');
  await page.click(chart === null ? `#files >> text="${name}"` : `#time .chart >> nth=${chart} >> text="${name}"`);
  return readFileSync(await (await waiting).path(), 'utf8');
}
// How many pixels of the time line are of this colour.
export const pixels = (page, name) => page.evaluate(name => {
  const canvas = document.getElementById('strip'), copy = document.createElement('canvas');
  [copy.width, copy.height] = [canvas.width, canvas.height];
  const pen = copy.getContext('2d', { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const ink = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const wanted = [1, 3, 5].map(at => parseInt(ink.slice(at, at + 2), 16)), all = pen.getImageData(0, 0, copy.width, copy.height).data;
  let found = 0;
  for (let at = 0; at < all.length; at += 4) if (wanted.every((value, channel) => Math.abs(all[at + channel] - value) < 3)) found += 1;
  return found;
}, name);
export const setSpeed = (page, at) => page.evaluate(value => {
  const slider = document.getElementById('speed');
  slider.value = value;
  slider.dispatchEvent(new Event('input'));
}, at);
export async function finish(name) {
  await browser.close();
  rmSync(scratch, { recursive: true });
  console.log(`${name}: ${checks} checks`);
}
