// A worker of an app that uses the package itself: it acquires when it is told to, and says what came of it.

import { acquireProjectLock, releaseProjectLock } from '../../../dist/index.js';

let held = null;

async function answer(word) {
  try {
    if (word === 'acquire') ({ lease: held } = await acquireProjectLock({ maxWaitMs: 0 }));
    else await releaseProjectLock({ lease: held });
    return { source: held.source };
  } catch (error) {
    return { code: error.code ?? String(error) };
  }
}

const listen = (port) => (port.onmessage = async ({ data }) => port.postMessage(await answer(data)));
if ('onconnect' in self) self.onconnect = ({ ports: [port] }) => listen(port);
else listen(self);
