// The example in React, in strict mode and two tabs: one can write, and closing the editor or the tab lets the other one.

import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { Chromium } from '../browser/support/chromium.js';
import { serve, type Site } from '../browser/support/server.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
let folder = '';
let site: Site;
let browser: Chromium;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-react-'));
  await cp(join(ROOT, 'examples/react'), folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const wanted = ['react@19.3.1', 'react-dom@19.3.1', 'esbuild@0.28.2'];
  await run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel', 'error', ...wanted], { cwd: folder });
  await cp(join(ROOT, 'dist'), join(folder, 'node_modules/@holdfast/project-lock/dist'), { recursive: true });
  await cp(join(ROOT, 'package.json'), join(folder, 'node_modules/@holdfast/project-lock/package.json'));
  const words = ['main.jsx', 'guard=node_modules/@holdfast/project-lock/dist/guard.js', '--bundle', '--format=esm', '--outdir=.', '--log-level=error'];
  await run(join(folder, 'node_modules/.bin/esbuild'), words, { cwd: folder });
  const html = '<!doctype html><meta charset="utf-8" /><div id="root"></div><script type="module" src="./main.js"></script>';
  await writeFile(join(folder, 'index.html'), html);
  site = await serve(folder);
  browser = await Chromium.start();
});
afterAll(async () => {
  await browser?.stop();
  await site?.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

async function open(): Promise<Page> {
  const page = await browser.context.newPage();
  await page.goto(`http://127.0.0.1:${site.port}/index.html`);
  await page.waitForSelector('textarea');
  return page;
}

const isEditable = (page: Page) => expect.poll(() => page.isEditable('textarea'), { timeout: 60_000 });

it('one tab can write', async () => {
  const first = await open();
  await isEditable(first).toBe(true);
  await first.fill('textarea', 'text');
  const second = await open();
  expect(await second.textContent('[role=status]')).toBe('another tab writes');
  expect(await second.isEditable('textarea')).toBe(false);
  await first.click('button');
  await isEditable(second).toBe(true);
  await first.click('button');
  await first.waitForSelector('textarea');
  expect(await first.isEditable('textarea')).toBe(false);
  await second.close();
  await isEditable(first).toBe(true);
});
