// Puts what depends on what into layers: everything to the right of all that it depends on, with few crossings. The data may
// have circles and chains of any length, so nothing here recurses.

export interface Placed {
  readonly id: string;
  readonly layer: number;
  readonly row: number;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
}

const SWEEPS = 6;

/** A place for each of these; `from` depends on `to`. */
export function layers(ids: readonly string[], edges: readonly Edge[]): Placed[] {
  const deps = new Map<string, string[]>(ids.map((id) => [id, []]));
  const users = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const { from, to } of edges) {
    if (from === to || !deps.has(from) || !deps.has(to)) continue;
    deps.get(from)?.push(to);
    users.get(to)?.push(from);
  }
  const rows = group(ids, depths(ids, deps, users));
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const down = sweep % 2 === 0;
    sweepOnce(down ? rows : [...rows].reverse(), down ? deps : users);
  }
  return rows.flatMap((row, layer) => row.map((id, at) => ({ id, layer, row: at })));
}

/** How long the longest way down is from each. In a circle somebody is first. */
function depths(ids: readonly string[], deps: Map<string, string[]>, users: Map<string, string[]>): Map<string, number> {
  const open = new Map(ids.map((id) => [id, deps.get(id)?.length ?? 0]));
  const depth = new Map<string, number>();
  const free = ids.filter((id) => open.get(id) === 0);
  const rest = ids.filter((id) => open.get(id) !== 0);
  let next = 0;
  while (depth.size < ids.length) {
    const id = free.pop() ?? rest[next++];
    if (id === undefined) break;
    if (depth.has(id)) continue;
    const below = (deps.get(id) ?? []).flatMap((dep) => depth.get(dep) ?? []);
    depth.set(id, below.length === 0 ? 0 : Math.max(...below) + 1);
    for (const user of users.get(id) ?? []) {
      const left = (open.get(user) ?? 0) - 1;
      open.set(user, left);
      if (left === 0) free.push(user);
    }
  }
  return depth;
}

function group(ids: readonly string[], depth: Map<string, number>): string[][] {
  const rows: string[][] = [];
  for (const id of ids) (rows[depth.get(id) ?? 0] ??= []).push(id);
  return [...rows].map((row) => row ?? []);
}

/** Moves each of a layer to the middle of those that it is tied to in the layers before. */
function sweepOnce(rows: string[][], tied: Map<string, string[]>): void {
  const place = new Map<string, number>();
  for (const row of rows) {
    const want = new Map(
      row.map((id, at) => {
        const places = (tied.get(id) ?? []).flatMap((other) => place.get(other) ?? []);
        return [id, places.length === 0 ? at : places.reduce((a, b) => a + b, 0) / places.length];
      }),
    );
    row.sort((a, b) => (want.get(a) ?? 0) - (want.get(b) ?? 0));
    row.forEach((id, at) => place.set(id, at));
  }
}
