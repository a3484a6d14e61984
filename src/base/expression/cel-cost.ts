import type { ASTNode } from '@marcbachmann/cel-js';
import { measureValue } from '../json/measure.ts';
import { withinLimit } from '../time/time-limit.ts';
import { childNodesOf, restoreFunctionNames } from './cel-functions.ts';

/** Evaluates with these variables. */
export type Evaluate = (values: Readonly<Record<string, unknown>>) => unknown;

/**
 * Bounds an evaluation with loops (`map`, `all`, …): on values so large that nested loops could take long, it
 * gets at most a second. An expression without loops is returned unchanged.
 */
export function boundLoops(root: ASTNode, evaluate: Evaluate): Evaluate {
  const loops = countLoops(root);
  if (loops === 0) return evaluate;
  // The body of the innermost loop may itself read the whole value.
  const most = STEPS ** (1 / (loops + 1));
  // A text may become a list of its letters.
  const letters = calls(root, 'split') ? 1 : undefined;
  return (values) =>
    measureValue(values, most, letters).isLarge
      ? withinLimit('evaluating it', () => evaluate(values))
      : evaluate(values);
}

/** Some ten milliseconds. */
const STEPS = 1_000_000;

/** The greatest number of nested loops. */
function countLoops(node: ASTNode): number {
  const inner = Math.max(0, ...childNodesOf(node).map(countLoops));
  if (node.op !== 'rcall' || !loopNames.has(node.args[0])) return inner;
  const [, list, [, ...body]] = node.args;
  return Math.max(countLoops(list), 1 + Math.max(0, ...body.map(countLoops)));
}

function calls(node: ASTNode, name: string): boolean {
  return (
    (node.op === 'rcall' && restoreFunctionNames(node.args[0]) === name) ||
    childNodesOf(node).some((part) => calls(part, name))
  );
}

const loopNames: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
