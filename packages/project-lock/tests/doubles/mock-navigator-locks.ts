// Web Locks as a test wants them. What is scripted comes first; after that it is a real queue, shared by all tabs that are
// given the same one.

export type Scripted = 'never' | { readonly error: Error };

interface Waiter {
  readonly grant: () => void;
}

export class MockNavigatorLocks {
  /** What becomes of the next requests, in order; an empty script grants in turn. */
  readonly script: Scripted[] = [];
  /** How many requests there were. */
  requests = 0;
  #held: { readonly steal: (error: Error) => void } | null = null;
  #queue: Waiter[] = [];

  get isHeld(): boolean {
    return this.#held !== null;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  readonly request = ((_name: string, options: LockOptions, callback: (lock: unknown) => unknown) => {
    this.requests += 1;
    const scripted = this.script.shift();
    if (typeof scripted === 'object') return Promise.reject(scripted.error);
    return new Promise<unknown>((resolve, reject) => {
      const grant = () => {
        options.signal?.removeEventListener('abort', abort);
        this.#grant(callback, resolve, reject);
      };
      const waiter = { grant };
      const abort = () => {
        this.#queue = this.#queue.filter((other) => other !== waiter);
        reject(options.signal?.reason);
      };
      if (options.signal?.aborted) return abort();
      options.signal?.addEventListener('abort', abort);
      if (scripted === 'never') return;
      if (!this.#held) queueMicrotask(grant);
      else if (options.ifAvailable) resolve(callback(null));
      else this.#queue.push(waiter);
      this.#held ??= { steal: reject };
    });
  }) as LockManager['request'];

  /** The tab that has the lock dies: the browser passes it on. */
  die(): void {
    this.#next();
  }

  /** Other code of the origin takes the lock away. */
  steal(): void {
    this.#held?.steal(new DOMException('stolen', 'AbortError'));
  }

  #grant(callback: (lock: unknown) => unknown, resolve: (value: unknown) => void, reject: (error: Error) => void): void {
    const mine = { steal: reject };
    this.#held = mine;
    const end = () => this.#held === mine && this.#next();
    Promise.resolve(callback({ name: 'held' })).then((value) => (end(), resolve(value)), reject);
  }

  #next(): void {
    this.#held = null;
    const next = this.#queue.shift();
    if (next) next.grant();
  }
}
