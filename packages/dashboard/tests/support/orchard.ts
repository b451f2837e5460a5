// A day in an orchard: several agents, one that died, gates that failed, takeovers and evictions, for views and pictures.

import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
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
  await farm(world);
  return { prune, graft, press, fence, cider };
}

const WORK: readonly (readonly [string, ...string[]])[] = [
  ['Clean the gutters of the barn', '--label', 'barn'],
  ['Sharpen the secateurs and the saws', '--label', 'tools', '--priority', 'low'],
  ['Count the hives after the winter and write down which of them are weak', '--label', 'bees,spring'],
  ['Fetch straw from the neighbour'],
  ['Oil the hinges of the big gate', '--label', 'fences,tools,barn,autumn,rust', '--priority', 'low'],
  ['Test the soil at the brook', '--label', 'trees', '--priority', 'high'],
  ['Replace the pump', '--label', 'machines', '--priority', 'critical', '--description', 'It leaks.'],
  ['Sow clover between the rows', '--label', 'spring'],
  ['Paint the shutters'],
  ['Stack the firewood', '--label', 'barn'],
  ['Take the honey off', '--label', 'bees'],
  ['Label the jars', '--label', 'bees'],
  ['Sort the apples for the market', '--label', 'trees,market'],
  ['Ask the market for a stall in October', '--label', 'market', '--priority', 'high'],
  ['Mow the meadow before the fair'],
  ['Mend the roof of the shed', '--label', 'barn', '--priority', 'high'],
  ['Order rootstock for the nursery', '--label', 'trees'],
  ['Teach the new hands how to prune', '--label', 'trees'],
  ['Plan the rows of the nursery', '--label', 'trees,spring'],
  ['Service the tractor', '--label', 'machines'],
  ['Donaudampfschifffahrtsgesellschaftskapitänsmützenaufbewahrungsschrank_without_any_place_to_break'],
  ['Write the report for the council'],
  ['Wash the crates', '--label', 'market'],
];

/** Thirty issues in all, some of them done, two more agents, somebody who asks to evict one, and a gate that failed noticed. */
async function farm(world: World): Promise<void> {
  const issues = WORK.map(([title, ...more]) => world.issue(title, ...more));
  for (const done of issues.slice(0, 6)) {
    world.jit(['claim', 'acquire', done], 'agent:eli');
    world.jit(['issue', 'update', done, '--state', 'done'], 'agent:eli');
    world.jit(['claim', 'release', done], 'agent:eli');
  }
  const [pump = '', clover = ''] = issues.slice(6);
  world.jit(['claim', 'acquire', pump, '--ttl', '7200'], 'agent:eli');
  world.jit(['issue', 'update', pump, '--state', 'in_progress'], 'agent:eli');
  world.jit(['claim', 'acquire', clover, '--ttl', '600'], 'agent:fay', world.worktree('meadow'));
  world.git(['add', '.']);
  world.git(['commit', '-q', '-m', 'a year on the farm']);
  world.jit(['config', 'set', 'policy.force_evict', 'approved']);
  appendFileSync(join(world.repo, '.jit', 'config.toml'), '\n[[policy.escalate]]\nwhen = "gate_failed"\nafter_secs = 0\nnote = "A gate failed: who looks at it?"\n');
  try {
    world.jit(['claim', 'force-evict', pump, '--reason', 'The water is needed tonight, and nobody answers.'], 'agent:bert');
  } catch {
    // It needs approval: that is what is looked at.
  }
}
