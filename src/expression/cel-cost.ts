import type { ASTNode } from '@marcbachmann/cel-js';
import { measure } from '../json/measure.ts';
import { withinLimit } from '../time/time-limit.ts';
import { nameBounded, partsOf } from './cel-functions.ts';

/** Evaluates over values that stand in an object. */
export type Evaluate = (values: Readonly<Record<string, unknown>>) => unknown;

/**
 * The same evaluation, given a second where loops inside of loops could take that long: `map`, `all` and their like go through a
 * list once for every item of the list around them. An expression without them is left as it is.
 */
export function boundLoops(root: ASTNode, evaluate: Evaluate): Evaluate {
  const loops = countLoops(root);
  if (loops === 0) return evaluate;
  // What stands in the innermost loop may look at all that there is.
  const most = STEPS ** (1 / (loops + 1));
  // A text may become a list of its letters.
  const letters = calls(root, 'split') ? 1 : undefined;
  return (values) =>
    measure(values, most, letters).isLarge
      ? withinLimit('evaluating it', () => evaluate(values))
      : evaluate(values);
}

/** Some ten milliseconds. */
const STEPS = 1_000_000;

/** How many loops stand inside of one another. */
function countLoops(node: ASTNode): number {
  const inner = Math.max(0, ...partsOf(node).map(countLoops));
  if (node.op !== 'rcall' || !loopNames.has(node.args[0])) return inner;
  const [, list, [, ...body]] = node.args;
  return Math.max(countLoops(list), 1 + Math.max(0, ...body.map(countLoops)));
}

function calls(node: ASTNode, name: string): boolean {
  return (
    (node.op === 'rcall' && nameBounded(node.args[0]) === name) ||
    partsOf(node).some((part) => calls(part, name))
  );
}

const loopNames: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
