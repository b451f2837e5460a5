// The same record in IndexedDB, for browsers and origins without an origin private file system. One readwrite transaction
// is the exclusive section: the browser queues those of all tabs, and drops that of a tab that dies.

import { BESIDE, during, RECORD, StoreFailure, type Store, type Work } from './store.js';
import type { Step } from './step.js';
import type { Written } from './record.js';

export const DATABASE = 'project';
export const TABLE = 'lock';

export function openIdb(name = ''): Store {
  const factory = globalThis.indexedDB;
  if (!factory) throw new StoreFailure('open', 'no browser with OPFS or IndexedDB');
  const prefix = name && `${name}/`;
  let database: Promise<IDBDatabase> | null = null;
  const forget = () => (database = null);
  return {
    async run(_patience, work) {
      database ??= connect(factory, forget);
      database.catch(forget);
      const opened = await during('open', () => database as Promise<IDBDatabase>);
      work.done(await transact(opened, prefix, work, forget));
    },
  };
}

function connect(factory: IDBFactory, forget: () => void): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = factory.open(DATABASE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(TABLE);
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const database = opening.result;
      // Whoever wants to delete the database must not have to wait for this tab.
      database.onversionchange = () => (forget(), database.close());
      database.onclose = forget;
      resolve(database);
    };
  });
}

function transact(database: IDBDatabase, prefix: string, work: Work, forget: () => void): Promise<Step> {
  return new Promise((resolve, reject) => {
    let stage: 'open' | 'read' | 'write' = 'open';
    let taken: Step | null = null;
    const fail = (why: unknown) => reject(new StoreFailure(stage, why));
    try {
      const transaction = database.transaction(TABLE, 'readwrite');
      const table = transaction.objectStore(TABLE);
      stage = 'read';
      const [record, beside] = [table.get(prefix + RECORD), table.get(prefix + BESIDE)];
      transaction.onabort = () => fail(transaction.error);
      transaction.oncomplete = () => taken && resolve(taken);
      // Requests are answered in order: when the second is there, so is the first.
      beside.onsuccess = () => {
        taken = work.step({ record: text(record.result), beside: text(beside.result) });
        stage = 'write';
        if (taken.write) put(table, prefix, taken.write);
      };
    } catch (error) {
      // The connection may have been closed under us; the next one is made anew.
      forget();
      fail(error);
    }
  });
}

function put(table: IDBObjectStore, prefix: string, after: Written): void {
  table.put(after.beside, prefix + BESIDE);
  if (after.record === null) table.delete(prefix + RECORD);
  else table.put(after.record, prefix + RECORD);
}

/** What is no text was not written by us: as damaged as a text that cannot be read. */
function text(value: unknown): string | null {
  return value === undefined ? null : typeof value === 'string' ? value : '';
}
