// An origin private file system that all workers of a test share: one of them at a time has a file open, calls take a turn,
// and removals can be held up or made to fail. A worker that dies loses what it had open, as in browsers.

const refused = (name: string) => new DOMException('as in a browser', name);
const turn = () => new Promise((next) => setImmediate(next));

interface FakeFile {
  bytes: Uint8Array;
  /** Who has it open. */
  owner: FakeWorker | null;
}

export class FakeOpfs {
  readonly files = new Map<string, FakeFile>();
  /** What the next removals wait for, or fail with. */
  readonly removals: (Promise<void> | Error)[] = [];
  /** What the next files cannot be made for. */
  readonly failures: Error[] = [];
  /** What the next openings for synchronous access fail with. */
  readonly openings: Error[] = [];

  text(name: string): string | undefined {
    const file = this.files.get(name);
    return file && new TextDecoder().decode(file.bytes).trim();
  }

  get open(): string[] {
    return [...this.files].filter(([, { owner }]) => owner).map(([name]) => name);
  }
}

/** The file system as one worker has it; stands for the two globals that are looked for. */
export class FakeWorker {
  readonly #opfs: FakeOpfs;
  /** How often it opened each file. */
  readonly opened: string[] = [];

  constructor(opfs: FakeOpfs) {
    this.#opfs = opfs;
  }

  readonly navigator = { storage: { getDirectory: async () => ({ getDirectoryHandle: async () => this.#folder }) } };

  die(): void {
    for (const file of this.#opfs.files.values()) if (file.owner === this) file.owner = null;
  }

  readonly #folder = {
    getFileHandle: async (name: string, { create }: { create: boolean } = { create: false }) => {
      await turn();
      if (!this.#opfs.files.has(name)) this.#make(name, create);
      return { createSyncAccessHandle: () => this.#open(name) };
    },
    removeEntry: async (name: string) => {
      await turn();
      const removal = this.#opfs.removals.shift();
      if (removal instanceof Error) throw removal;
      await removal;
      if (this.#find(name).owner) throw refused('NoModificationAllowedError');
      this.#opfs.files.delete(name);
    },
  };

  #make(name: string, create: boolean): void {
    if (!create) throw refused('NotFoundError');
    const failure = this.#opfs.failures.shift();
    if (failure) throw failure;
    this.#opfs.files.set(name, { bytes: new Uint8Array(), owner: null });
  }

  #find(name: string): FakeFile {
    const file = this.#opfs.files.get(name);
    if (!file) throw refused('NotFoundError');
    return file;
  }

  async #open(name: string): Promise<object> {
    await turn();
    const file = this.#find(name);
    const failure = this.#opfs.openings.shift();
    if (failure) throw failure;
    if (file.owner) throw refused('NoModificationAllowedError');
    file.owner = this;
    this.opened.push(name);
    return {
      read: (to: Uint8Array) => void to.set(file.bytes.subarray(0, to.length)),
      write: (from: Uint8Array) => {
        if (file.owner !== this) throw refused('InvalidStateError');
        const rest = file.bytes.subarray(from.length);
        file.bytes = new Uint8Array([...from, ...rest]);
        return from.length;
      },
      truncate: (size: number) => void (file.bytes = file.bytes.subarray(0, size)),
      getSize: () => file.bytes.length,
      close: () => void (file.owner = null),
    };
  }
}
