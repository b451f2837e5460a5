// The dashboard while agents work, as a drawing that moves: frames of the real page, one after the other, without a script.
// HOLDFAST_SCREENSHOTS=docs keeps it for the documentation.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { go, launch, open, sees, type Started, type Tab } from '../support/browsers.js';
import { World } from '../support/world.js';

const DOCS = new URL('../../../../docs/pictures', import.meta.url).pathname;
const [WIDTH, HEIGHT] = [960, 600];
const SECONDS = 2;
const LARGEST = 200_000;

let world: World;
let browser: Started;
let tab: Tab;

beforeAll(async () => {
  world = new World();
  browser = await launch('chromium');
});

afterAll(async () => {
  await browser?.close();
  await world?.end();
});

/** Every frame is seen for its turn; whoever wants no movement sees the last one. */
function moving(frames: readonly string[]): string {
  const total = frames.length * SECONDS;
  const rules = frames.map((_, number) => {
    const [from, to] = [(100 * number) / frames.length, (100 * (number + 1)) / frames.length];
    const before = number === 0 ? '' : '0%{opacity:0}';
    return `@keyframes f${number}{${before}${from.toFixed(2)}%{opacity:1}${number + 1 < frames.length ? `${to.toFixed(2)}%{opacity:0}` : ''}}`;
  });
  const images = frames.map((data, number) => `<image class="f" style="animation-name:f${number}" width="${WIDTH}" height="${HEIGHT}" href="data:image/webp;base64,${data}"/>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="The dashboard of jit serve while three agents claim and finish issues">
<style>.f{animation:${total}s step-end infinite}
${rules.join('\n')}
@media (prefers-reduced-motion:reduce){.f{animation:none}}</style>
${images.join('\n')}
</svg>
`;
}

test('frames of three agents at work make a small drawing that moves', async () => {
  const titles = ['Log in with a passkey', 'Show when a session ends', 'Rotate the signing keys', 'Limit failed attempts', 'Tell people of new devices'];
  const issues = titles.map((title, number) => world.issue(title, '--priority', number === 0 ? 'high' : 'normal'));
  world.issue('Write down how it works', '--depends-on', issues[0] ?? '');
  const places = ['ada', 'bert', 'cleo'].map((name) => [`agent:${name}`, world.worktree(name)] as const);
  tab = await open(browser, await world.serve(), { width: WIDTH, height: HEIGHT });
  const { page } = tab;
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
  const frames: string[] = [];
  const frame = async (words: string) => {
    await sees(page, words);
    frames.push(await page.screenshot({ type: 'webp', quality: 60, encoding: 'base64' }));
  };
  await go(page, '#/board');
  await frame('Limit failed attempts');
  await go(page, '#/now');
  for (const [number, [agent, at]] of places.entries()) {
    const issue = issues[number] ?? '';
    world.jit(['claim', 'acquire', issue, '--ttl', '900'], agent, at);
    world.jit(['issue', 'update', issue, '--state', 'in_progress'], agent, at);
    await frame(agent);
  }
  world.jit(['note', issues[1] ?? '', 'The test of the clock is flaky.'], 'agent:bert', places[1]?.[1]);
  world.jit(['issue', 'update', issues[0] ?? '', '--state', 'done'], 'agent:ada', places[0]?.[1]);
  world.jit(['claim', 'release', issues[0] ?? ''], 'agent:ada', places[0]?.[1]);
  world.jit(['claim', 'acquire', issues[3] ?? '', '--ttl', '900'], 'agent:ada', places[0]?.[1]);
  await frame('Limit failed attempts');
  await go(page, '#/board');
  await frame('In progress');
  await go(page, '#/history?last=1h');
  await frame('agent:bert');
  const drawing = moving(frames);
  expect(drawing.length).toBeLessThan(LARGEST);
  expect(drawing).not.toContain('<script');
  expect(new Set(frames).size).toBeGreaterThan(4);
  if (process.env['HOLDFAST_SCREENSHOTS'] === 'docs') writeFileSync(join(DOCS, 'dashboard.svg'), drawing);
});
