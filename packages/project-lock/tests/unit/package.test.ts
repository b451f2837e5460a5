// What is shipped: how large it is, what it needs, whether bundlers understand it, and what its lock file tells about.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { build, type Rolldown } from 'vite';
import { afterAll, beforeAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MOST_BYTES = 9216;
const built = mkdtempSync(join(tmpdir(), 'holdfast-dist-'));

const tsc = (...words: string[]) =>
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...words], { cwd: ROOT, encoding: 'utf8' });

beforeAll(() => tsc('-p', 'tsconfig.json', '--outDir', built), 60_000);
afterAll(() => rmSync(built, { recursive: true }));

it('page and worker together are at most 9 KB, minified and gzipped', async () => {
  let bytes = 0;
  for (const entry of ['index.js', 'guard.js']) {
    const bundle = await rolldown({ input: join(built, entry) });
    const { output } = await bundle.generate({ format: 'esm', minify: true });
    for (const file of output) bytes += gzipSync(file.type === 'chunk' ? file.code : file.source, { level: 9 }).length;
  }
  expect(bytes).toBeGreaterThan(2000);
  expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
}, 60_000);

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
  expect(tsc('-p', 'tests/types/tsconfig.json')).toBe('');
}, 60_000);
