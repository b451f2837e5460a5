// A day in an orchard: several agents, one that died, gates that failed, takeovers and evictions, for views and pictures.

import type { World } from './world.js';

export interface Orchard {
  readonly prune: string;
  readonly graft: string;
  readonly press: string;
  readonly fence: string;
  readonly cider: string;
}

/** Waits until a command is not refused any more. */
async function until(act: () => unknown): Promise<void> {
  for (const from = Date.now(); ; ) {
    try {
      act();
      return;
    } catch (error) {
      if (Date.now() - from > 60_000) throw error;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }
}

export async function orchard(world: World): Promise<Orchard> {
  world.jit(['gate', 'define', 'tests', '--title', 'The tests pass', '--command', 'echo "running 214 tests"; echo "test press::pressure ... FAILED"; exit 1']);
  world.jit(['gate', 'define', 'review', '--title', 'Somebody has read it', '--manual']);
  const prune = world.issue('Prune the old apple trees before the frost', '--priority', 'high', '--label', 'trees', '--description', 'Start with the row at the wall.\nKeep the leader, take crossing branches out first.\n\nDone when no branch crosses another one.');
  const graft = world.issue('Graft three Cox scions onto the rootstock', '--priority', 'critical', '--label', 'trees', '--gate', 'review');
  const press = world.issue('Repair the cider press', '--label', 'machines', '--gate', 'tests', '--gate', 'review', '--description', 'It loses pressure after a minute.');
  const fence = world.issue('Mend the fence along the brook', '--type', 'task', '--label', 'fences');
  const cider = world.issue('Press the first cider', '--priority', 'low', '--label', 'cider', '--depends-on', `${press},${prune}`);
  world.issue('Write labels for the bottles', '--label', 'cider', '--depends-on', cider);
  world.issue('Order new ladders');
  const [one, two, three] = [world.worktree('north'), world.worktree('south'), world.worktree('barn')];
  world.jit(['claim', 'acquire', prune], 'agent:bert', one);
  world.jit(['issue', 'update', prune, '--state', 'in_progress'], 'agent:bert', one);
  world.jit(['claim', 'renew', prune], 'agent:bert', one);
  world.jit(['reserve', 'add', 'orchard/north/**', '--issue', prune], 'agent:bert', one);
  world.jit(['claim', 'acquire', press, '--ttl', '900'], 'agent:cleo', two);
  world.jit(['issue', 'update', press, '--state', 'in_progress'], 'agent:cleo', two);
  try {
    world.jit(['gate', 'check', press, 'tests'], 'agent:cleo', two);
  } catch {
    // It fails: that is what is looked at.
  }
  world.jit(['note', press, 'The seal is worn; a new one is ordered.'], 'agent:cleo', two);
  world.jit(['claim', 'acquire', fence, '--ttl', '1'], 'agent:dora', three);
  await until(() => world.jit(['claim', 'acquire', fence, '--ttl', '1800'], 'agent:cleo', two));
  world.jit(['claim', 'force-evict', fence, '--reason', 'The brook is flooded, nobody works there today.']);
  world.jit(['claim', 'acquire', graft, '--ttl', '1200'], 'agent:dora', three);
  world.jit(['issue', 'update', graft, '--state', 'in_progress'], 'agent:dora', three);
  world.git(['worktree', 'remove', '--force', three]);
  return { prune, graft, press, fence, cider };
}
