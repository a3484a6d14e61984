import type { Fault } from './fault.ts';
import type { Cell } from './run-cell.ts';
import { isFirst, listTargets, type Target } from './targets.ts';

/** Every cell: each fault on each target that can have it, a heavy one on the first of each dialect, transport and launcher. */
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

/**
 * Each fault on each kind of target (capability, mode, point, dialect, on_failure), every time on another of the transports and
 * launchers that the kind has, going round; heavy faults on all of them.
 */
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
 * Some of the cells, always the same ones: each fault at least once, and each target at least once, going round.
 */
export function sliceOf(cells: readonly Cell[]): Cell[] {
  const byFault = Map.groupBy(cells, ({ fault }) => fault);
  const left = new Set(cells.map(({ target }) => target));
  const slice: Cell[] = [];
  const take = (cell: Cell) => {
    slice.push(cell);
    left.delete(cell.target);
  };
  for (const own of byFault.values()) {
    const cell = own.find(({ target }) => left.has(target)) ?? own[0];
    if (cell !== undefined) take(cell);
  }
  const light = [...byFault.values()].filter(([first]) => first?.fault.isHeavy !== true);
  for (let round = 0; left.size > 0 && light.length > 0; round++) {
    const own = light[round % light.length] ?? [];
    const cell = own.find(({ target }) => left.has(target));
    if (cell !== undefined) take(cell);
    else if (round > light.length * cells.length) break;
  }
  return slice;
}
