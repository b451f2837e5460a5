// Where the files of a project are in the origin private file system, and how they are opened. Nothing is made outside of
// `project/`.

const FOLDER = 'project';
/** The folder in it for projects with names. */
const NAMED = '.locks';

/** The folder of the project, which is made if there is none, unless somebody only looks. */
export async function find(name: string, create = true): Promise<FileSystemDirectoryHandle> {
  let folder = await navigator.storage.getDirectory();
  const path = name ? [FOLDER, NAMED, fileName(name)] : [FOLDER];
  for (const inner of path) folder = await folder.getDirectoryHandle(inner, { create });
  return folder;
}

/** The name as every file system takes it: two names that differ in case only are two files also where case does not count. */
export function fileName(name: string): string {
  return encodeURIComponent(name).replace(/[A-Z.]/g, '$$$&').toLowerCase();
}

/** Makes the file if there is none. These names are ours: a directory that has one of them is removed. */
export async function openFile(folder: FileSystemDirectoryHandle, name: string): Promise<FileSystemFileHandle> {
  const opened = await unless(['TypeMismatchError'], () => folder.getFileHandle(name, { create: true }));
  if (opened) return opened;
  await unless(['NotFoundError'], () => folder.removeEntry(name, { recursive: true }));
  return folder.getFileHandle(name, { create: true });
}

/** What the work comes to, or null if it fails with one of these. */
export async function unless<T>(names: readonly string[], work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (is(error, names)) return null;
    throw error;
  }
}

export function is(error: unknown, names: readonly string[]): boolean {
  return error instanceof DOMException && names.includes(error.name);
}
