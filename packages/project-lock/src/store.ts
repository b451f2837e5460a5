// What a place for the record promises: one step at a time, whichever tab asks, and which part of it failed otherwise.
// It has no opinion on leases.

import type { Step } from './step.js';
import type { Texts } from './record.js';

export interface Store {
  /** Runs the step while nobody else does. Waits at most so long for others to come to an end. */
  run(patienceMs: number, step: (texts: Texts) => Step): Promise<Step>;
}

/** `busy`: others were in the way for too long. */
export type Stage = 'open' | 'read' | 'write' | 'busy';

export class StoreFailure extends Error {
  readonly stage: Stage;

  constructor(stage: Stage, cause?: unknown) {
    super(cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause ?? stage));
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
