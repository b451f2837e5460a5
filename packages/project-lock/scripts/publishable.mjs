// What a published package must say that this repository cannot know: where it is kept. npm links to it, and provenance is
// checked against it.

import { readFileSync } from 'node:fs';

const { repository } = JSON.parse(readFileSync(process.argv[2] ?? 'package.json', 'utf8'));
if (!/^git\+https:\/\/[^/]+\/.+/.test(repository?.url ?? '')) {
  console.error('package.json does not say where its sources are kept');
  console.error('hint: npm pkg set repository.type=git repository.directory=packages/project-lock repository.url=git+https://…');
  process.exitCode = 1;
}
