// Who holds the project, for whoever wants to show it: reads the record as it is, without a lock and without making anything.
// What must not be overwritten goes by the fence, not by this.

import { projectLock } from './browser.js';
import { find, is, unless } from './folder.js';
import { DATABASE, TABLE } from './idb.js';
import { readRecord } from './record.js';
import { RECORD } from './store.js';
import type { NamedProjectLock, ProjectLockHolder } from './types.js';

/** Whether this tab holds the project, as far as it knows. */
export function isHolder(lock: NamedProjectLock = projectLock()): boolean {
  return lock.isHolder();
}

/** The lease that is in force, whichever tab has it; null if there is none. */
export async function whoHolds(lock: NamedProjectLock = projectLock()): Promise<ProjectLockHolder | null> {
  const text = await read(lock.name);
  const record = text ? readRecord(text, Date.now()) : null;
  if (!record || record.expiresAt <= Date.now()) return null;
  return { ...record, isMine: lock.isHolder() };
}

/** A file that is written at this moment cannot be read; in the next it can. */
const BUSY = ['NotReadableError', 'NoModificationAllowedError', 'InvalidStateError'];
const [ATTEMPTS, PAUSE_MS] = [20, 5];

async function read(name: string): Promise<string | null> {
  if (typeof globalThis.navigator?.storage?.getDirectory !== 'function') return readRow(name);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await unless(['NotFoundError', 'TypeMismatchError'], () => readFile(name));
    } catch (error) {
      // Where OPFS is refused, the record is in IndexedDB.
      if (is(error, ['SecurityError', 'NotSupportedError'])) return readRow(name);
      if (!is(error, BUSY) || attempt === ATTEMPTS) throw error;
    }
    await new Promise((wake) => setTimeout(wake, PAUSE_MS));
  }
}

async function readFile(name: string): Promise<string> {
  const file = await (await find(name, false)).getFileHandle(RECORD);
  return (await file.getFile()).text();
}

function readRow(name: string): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(DATABASE);
    // There is none: it is not made either.
    opening.onupgradeneeded = () => opening.transaction?.abort();
    opening.onerror = () => (opening.error?.name === 'AbortError' ? resolve(null) : reject(opening.error));
    opening.onsuccess = () => {
      const database = opening.result;
      const asked = database.transaction(TABLE).objectStore(TABLE).get(name ? `${name}/${RECORD}` : RECORD);
      const end = (found: string | null) => {
        database.close();
        resolve(found);
      };
      asked.onsuccess = () => end(typeof asked.result === 'string' ? asked.result : null);
      asked.onerror = () => end(null);
    };
  });
}
