// Makes one file of the worker, so that whoever has to put it somewhere by hand has one file to put.

import { rename } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const path = (name) => fileURLToPath(new URL(`../dist/${name}`, import.meta.url));
const bundle = await rolldown({ input: path('guard.js') });
await bundle.write({ file: path('guard.bundled.js'), format: 'esm', comments: false });
await bundle.close();
await rename(path('guard.bundled.js'), path('guard.js'));
