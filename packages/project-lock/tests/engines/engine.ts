// A browser that is not Chromium, as the scenarios need it.

export interface Tab {
  /** What this function comes to in the tab, with this argument; it knows nothing else of where it is written. */
  evaluate<Argument, Result>(work: (argument: Argument) => Result | Promise<Result>, argument?: Argument): Promise<Result>;
  /** Loads the page anew. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

export interface Engine {
  /** The name and the version. */
  readonly name: string;
  /** The process that all others of the browser descend from. */
  readonly pid: number;
  /** Whether a worker reaches what is stored while its page is busy. */
  readonly workersStoreAlone: boolean;
  /** Opens a tab at this address. */
  open(url: string): Promise<Tab>;
  /** Whether more tabs can be opened; if not, another browser has to be started. */
  isUsable(): Promise<boolean>;
  stop(): Promise<void>;
}

/** A name that leads to this machine but is not trusted like it: an insecure context. */
export const INSECURE_HOST = 'project.test';

/** The call of this function as a text. */
export function expressionOf(work: (argument: never) => unknown, argument: unknown): string {
  return `(${work})(${JSON.stringify(argument) ?? ''})`;
}
