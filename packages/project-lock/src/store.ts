// What a place for the record promises: one step at a time, whichever tab asks, and which part of it failed otherwise.
// It has no opinion on leases.

import type { Step } from './step.js';
import type { Texts } from './record.js';

/** The names of the record and of what is beside it, whatever keeps them. */
export const RECORD = '.lock';
export const BESIDE = '.lock.fence';

/** What is done while nobody else does anything. */
export interface Work {
  /** Whether another step may follow at once, and nobody is kept waiting by staying for it. */
  readonly stays: boolean;
  /** Whether the record has to be read for it; `absent`: there was none when the section was asked for. */
  needsRecord(beside: string | null, absent: boolean): boolean;
  step(texts: Texts): Step;
  /** Called when everything is stored, before the section is left: leaving takes time, and nobody needs to wait for it. */
  done(step: Step): void;
}

export interface Store {
  /** Does the work, waiting at most so long for that of others to come to an end. */
  run(patienceMs: number, work: Work): Promise<void>;
}

/** `busy`: others were in the way for too long. */
export type Stage = 'open' | 'read' | 'write' | 'busy';

export class StoreFailure extends Error {
  readonly stage: Stage;

  constructor(stage: Stage, cause?: unknown) {
    super(String(cause ?? stage));
    this.stage = stage;
  }
}

/** Says in which part of the work something failed; what says so already is left alone. */
export async function during<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof StoreFailure ? error : new StoreFailure(stage, error);
  }
}
