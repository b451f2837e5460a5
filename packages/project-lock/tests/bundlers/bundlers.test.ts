// An app that uses the package as npm would install it, made by each bundler and run in a real Chromium: two tabs, one
// holder. The default run takes one server for developing and two builds; `HOLDFAST_LONG` takes all.

import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { Chromium } from '../browser/support/chromium.js';
import { serve } from '../browser/support/server.js';
import { TOOLS, type Tool } from './tools.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const APP = `import { acquireProjectLock, releaseProjectLock } from '@holdfast/project-lock';
let held;
const told = (error) => ({ code: error.code ?? String(error) });
window.app = {
  acquire: (options) => acquireProjectLock(options).then(({ lease }) => ((held = lease), { source: lease.source }), told),
  release: () => releaseProjectLock({ lease: held }).then(() => ({}), told),
};
`;

interface App {
  acquire(options?: object): Promise<{ source?: string; code?: string }>;
  release(): Promise<object>;
}

const tools = TOOLS.filter(({ daily }) => daily || process.env['HOLDFAST_LONG']);
let [scratch, packed] = ['', ''];
let browser: Chromium;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'holdfast-bundlers-'));
  // What `npm publish` would send.
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', scratch], { cwd: ROOT });
  packed = join(scratch, (JSON.parse(stdout) as [{ filename: string }])[0].filename);
  browser = await Chromium.start();
});
afterAll(async () => {
  await browser?.stop();
  await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
});

/** A folder with the app, the package and the bundler in it. Tools that share what they are installed from share that. */
const folders = new Map<string, Promise<string>>();
function folderFor({ packages }: Tool): Promise<string> {
  const key = packages.join(' ');
  const made = folders.get(key) ?? install(String(folders.size), packages);
  folders.set(key, made);
  return made;
}

async function install(name: string, packages: readonly string[]): Promise<string> {
  const folder = join(scratch, name);
  await mkdir(folder);
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  await writeFile(join(folder, 'app.js'), APP);
  await run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel', 'error', packed, ...packages], { cwd: folder });
  return folder;
}

/** Makes the app or serves it, and says where it is and how to end that. */
async function start(tool: Tool, folder: string): Promise<{ url: string; stop(): Promise<void> }> {
  for (const stale of ['out', 'vite.config.js', 'rollup.config.mjs', 'index.html', 'node_modules/.vite']) {
    await rm(join(folder, stale), { recursive: true, force: true });
  }
  for (const [path, text] of Object.entries(tool.files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  if (tool.dev) return develop(tool.dev, folder);
  const [program, ...words] = tool.build ?? [];
  await run(join(folder, 'node_modules/.bin', program as string), words, { cwd: folder });
  const site = await serve(join(folder, 'out'));
  return { url: `http://127.0.0.1:${site.port}/index.html`, stop: () => site.close() };
}

async function develop(module: string, folder: string): Promise<{ url: string; stop(): Promise<void> }> {
  await writeFile(join(folder, 'dev.mjs'), module);
  const child = spawn(process.execPath, ['dev.mjs'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((end) => child.once('exit', () => end()));
  const url = await new Promise<string>((found, failed) => {
    let text = '';
    child.stdout.on('data', (data) => {
      text += data;
      if (text.includes('\n')) found(text.trim());
    });
    child.once('exit', () => failed(new Error(`the server ended: ${text}`)));
  });
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  return { url, stop };
}

async function open(url: string): Promise<Page> {
  const page = await browser.context.newPage();
  await page.goto(url);
  await page.waitForFunction(() => 'app' in window);
  return page;
}

const acquire = (page: Page, options = {}) => page.evaluate((options) => (window as unknown as { app: App }).app.acquire(options), options);
const release = (page: Page) => page.evaluate(() => (window as unknown as { app: App }).app.release());

it.each(tools)('$name', async (tool) => {
  const { url, stop } = await start(tool, await folderFor(tool));
  const tabs = [await open(url), await open(url)] as const;
  try {
    // A server for developing may load the page again when it has found out what it needs.
    await expect.poll(() => acquire(tabs[0]).catch(String), { timeout: 60_000 }).toEqual({ source: 'web-lock' });
    expect(await acquire(tabs[1], { maxWaitMs: 0 })).toEqual({ code: 'web-lock-unavailable' });
    expect(tabs.map((tab) => tab.workers().length)).toEqual(tool.keeps === 'worker' ? [1, 1] : [0, 0]);
    expect(await release(tabs[0])).toEqual({});
    expect(await acquire(tabs[1])).toEqual({ source: 'web-lock' });
    expect(await release(tabs[1])).toEqual({});
  } finally {
    await Promise.all(tabs.map((tab) => tab.close()));
    await stop();
  }
});

it('what is packed has the licences, the recipes and no source', async () => {
  const { stdout } = await run('tar', ['-tzf', packed]);
  const files = stdout.trim().split('\n').map((path) => path.replace('package/', ''));
  for (const file of ['LICENSE-MIT', 'LICENSE-APACHE', 'README.md', 'RECIPES.md', 'dist/index.js', 'dist/index.d.ts', 'dist/guard.js']) {
    expect(files).toContain(file);
  }
  expect(files.filter((file) => !/^(dist\/[\w.-]+\.(js|d\.ts)|[A-Z]+(-[A-Z]+)?(\.md)?|package\.json)$/.test(file))).toEqual([]);
  for (const licence of ['LICENSE-MIT', 'LICENSE-APACHE']) {
    expect(await readFile(join(ROOT, licence), 'utf8')).toBe(await readFile(join(ROOT, '../..', licence), 'utf8'));
  }
});
