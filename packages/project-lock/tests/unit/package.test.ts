// What is shipped: how large it is, what it needs, whether bundlers understand it, and what its lock file tells about.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MOST_BYTES = 8192;
const built = mkdtempSync(join(tmpdir(), 'holdfast-dist-'));

beforeAll(async () => {
  // A script of the build; it is not TypeScript, because it runs as it is.
  const script = new URL('../../scripts/bundle.mjs', import.meta.url).href;
  const { bundle } = (await import(/* @vite-ignore */ script)) as { bundle(folder: string): Promise<void> };
  await bundle(built);
}, 60_000);
afterAll(() => rmSync(built, { recursive: true }));

it('page and worker together are at most 8 KB, each gzipped as a server sends it', () => {
  const files = readdirSync(built).filter((file) => file.endsWith('.js'));
  expect(files.sort()).toEqual(['guard.js', 'index.js']);
  const bytes = files.map((file) => gzipSync(readFileSync(join(built, file)), { level: 9 }).length);
  expect(Math.min(...bytes)).toBeGreaterThan(1000);
  expect(bytes.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(MOST_BYTES);
});

it('a bundler finds the worker, and makes a file of its own for it', async () => {
  const entry = join(built, 'app.mjs');
  writeFileSync(entry, `import { withProjectLock } from './index.js';\nwithProjectLock({}, async () => {});\n`);
  const made = (await build({
    root: built,
    configFile: false,
    logLevel: 'silent',
    build: { write: false, rolldownOptions: { input: entry } },
  })) as Rolldown.RolldownOutput;
  const worker = made.output.find(({ fileName }) => /guard-.*\.js$/.test(fileName));
  const page = made.output.find((file) => file.type === 'chunk' && file.isEntry) as Rolldown.OutputChunk;
  expect(String(worker?.type === 'asset' && worker.source)).toContain('.lock.fence');
  expect(page.code).toContain(worker?.fileName);
}, 60_000);

it('needs nothing at run time', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(manifest.dependencies ?? {}).toEqual({});
  expect(manifest.peerDependencies ?? {}).toEqual({});
});

it('its lock file names no place that packages come from', () => {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const packages = Object.values(lock.packages as Record<string, { resolved?: string }>);
  expect(packages.length).toBeGreaterThan(10);
  expect(packages.filter(({ resolved }) => resolved)).toEqual([]);
});

it('the public surface is exactly what was promised, and a wrong one does not compile', () => {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  expect(execFileSync(process.execPath, [tsc, '-p', 'tests/types/tsconfig.json'], { cwd: ROOT, encoding: 'utf8' })).toBe('');
}, 60_000);
