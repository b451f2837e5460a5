// What is shipped: how large it is, what it needs, whether bundlers understand it, and what its lock file tells about.

import { execFileSync, spawnSync } from 'node:child_process';
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

beforeAll(() => tsc('-p', 'tsconfig.json', '--outDir', built), 600_000);
afterAll(() => rmSync(built, { recursive: true }));

/** What the six functions of the core come to in the page; what is loaded only where no worker can be started is apart. */
const CORE = ['acquireProjectLock', 'renewProjectLock', 'releaseProjectLock', 'withProjectLock', 'subscribeLockEvents', 'ProjectLockError'];

async function bundled(entry: string, source?: string): Promise<string> {
  const input = join(built, entry);
  if (source) writeFileSync(input, source);
  const bundle = await rolldown({ input, external: [/\/inline\.js$/] });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  expect(output.length).toBe(1);
  return output[0].code;
}

it('page and worker together are at most 9 KB, minified and gzipped', async () => {
  const page = await bundled('core.js', `export { ${CORE.join(', ')} } from './index.js';`);
  const sizes = [page, await bundled('guard.js')].map((code) => gzipSync(code, { level: 9 }).length);
  for (const size of sizes) expect(size).toBeGreaterThan(1000);
  expect(sizes.reduce((a, b) => a + b)).toBeLessThanOrEqual(MOST_BYTES);
}, 600_000);

it('what is not used of the helpers is not in the bundle', async () => {
  const marks = { onChange: 'holdfast:changes', requestHandOver: 'holdfast:hand-over', createProjectLock: 'percent-encoded' };
  const core = await bundled('core.js', `export { ${CORE.join(', ')} } from './index.js';`);
  const size = (code: string) => gzipSync(code, { level: 9 }).length;
  for (const [helper, mark] of Object.entries(marks)) {
    const code = await bundled('helper.js', `export { ${helper} } from './index.js';`);
    expect(code).toContain(mark);
    expect(core).not.toContain(mark);
  }
  const all = await bundled('index.js');
  expect(size(all)).toBeGreaterThan(size(core) + 500);
}, 600_000);

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
}, 600_000);

it('its pages lead to nothing that npm does not have', () => {
  const { files, main } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  expect(main).toBe('./dist/index.js');
  for (const page of ['README.md', 'RECIPES.md']) {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const links = [...text.matchAll(/\]\(([^)#]+)/g)].map(([, link]) => link as string).filter((link) => !link.includes('://'));
    expect(links.filter((link) => ![...files, 'README.md'].includes(link))).toEqual([]);
  }
});

it('is not published before it says where its sources are kept', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const [node, script] = (manifest.scripts.prepublishOnly as string).split(' ');
  expect(node).toBe('node');
  const asked = (repository: object | undefined) => {
    const path = join(built, 'package.json');
    writeFileSync(path, JSON.stringify({ ...manifest, repository }));
    const { status, stderr } = spawnSync(process.execPath, [join(ROOT, script as string), path], { encoding: 'utf8' });
    return { status, stderr };
  };
  for (const bad of [undefined, {}, { url: '' }, { url: 'git+https://' }, { url: '../..' }]) {
    expect(asked(bad)).toMatchObject({ status: 1, stderr: expect.stringContaining('npm pkg set repository') });
  }
  expect(asked({ type: 'git', url: 'git+https://example.org/holdfast.git' })).toMatchObject({ status: 0 });
});

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
}, 600_000);
