// Two tabs taking turns at one text: who holds the project may type, who does not reads along. Every save shows the fence,
// and a save with a smaller one than the last is not made.

import { acquireProjectLock, releaseProjectLock, subscribeLockEvents } from '../dist/index.js';

const [state, write, done, text, log] = ['state', 'write', 'done', 'text', 'log'].map((id) => document.getElementById(id));
const channel = new BroadcastChannel('demo');
const load = () => JSON.parse(localStorage.getItem('demo') ?? '{"fence":0,"text":""}');
let held = null;

function show(words, kind) {
  [state.textContent, state.className] = [words, kind];
  [write.disabled, done.disabled, text.readOnly] = [kind !== 'reads', kind !== 'holds', kind !== 'holds'];
}

function save() {
  if (!held || held.fence < load().fence) return;
  localStorage.setItem('demo', JSON.stringify({ fence: held.fence, text: text.value }));
  channel.postMessage('saved');
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
    text.value = load().text;
    show(`writing, with fence ${held.fence}`, 'holds');
    text.focus();
  } catch (error) {
    show(`not this time: ${error.message}`, 'reads');
  }
};

done.onclick = async () => {
  const lease = held;
  held = null;
  await releaseProjectLock({ lease }).catch((error) => show(error.message, 'reads'));
  show('reading', 'reads');
};

text.oninput = save;
channel.onmessage = () => !held && (text.value = load().text);
subscribeLockEvents(({ type, error, delayMs }) => {
  const detail = error ? ` (${error.code})` : '';
  const delay = delayMs === undefined ? '' : `, again in ${Math.round(delayMs)} ms`;
  log.prepend(`${new Date().toLocaleTimeString()}  ${type}${detail}${delay}\n`);
});

text.value = load().text;
show('reading', 'reads');
