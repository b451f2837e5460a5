// What is shipped: how large it is, what it needs, and what its lock file tells about.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { afterAll, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const MOST_BYTES = 8000;
const built = mkdtempSync(join(tmpdir(), 'holdfast-dist-'));
afterAll(() => rmSync(built, { recursive: true }));

const tsc = (...words: string[]) =>
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...words], { cwd: ROOT, encoding: 'utf8' });

it('page and worker together are at most 8 KB, minified and gzipped', async () => {
  tsc('-p', 'tsconfig.json', '--outDir', built);
  let bytes = 0;
  for (const entry of ['index.js', 'guard.js']) {
    const bundle = await rolldown({ input: join(built, entry) });
    const { output } = await bundle.generate({ format: 'esm', minify: true });
    for (const file of output) bytes += gzipSync(file.type === 'chunk' ? file.code : file.source, { level: 9 }).length;
  }
  expect(bytes).toBeGreaterThan(1000);
  expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
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
