// A store of two files that are only touched inside an exclusive section. Which file is written first is what makes a
// crash between two calls harmless; how a file is reached is its owner's business.

import { during, type Store, type Work } from './store.js';
import type { Texts, Written } from './record.js';

export interface TextFile {
  read(): Promise<string | null>;
  write(text: string): Promise<void>;
  /** What is open anyway may be given this text for the moment, and be removed after the step. */
  delete(ended?: string): Promise<void>;
}

/** Entered by one tab at a time. */
export interface Section {
  readonly record: TextFile;
  readonly beside: Omit<TextFile, 'delete'>;
  /** There was no record when the section was asked for. */
  readonly absent: boolean;
  /** `stays`: this tab may be back at once. */
  leave(stays: boolean): void;
}

export type Enter = (patienceMs: number) => Promise<Section>;

export function fileStore(enter: Enter): Store {
  return {
    async run(patienceMs, work) {
      const section = await during('open', () => enter(patienceMs));
      let stays = false;
      try {
        const before = await during('read', () => read(section, work));
        const taken = work.step(before);
        const after = taken.write;
        if (after) await during('write', () => write(section, before, after));
        stays = work.stays && taken.outcome.type === 'done';
        work.done(taken);
      } finally {
        section.leave(stays);
      }
    },
  };
}

async function read(section: Section, work: Work): Promise<Texts> {
  const beside = await section.beside.read();
  return { beside, record: work.needsRecord(beside, section.absent) ? await section.record.read() : undefined };
}

/** A fence is kept before the record that uses it, and a record ends before its copy does. */
async function write({ record, beside }: Section, before: Texts, after: Written): Promise<void> {
  if (after.record === null && before.record !== null) await record.delete(after.ended);
  await beside.write(after.beside);
  if (after.record !== null) await record.write(after.record);
}
