// The project of the demo: a text in IndexedDB that is only written with a fence that is not smaller than its own. Check and
// write are one transaction, so a tab that slept through its lease writes nothing, whatever it believes.

const opened = new Promise((resolve, reject) => {
  const opening = indexedDB.open('demo', 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore('project');
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => resolve(opening.result);
});

async function inOneStep(work) {
  const transaction = (await opened).transaction('project', 'readwrite');
  const table = transaction.objectStore('project');
  let result;
  table.get('text').onsuccess = ({ target }) => (result = work(target.result ?? { fence: 0, text: '' }, table));
  await new Promise((resolve, reject) => Object.assign(transaction, { oncomplete: resolve, onabort: reject }));
  return result;
}

export const load = () => inOneStep(({ text }) => text);

/** Whether it was written. */
export const save = (fence, text) =>
  inOneStep((stored, table) => fence >= stored.fence && Boolean(table.put({ fence, text }, 'text')));
