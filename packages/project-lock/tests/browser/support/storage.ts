// Looking into and meddling with what a tab has stored, from outside of the package.

import type { Page } from 'playwright-core';

/** Every file of the origin private file system, with its text. */
export function files(page: Page): Promise<Record<string, string>> {
  return page.evaluate(async () => {
    const found: Record<string, string> = {};
    const walk = async (folder: FileSystemDirectoryHandle, path: string) => {
      for await (const [name, entry] of folder as unknown as AsyncIterable<[string, FileSystemHandle]>) {
        if (entry.kind === 'directory') await walk(entry as FileSystemDirectoryHandle, `${path}${name}/`);
        else found[path + name] = await (await (entry as FileSystemFileHandle).getFile()).text();
      }
    };
    await walk(await navigator.storage.getDirectory(), '');
    return found;
  });
}

/** Puts this text into `project/.lock`. */
export function putRecord(page: Page, text: string): Promise<void> {
  return page.evaluate(async (text) => {
    const root = await navigator.storage.getDirectory();
    const folder = await root.getDirectoryHandle('project', { create: true });
    const file = await folder.getFileHandle('.lock', { create: true });
    const writable = await file.createWritable();
    await writable.write(text);
    await writable.close();
  }, text);
}

/** What is in the database, under its keys. */
export function rows(page: Page): Promise<Record<string, unknown>> {
  return page.evaluate(
    () =>
      new Promise<Record<string, unknown>>((resolve, reject) => {
        const opening = indexedDB.open('project');
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const database = opening.result;
          const table = database.transaction('lock').objectStore('lock');
          const [keys, values] = [table.getAllKeys(), table.getAll()];
          values.onsuccess = () => {
            database.close();
            resolve(Object.fromEntries(keys.result.map((key, at) => [String(key), values.result[at]])));
          };
        };
      }),
  );
}

/** Puts this into the place of the record in the database. */
export function putRow(page: Page, value: unknown): Promise<void> {
  return page.evaluate(
    (value) =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open('project');
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const database = opening.result;
          const transaction = database.transaction('lock', 'readwrite');
          transaction.objectStore('lock').put(value, '.lock');
          transaction.oncomplete = () => {
            database.close();
            resolve();
          };
        };
      }),
    value,
  );
}
