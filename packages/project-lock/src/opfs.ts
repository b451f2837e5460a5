// The record in the origin private file system: `project/.lock`, and `project/.lock.fence` beside it. The latter is never
// removed, because opening it for synchronous access is the exclusive section: the browser lets one context have that
// handle, and takes it away from one that dies. Runs in a dedicated worker only; nothing is made outside `project/`.

import { FileStore, type Enter, type Section, type TextFile } from './files.js';
import { BESIDE, RECORD, StoreFailure } from './store.js';

/** The part of `FileSystemSyncAccessHandle` that is used; TypeScript knows it in workers only. */
interface SyncHandle {
  read(to: Uint8Array, options: { at: number }): number;
  write(from: Uint8Array, options: { at: number }): number;
  truncate(size: number): void;
  getSize(): number;
  close(): void;
}

interface SyncFile {
  createSyncAccessHandle(): Promise<SyncHandle>;
}

interface Place {
  readonly folder: FileSystemDirectoryHandle;
  readonly fence: SyncFile;
  /** A handle of `.lock` that was opened before. */
  record?: SyncFile;
}

const FOLDER = 'project';
/** A section lasts a few milliseconds, so who has to wait looks again soon. */
const SHORTEST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 16;
/** So long a tab that acquired stays in the section. A tab that is stopped inside is in the way of all: it must be short. */
const STAY_MS = 4;
/** More than any record has: what is longer is damaged, and not worth reading. */
const MOST_BYTES = 4096;
const BESIDE_BYTES = 256;

/** The store, if this browser has one to give; null leaves the choice to the caller. */
export async function openOpfs(): Promise<FileStore | null> {
  const files = globalThis.FileSystemFileHandle?.prototype;
  if (!files || !('createSyncAccessHandle' in files) || !navigator.storage?.getDirectory) return null;
  // Not for this origin or in this mode: that is so for every tab, so they all go elsewhere together.
  const place = await unless(['SecurityError', 'NotSupportedError'], find);
  return place && new FileStore(entrance(place));
}

/** The way into the section. Whoever acquires keeps it for a moment: to give back at once takes no second way in then. */
function entrance(place: Place): Enter {
  let handle: SyncHandle | null = null;
  let timer: ReturnType<typeof setTimeout>;
  const close = () => {
    handle?.close();
    handle = null;
  };
  return async (patience, looks) => {
    clearTimeout(timer);
    const lookup = looks && isMissing(place.folder);
    handle ??= await unless(['NotFoundError'], () => exclusive(place.fence, patience));
    // The data of the site was cleared under the page, and everything begins anew.
    handle ??= await exclusive((place = await find()).fence, patience);
    const record = new RecordFile(place);
    return {
      record,
      beside: beside(handle),
      absent: await lookup,
      leave(stays) {
        record.close();
        if (stays) timer = setTimeout(close, STAY_MS);
        else close();
      },
    };
  };
}

async function find(): Promise<Place> {
  const root = await navigator.storage.getDirectory();
  const folder = await root.getDirectoryHandle(FOLDER, { create: true });
  return { folder, fence: await open(folder, BESIDE, true) };
}

function beside(handle: SyncHandle): Section['beside'] {
  return {
    read: async () => text(handle),
    // Always as long: a file that changes its length costs another call to the browser.
    write: async (after) => put(handle, after.padEnd(BESIDE_BYTES)),
  };
}

/** Asked for together with the section, so that nobody waits for it. */
function isMissing(folder: FileSystemDirectoryHandle): Promise<boolean> {
  return open(folder, RECORD, false).then(
    () => false,
    (error) => is(error, ['NotFoundError']),
  );
}

/** Takes the handle that only one context can have. There is no queue for it, so it is asked for again and again. */
async function exclusive(file: SyncFile, patience: number): Promise<SyncHandle> {
  const end = performance.now() + patience;
  for (let pause = SHORTEST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await file.createSyncAccessHandle();
    } catch (error) {
      if (!is(error, ['NoModificationAllowedError'])) throw error;
      if (performance.now() >= end) throw new StoreFailure('busy', error);
    }
    const jitter = pause * (0.5 + Math.random());
    await new Promise((wake) => setTimeout(wake, jitter));
  }
}

/** `.lock`, opened at most once in a section. */
class RecordFile implements TextFile {
  readonly #place: Place;
  #handle: SyncHandle | null = null;

  constructor(place: Place) {
    this.#place = place;
  }

  async read(): Promise<string | null> {
    this.#handle ??= await unless(['NotFoundError'], async () => (await this.#find(false)).createSyncAccessHandle());
    return this.#handle && text(this.#handle);
  }

  async write(after: string): Promise<void> {
    this.#handle ??= await this.#make();
    put(this.#handle, after);
  }

  async delete(): Promise<void> {
    this.close();
    await unless(['NotFoundError'], () => this.#place.folder.removeEntry(RECORD));
  }

  close(): void {
    this.#handle?.close();
    this.#handle = null;
  }

  /** A handle stands for a name, and one that was opened before opens sooner, whichever file has the name by now. */
  async #make(): Promise<SyncHandle> {
    const place = this.#place;
    const made = await this.#find(true);
    const known = (place.record ??= made);
    const handle = await unless(['NotFoundError'], () => known.createSyncAccessHandle());
    return handle ?? (place.record = made).createSyncAccessHandle();
  }

  #find(create: boolean): Promise<SyncFile> {
    return open(this.#place.folder, RECORD, create);
  }
}

async function open(folder: FileSystemDirectoryHandle, name: string, create: boolean): Promise<SyncFile> {
  return (await folder.getFileHandle(name, { create })) as unknown as SyncFile;
}

function text(handle: SyncHandle): string {
  const bytes = new Uint8Array(Math.min(handle.getSize(), MOST_BYTES));
  handle.read(bytes, { at: 0 });
  return new TextDecoder().decode(bytes);
}

/** Not flushed: the record outlives tabs, not power cuts. After one no tab holds anything, and the clock leads the fence. */
function put(handle: SyncHandle, after: string): void {
  const bytes = new TextEncoder().encode(after);
  if (handle.write(bytes, { at: 0 }) !== bytes.length) throw new StoreFailure('write', 'the disk is full');
  if (handle.getSize() !== bytes.length) handle.truncate(bytes.length);
}

/** What the work comes to, or null if it fails with one of these. */
async function unless<T>(names: readonly string[], work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (is(error, names)) return null;
    throw error;
  }
}

function is(error: unknown, names: readonly string[]): boolean {
  return error instanceof DOMException && names.includes(error.name);
}
