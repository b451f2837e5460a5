// The record in the origin private file system, from where synchronous access handles are not to be had: a page, a shared
// worker or a service worker. Others of that kind are kept out by a Web Lock, and workers by a stream that is open on
// `.lock.fence`: while there is one, nobody gets the handle that is their section.

import { find, is, openFile, unless } from './folder.js';
import { fileStore, type Section, type TextFile } from './files.js';
import { BESIDE, RECORD, StoreFailure, type Store } from './store.js';

const PAUSE_MS = 8;

/** Null where there is no such file system for this origin. Where there is one that only workers can write, it fails: the
 * record is there, and nowhere else. */
export async function openPageOpfs(name: string): Promise<Store | null> {
  if (!navigator.storage?.getDirectory) return null;
  const folder = await unless(['SecurityError', 'NotSupportedError'], () => find(name));
  if (!folder) return null;
  const { locks } = navigator;
  if (!locks || !('createWritable' in FileSystemFileHandle.prototype)) {
    throw new StoreFailure('open', 'the record is in OPFS, which this page cannot write without a worker');
  }
  return fileStore(async (patience) => {
    const end = performance.now() + patience;
    const leave = await take(locks, `holdfast:project-step:${name}`, patience);
    try {
      return await section(await find(name), end, leave);
    } catch (error) {
      leave();
      throw error;
    }
  });
}

/** Waits for the Web Lock, and gives what lets go of it. */
function take(locks: LockManager, name: string, patience: number): Promise<() => void> {
  return new Promise((taken, failed) => {
    const signal = AbortSignal.timeout(patience);
    locks
      .request(name, { signal }, () => new Promise<void>((leave) => taken(leave)))
      .catch((error) => failed(signal.aborted ? new StoreFailure('busy', error) : error));
  });
}

async function section(folder: FileSystemDirectoryHandle, end: number, leave: () => void): Promise<Section> {
  const fence = await openFile(folder, BESIDE);
  const guard = await keepWorkersOut(fence, end);
  const record: TextFile = {
    read: async () => {
      const file = await unless(['NotFoundError'], () => folder.getFileHandle(RECORD).catch(noFile));
      return file && (file === NO_FILE ? '' : text(file));
    },
    write: async (after) => put(await openFile(folder, RECORD), after),
    delete: async () => void (await unless(['NotFoundError'], () => folder.removeEntry(RECORD, { recursive: true }))),
  };
  return {
    record,
    beside: { read: () => text(fence), write: (after) => put(fence, after) },
    absent: false,
    // Nothing was written through it, so there is nothing to keep of it.
    leave: () => void guard.abort().then(leave, leave),
  };
}

const NO_FILE = 'a directory';

function noFile(error: unknown): typeof NO_FILE {
  if (is(error, ['TypeMismatchError'])) return NO_FILE;
  throw error;
}

async function keepWorkersOut(fence: FileSystemFileHandle, end: number): Promise<FileSystemWritableFileStream> {
  for (;;) {
    const opened = await unless(['NoModificationAllowedError'], () => fence.createWritable({ keepExistingData: true }));
    if (opened) return opened;
    if (performance.now() >= end) throw new StoreFailure('busy');
    await new Promise((wake) => setTimeout(wake, PAUSE_MS));
  }
}

async function text(file: FileSystemFileHandle): Promise<string> {
  return (await file.getFile()).text();
}

/** Whole or not at all: a stream takes the place of the file when it is closed. */
async function put(file: FileSystemFileHandle, after: string): Promise<void> {
  const stream = await file.createWritable();
  await stream.write(after);
  await stream.close();
}
