// The bundlers that the package is tried with: what each is installed from, what it is configured with, and what it is told.

export interface Tool {
  readonly name: string;
  /** Part of the default run; the others are for the long one. */
  readonly daily: boolean;
  readonly packages: readonly string[];
  /** Beside the app. */
  readonly files: Readonly<Record<string, string>>;
  /** Builds it into `out/`, with its own program. */
  readonly build?: readonly string[];
  /** A module that starts a server for developing and prints its address. */
  readonly dev?: string;
  /** What keeps the record: a worker, or the page because the bundler left the worker behind. */
  readonly keeps: 'worker' | 'page';
}

const HTML = (script: string) => `<!doctype html><meta charset="utf-8" /><title>app</title><link rel="icon" href="data:," />
<script type="module" src="${script}"></script>`;

const VITE_DEV = `import { createServer } from 'vite';
const server = await createServer({ server: { port: 0, host: '127.0.0.1', ws: false, hmr: false }, logLevel: 'silent' });
await server.listen();
console.log('http://127.0.0.1:' + server.httpServer.address().port + '/');`;

const EXCLUDED = `export default { optimizeDeps: { exclude: ['@holdfast/project-lock'] } };`;

const VITES = [
  ['5', '5.4.9', false],
  ['6', '6.4.6', false],
  ['7', '7.3.8', false],
  ['8', '8.3.8', true],
] as const;

const vite = VITES.flatMap(([major, version, daily]): Tool[] => {
  const [packages, files] = [[`vite@${version}`], { 'index.html': HTML('/app.js') }];
  return [
    { name: `Vite ${major}, build`, daily: false, packages, files, build: ['vite', 'build', '--outDir', 'out'], keeps: 'worker' },
    // Until version 8 the package is prepared as one file, without its worker.
    { name: `Vite ${major}, dev`, daily: false, packages, files, dev: VITE_DEV, keeps: major === '8' ? 'worker' : 'page' },
    {
      name: `Vite ${major}, dev, as the recipe has it`,
      daily,
      packages,
      files: { ...files, 'vite.config.js': EXCLUDED },
      dev: VITE_DEV,
      keeps: 'worker',
    },
  ];
});

const ESBUILD = ['esbuild', 'app.js', '--bundle', '--format=esm', '--outdir=out', '--log-level=error'];
const GUARD = 'node_modules/@holdfast/project-lock/dist/guard.js';

export const TOOLS: readonly Tool[] = [
  ...vite,
  {
    name: 'webpack',
    daily: true,
    packages: ['webpack@5.112.2', 'webpack-cli@7.3.1'],
    files: { 'out/index.html': HTML('./app.js') },
    build: ['webpack', '--mode', 'production', '--entry', './app.js', '--output-path', 'out', '--output-filename', 'app.js', '--stats', 'errors-only'],
    keeps: 'worker',
  },
  {
    name: 'Parcel',
    daily: false,
    packages: ['parcel@2.16.4'],
    files: { 'index.html': HTML('./app.js') },
    build: ['parcel', 'build', 'index.html', '--dist-dir', 'out', '--no-source-maps', '--log-level', 'error'],
    keeps: 'worker',
  },
  {
    name: 'esbuild',
    daily: false,
    packages: ['esbuild@0.28.2'],
    files: { 'out/index.html': HTML('./app.js') },
    build: ESBUILD,
    keeps: 'page',
  },
  {
    name: 'esbuild to one classic script',
    daily: false,
    packages: ['esbuild@0.28.2'],
    files: { 'out/index.html': HTML('./app.js').replace('type="module"', 'defer') },
    build: ESBUILD.map((word) => word.replace('esm', 'iife')),
    keeps: 'page',
  },
  {
    name: 'esbuild, as the recipe has it',
    daily: true,
    packages: ['esbuild@0.28.2'],
    files: { 'out/index.html': HTML('./app.js') },
    build: [...ESBUILD, `guard=${GUARD}`],
    keeps: 'worker',
  },
  {
    name: 'Rollup',
    daily: false,
    packages: ['rollup@4.68.2', '@rollup/plugin-node-resolve@16.0.3'],
    files: { 'out/index.html': HTML('./app.js') },
    build: ['rollup', 'app.js', '-p', 'node-resolve', '-d', 'out', '--silent'],
    keeps: 'page',
  },
  {
    name: 'Rollup, as the recipe has it',
    daily: false,
    packages: ['rollup@4.68.2', '@rollup/plugin-node-resolve@16.0.3'],
    files: {
      'out/index.html': HTML('./app.js'),
      'rollup.config.mjs': `import resolve from '@rollup/plugin-node-resolve';
export default { input: { app: 'app.js', guard: '${GUARD}' }, plugins: [resolve()], output: { dir: 'out' } };`,
    },
    build: ['rollup', '-c', '--silent'],
    keeps: 'worker',
  },
];
