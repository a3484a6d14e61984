import type { StepNode } from './validate-tree.ts';

/** Where an expression stands. */
export interface Site {
  /** The step that it belongs to; undefined for the output of the pipeline. */
  readonly step: StepNode | undefined;
  /** `own`: done once for each item of a loop. `head`: `if` and `for_each`, done before it. */
  readonly part: 'own' | 'head';
}

/** The variables that an expression may see. */
export function variablesAt({ step, part }: Site): readonly string[] {
  const around = step === undefined ? [] : placesOf(step);
  const isInLoop =
    (step?.loops === true && part === 'own') ||
    around.some(({ parent, slot }) => parent.loops && isBody(slot));
  const isInHandler = around.some(({ slot }) => slot === 'handler');
  return ['input', 'steps', ...(isInLoop ? ['item', 'index'] : []), ...(isInHandler ? ['error'] : [])];
}

/** Why an expression cannot know what the step came to; undefined when it can. */
export function whyUnknown({ step }: Site, target: StepNode): string | undefined {
  if (step === undefined) return whyEnclosed(target, undefined);
  if (step === target) return 'it is the step itself, which is known when it has ended';
  const here = lineOf(step);
  const there = lineOf(target);
  const turn = here.findIndex((node, depth) => node !== there[depth]);
  // The one stands inside the other.
  if (turn === -1) return 'it stands inside this step, and runs after this is asked';
  const own = here[turn];
  const other = there[turn];
  if (own === undefined) return 'it runs later';
  if (other === undefined) return whyAround(own, target);
  return whyBeside(own, other) ?? whyEnclosed(target, own.parent, own.slot === 'handler');
}

/** What a handler handles has ended; any other step around has not. */
function whyAround({ slot }: StepNode, target: StepNode): string | undefined {
  return slot === 'handler' ? undefined : `it is ${named(target)} around this one, which has not ended`;
}

function whyBeside(own: StepNode, other: StepNode): string | undefined {
  if (own.slot === other.slot) {
    if (own.slot === 'parallel') return 'it is in another branch of the same `parallel`, which runs at once';
    return other.index > own.index ? 'it runs later' : undefined;
  }
  if (own.slot === 'handler') return undefined;
  if (other.slot === 'handler') return 'it is in an on_error that runs later, if at all';
  return 'it is in the other alternative of the same `if`, and only one of the two runs';
}

/** A loop runs its inner steps many times, so that none of them is *the* step outside of it. */
function whyEnclosed(target: StepNode, shared: StepNode | undefined, isHandled = false): string | undefined {
  const around = placesOf(target);
  const end = shared === undefined ? -1 : around.findIndex(({ parent }) => parent === shared);
  const between = end === -1 ? around : around.slice(0, isHandled ? end + 1 : end);
  const loop = between.find(({ parent, slot }) => parent.loops && isBody(slot))?.parent;
  if (loop === undefined) return undefined;
  return `it is inside the for_each of ${named(loop)}: outside of it there is only \`steps.${loop.id}.items\``;
}

function named({ id }: StepNode): string {
  return `step ${id ?? 'without id'}`;
}

/** The steps around a step, the nearest first, and the list of theirs that leads to it. */
function placesOf(step: StepNode): readonly { readonly parent: StepNode; readonly slot: StepNode['slot'] }[] {
  const { parent, slot } = step;
  return parent === undefined ? [] : [{ parent, slot }, ...placesOf(parent)];
}

/** From the outermost step around it down to the step itself. */
function lineOf(step: StepNode): readonly StepNode[] {
  return step.parent === undefined ? [step] : [...lineOf(step.parent), step];
}

/** Handlers and alternatives run outside of the loop of their step. */
function isBody(slot: StepNode['slot']): boolean {
  return slot === 'steps' || slot === 'parallel';
}
