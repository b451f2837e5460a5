// Two tabs taking turns at one text: who holds the project may type, who does not reads along.

import { acquireProjectLock, releaseProjectLock, subscribeLockEvents } from '../dist/index.js';
import { load, save } from './project.js';

const [state, write, done, text, log] = ['state', 'write', 'done', 'text', 'log'].map((id) => document.getElementById(id));
const channel = new BroadcastChannel('demo');
let held = null;
let saved = Promise.resolve();

function show(words, kind) {
  [state.textContent, state.className] = [words, kind];
  [write.disabled, done.disabled, text.readOnly] = [kind !== 'reads', kind !== 'holds', kind !== 'holds'];
}

async function refresh() {
  text.value = await load();
}

function lost() {
  held = null;
  show('lost: another tab writes', 'reads');
}

write.onclick = async () => {
  show('waiting for the other tab', 'waits');
  try {
    ({ lease: held } = await acquireProjectLock({ maxWaitMs: 600_000 }));
    held.signal.addEventListener('abort', lost);
    await refresh();
    show(`writing, with fence ${held.fence}`, 'holds');
    text.focus();
  } catch (error) {
    show(`not this time: ${error.message}`, 'reads');
  }
};

done.onclick = async () => {
  const lease = held;
  held = null;
  await saved;
  show('reading', 'reads');
  await releaseProjectLock({ lease }).catch((error) => show(error.message, 'reads'));
};

text.oninput = () => {
  const { fence } = held;
  saved = saved.then(() => save(fence, text.value)).then((written) => written && channel.postMessage('saved'));
};
channel.onmessage = () => held ?? refresh();
subscribeLockEvents(({ type, error, delayMs }) => {
  const detail = error ? ` (${error.code})` : '';
  const delay = delayMs === undefined ? '' : `, again in ${Math.round(delayMs)} ms`;
  log.prepend(`${new Date().toLocaleTimeString()}  ${type}${detail}${delay}\n`);
});

await refresh();
show('reading', 'reads');
