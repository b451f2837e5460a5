// Files that all tabs of a test share, and that fail when they are told to; and the section around them, which one tab at
// a time is in.

import { fileStore, type Section, type TextFile } from '../../src/files.js';
import { StoreFailure, type Store } from '../../src/store.js';

/** The message of a failure that leaves an empty file. */
export const TORN = 'no room left';

export class InMemoryOpfsFile implements TextFile {
  text: string | null = null;
  /** What the next calls of each kind fail with. */
  readonly failures = { read: [] as Error[], write: [] as Error[], delete: [] as Error[] };

  async read(): Promise<string | null> {
    this.#fail('read');
    return this.text;
  }

  async write(text: string): Promise<void> {
    // A write that fails half-way leaves a file that was made, and nothing in it.
    this.text ??= this.failures.write.some(({ message }) => message === TORN) ? '' : null;
    this.#fail('write');
    this.text = text;
  }

  async delete(): Promise<void> {
    this.#fail('delete');
    this.text = null;
  }

  #fail(kind: keyof InMemoryOpfsFile['failures']): void {
    const error = this.failures[kind].shift();
    if (error) throw error;
  }
}

/** `project/`, with a guard that is taken in turn. */
export class InMemoryFolder {
  readonly record = new InMemoryOpfsFile();
  readonly beside = new InMemoryOpfsFile();
  /** What entering fails with. */
  readonly failures: Error[] = [];
  /** Whether a frozen tab is inside. */
  stuck = false;
  entered = 0;
  #last: Promise<void> = Promise.resolve();

  store(): Store {
    return fileStore(() => this.#enter());
  }

  /** Keeps everybody else out until it is left. */
  async occupy(): Promise<() => void> {
    const section = await this.#enter();
    return () => section.leave(false);
  }

  async #enter(): Promise<Section> {
    const absent = this.record.text === null;
    const error = this.failures.shift();
    if (error) throw error;
    if (this.stuck) throw new StoreFailure('busy');
    const before = this.#last;
    let leave = () => {};
    this.#last = new Promise((left) => (leave = left));
    await before;
    this.entered += 1;
    return { record: this.record, beside: this.beside, absent, leave };
  }
}
