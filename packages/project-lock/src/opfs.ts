// The record in the origin private file system: `project/.lock`, and `project/.lock.fence` beside it. The latter is never
// removed, because opening it for synchronous access is the exclusive section: the browser lets one context have that
// handle, and takes it away from one that dies. Runs in a dedicated worker only; nothing is made outside `project/`.

import { find, is, openFile, unless } from './folder.js';
import { fileStore, type Enter, type Section, type TextFile } from './files.js';
import { BESIDE, RECORD, StoreFailure, type Store } from './store.js';

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

/** A section lasts a few milliseconds, so who has to wait looks again soon. */
const SHORTEST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 16;
/** So long a tab that acquired may stay in the section. A tab that is stopped inside is in the way of all: it must be short. */
const STAY_MS = 4;
/** More than any record has: what is longer is damaged, and not worth reading. */
const MOST_BYTES = 4096;
const BESIDE_BYTES = 256;
/** What opening a directory as a file fails with. */
const NO_FILE = ['TypeMismatchError'];
const MISSING = ['NotFoundError'];
/** What a handle fails with whose file is gone, or is another by now. */
const OTHER_FILE = [...MISSING, ...NO_FILE];

/** The store, if this browser has one to give; null leaves the choice to the caller. */
export async function openOpfs(name = ''): Promise<Store | null> {
  const files = globalThis.FileSystemFileHandle?.prototype;
  if (!files || !('createSyncAccessHandle' in files) || !navigator.storage?.getDirectory) return null;
  // Not for this origin or in this mode: that is so for every tab, so they all go elsewhere together.
  const place = await unless(['SecurityError', 'NotSupportedError'], () => placeOf(name));
  return place && fileStore(entrance(name, place));
}

/** The way into the section. Whoever acquires with the Web Lock stays for a moment: to give back at once takes no second way
 * in then. What is ended where it stands is removed before the section is left, but not before that is answered. */
function entrance(name: string, place: Place): Enter {
  let fence: SyncHandle | null = null;
  let record = recordFile(place);
  let timer: ReturnType<typeof setTimeout>;
  /** Whether the last step left no record; not known before it is removed. */
  let removed: Promise<boolean> | false = false;
  /** Whether a step waits for that: the section is kept for it. */
  let wanted = false;
  const close = () => {
    record.close();
    fence?.close();
    fence = null;
  };
  return async (patience) => {
    clearTimeout(timer);
    wanted = true;
    let absent = await removed;
    if (!fence) {
      const found = await unless(OTHER_FILE, () => exclusive(place, patience));
      // The data of the site was cleared under the page, and everything begins anew.
      [fence, absent] = found ?? (await exclusive((place = await placeOf(name)), patience));
      record = recordFile(place);
    }
    return {
      record,
      beside: beside(fence),
      absent,
      leave(stays) {
        wanted = false;
        removed = record.isEnded() && record.remove().then(() => true, () => false);
        if (stays) timer = setTimeout(close, STAY_MS);
        else if (removed) void removed.then(() => wanted || close());
        else close();
      },
    };
  };
}

async function placeOf(name: string): Promise<Place> {
  const folder = await find(name);
  return { folder, fence: sync(await openFile(folder, BESIDE)) };
}

function beside(handle: SyncHandle): Section['beside'] {
  return {
    read: async () => text(handle),
    // Always as long: a file that changes its length costs another call to the browser.
    write: async (after) => put(handle, after.padEnd(BESIDE_BYTES)),
  };
}

/** Asked for together with the section, so that nobody waits for it. An error is for the step to meet. */
function isMissing(folder: FileSystemDirectoryHandle): Promise<boolean> {
  return open(folder, RECORD).then(
    () => false,
    (error) => is(error, MISSING),
  );
}

/** Takes the handle that only one context can have, and says whether there was no record then. There is no queue for the
 * handle, so it is asked for again and again. */
async function exclusive({ folder, fence }: Place, patience: number): Promise<[SyncHandle, boolean]> {
  const end = performance.now() + patience;
  for (let pause = SHORTEST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return await Promise.all([fence.createSyncAccessHandle(), isMissing(folder)]);
    } catch (error) {
      const isTaken = is(error, ['NoModificationAllowedError']);
      // The other is what a browser may answer while it clears away behind a process that died.
      const isOver = performance.now() >= end || !(isTaken || is(error, ['UnknownError']));
      if (isOver) throw isTaken ? new StoreFailure('busy', error) : error;
    }
    await new Promise((wake) => setTimeout(wake, pause * (0.5 + Math.random())));
  }
}

/** `.lock`, opened at most once in a section. */
interface RecordFile extends TextFile {
  /** Whether it says that it is over, and only has to be removed. */
  isEnded(): boolean;
  remove(): Promise<void>;
  close(): void;
}

function recordFile(place: Place): RecordFile {
  let handle: SyncHandle | null = null;
  let ended = false;
  const close = () => {
    handle?.close();
    handle = null;
  };
  const remove = async () => {
    ended = false;
    close();
    await unless(MISSING, () => place.folder.removeEntry(RECORD, { recursive: true }));
  };
  return {
    async read() {
      try {
        handle ??= await unless(MISSING, async () => (await open(place.folder, RECORD)).createSyncAccessHandle());
      } catch (error) {
        if (is(error, NO_FILE)) return '';
        throw error;
      }
      return handle && text(handle);
    },
    async write(after) {
      put((handle ??= await make(place)), after);
    },
    async delete(after) {
      if (!handle || !after) return remove();
      put(handle, after);
      ended = true;
    },
    isEnded: () => ended,
    remove,
    close,
  };
}

/** Made and opened at once: a handle stands for a name, and one that was had before opens whichever file has it by now. */
async function make(place: Place): Promise<SyncHandle> {
  const { folder, record: known } = place;
  const making = openFile(folder, RECORD).then(sync);
  // Of no interest if there is something to open.
  making.catch(() => undefined);
  const opened = known && (await unless(OTHER_FILE, () => known.createSyncAccessHandle()));
  return opened ?? (place.record = await making).createSyncAccessHandle();
}

async function open(folder: FileSystemDirectoryHandle, name: string): Promise<SyncFile> {
  return sync(await folder.getFileHandle(name));
}

const sync = (file: FileSystemFileHandle): SyncFile => file as unknown as SyncFile;

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
