import type { Fault } from './fault.ts';
import type { Cell } from './run-cell.ts';
import { isFirst, listTargets, type Target } from './targets.ts';

/**
 * Each fault on each target that it fits. A heavy fault runs on the first target of each dialect, transport and
 * launcher.
 */
export function listCells(faults: readonly Fault[], targets: readonly Target[] = listTargets()): Cell[] {
  return faults.flatMap((fault) =>
    targets.filter((target) => fits(fault, target)).map((target) => ({ fault, target })),
  );
}

function fits(fault: Fault, target: Target): boolean {
  if (fault.isHeavy && !isFirst(target)) return false;
  if (Array.isArray(fault.class) && target.capability === 'hook' && target.mode !== 'filter') return false;
  return fault.fits?.(target) ?? true;
}

/** Each fault on each kind of target, with rotating transports and launchers. Heavy faults run on all of them. */
export function roundOf(cells: readonly Cell[]): Cell[] {
  let turn = 0;
  return [...Map.groupBy(cells, ({ fault }) => fault).values()].flatMap((own) => {
    turn += 1;
    if (own[0]?.fault.isHeavy) return own;
    const kinds = [...Map.groupBy(own, ({ target }) => target.kind).values()];
    return kinds.flatMap((kind, index) => kind[(turn + index) % kind.length] ?? []);
  });
}

/**
 * A fixed selection that covers each fault, each kind of target, and each dialect with all transports and launchers.
 */
export function sliceOf(cells: readonly Cell[]): Cell[] {
  const left = new Set(cells.flatMap(({ target }) => marksOf(target)));
  const slice: Cell[] = [];
  const take = (own: readonly Cell[]) => {
    const cell = own.toSorted((one, other) => newIn(other, left) - newIn(one, left))[0];
    if (cell === undefined) return;
    slice.push(cell);
    for (const mark of marksOf(cell.target)) left.delete(mark);
  };
  for (const own of Map.groupBy(cells, ({ fault }) => fault).values()) take(own);
  const light = cells.filter(({ fault }) => fault.isHeavy !== true);
  while (left.size > 0) take(light);
  return slice;
}

export function marksOf({ kind, dialect, transport, launcher }: Target): string[] {
  return [kind, `${dialect} ${transport} ${launcher}`];
}

function newIn({ target }: Cell, left: ReadonlySet<string>): number {
  return marksOf(target).filter((mark) => left.has(mark)).length;
}
