// What is committed for the server to embed is what the compiler makes of the sources, and it is light.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const ROOT = new URL('../..', import.meta.url).pathname;
const PAGE = join(ROOT, 'page');

const read = (folder: string) => Object.fromEntries(readdirSync(folder).sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]));

test('the committed scripts are those of the sources (npm run build)', () => {
  const made = mkdtempSync(join(tmpdir(), 'holdfast-page-'));
  try {
    execFileSync('npx', ['tsc', '-p', 'tsconfig.json', '--outDir', made], { cwd: ROOT });
    expect(read(join(PAGE, 'js'))).toEqual(read(made));
  } finally {
    rmSync(made, { recursive: true });
  }
});

test('the page weighs at most 60 KB, compressed', () => {
  const files = [...readdirSync(join(PAGE, 'js')).map((name) => join('js', name)), 'index.html', 'style.css', 'icon.svg'];
  const weight = files.reduce((sum, name) => sum + gzipSync(readFileSync(join(PAGE, name))).length, 0);
  console.log(`${weight} bytes in ${files.length} files`);
  expect(weight).toBeLessThanOrEqual(60 * 1024);
});
