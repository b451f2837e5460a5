// Makes what is shipped: the page's part and the worker's part, each one small file that a browser can load as it is. Run
// after `tsc`, which has checked the types and written the declarations.

import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Writes both files into this folder. */
export async function bundle(folder) {
  for (const name of ['index', 'guard']) {
    const bundle = await rolldown({
      cwd: ROOT,
      input: { [name]: `src/${name}.ts` },
      resolve: { extensionAlias: { '.js': ['.ts'] } },
      transform: { target: 'es2022' },
      logLevel: 'warn',
    });
    await bundle.write({ dir: folder, format: 'esm', minify: true, sourcemap: true, comments: { annotation: false } });
    await bundle.close();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle('dist');
