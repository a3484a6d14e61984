import type { StepNode } from './validate-tree.ts';

/** The position of an expression in the pipeline. */
export interface ExpressionSite {
  /** The step that it belongs to; undefined for the output and the vars of the pipeline. */
  readonly step: StepNode | undefined;
  /**
   * `own`: evaluated once for each item of a loop. `head`: `if` and `for_each`, evaluated before the loop.
   * `vars`: evaluated before the first step.
   */
  readonly part: 'own' | 'head' | 'vars';
}

/** The variables that an expression may see. */
export function variablesAt({ step, part }: ExpressionSite): readonly string[] {
  if (part === 'vars') return ['input', 'run', 'env', 'vars'];
  const around = step === undefined ? [] : ancestorsOf(step);
  const own = step?.loops === true && part === 'own' ? [step] : [];
  const outer = around.flatMap(({ parent, slot }) => (parent.loops && isBody(slot) ? [parent] : []));
  const inLoops = [...own, ...outer].flatMap(({ value }) =>
    Object.hasOwn(value, 'while') ? ['index', 'last'] : ['item', 'index'],
  );
  const isInHandler = around.some(({ slot }) => slot === 'handler');
  return [
    ...['input', 'steps', 'run', 'env', 'vars'],
    ...['item', 'index', 'last'].filter((name) => inLoops.includes(name)),
    ...(isInHandler ? ['error'] : []),
    ...(step !== undefined && pathFromRoot(step)[0]?.slot === 'finally' ? ['outcome'] : []),
  ];
}

/** Why an expression cannot read the outcome of a step; undefined when it can. */
export function whyUnknown({ step }: ExpressionSite, target: StepNode): string | undefined {
  if (step === undefined) {
    const isLater = pathFromRoot(target)[0]?.slot === 'finally';
    return isLater ? 'it is in `finally`, which runs later' : whyInsideLoop(target, undefined);
  }
  if (step === target) return 'it is the step itself, which is known when it has ended';
  const here = pathFromRoot(step);
  const there = pathFromRoot(target);
  const fork = here.findIndex((node, depth) => node !== there[depth]);
  // The target is nested in this step.
  if (fork === -1) return 'it stands inside this step, and runs after this is asked';
  const own = here[fork];
  const other = there[fork];
  if (own === undefined) return 'it runs later';
  if (other === undefined) return whyAncestor(own, target);
  return whySibling(own, other) ?? whyInsideLoop(target, own.parent, own.slot === 'handler');
}

/** Why an enclosing step is not readable: it has not ended. The failed step of an on_error has. */
function whyAncestor({ slot }: StepNode, target: StepNode): string | undefined {
  return slot === 'handler' ? undefined : `it is ${stepLabel(target)} around this one, which has not ended`;
}

function whySibling(own: StepNode, other: StepNode): string | undefined {
  if (own.slot === other.slot) {
    if (own.slot === 'parallel') return 'it is in another branch of the same `parallel`, which runs at once';
    return other.index > own.index ? 'it runs later' : undefined;
  }
  if (own.slot === 'finally') return undefined;
  if (other.slot === 'finally') return 'it is in `finally`, which runs later';
  if (own.slot === 'handler') return undefined;
  if (other.slot === 'handler') return 'it is in an on_error that runs later, if at all';
  return 'it is in the other alternative of the same `if`, and only one of the two runs';
}

/** A loop runs its inner steps many times, so that none of them is *the* step outside of it. */
function whyInsideLoop(
  target: StepNode,
  shared: StepNode | undefined,
  isHandled = false,
): string | undefined {
  const around = ancestorsOf(target);
  const end = shared === undefined ? -1 : around.findIndex(({ parent }) => parent === shared);
  const between = end === -1 ? around : around.slice(0, isHandled ? end + 1 : end);
  const loop = between.find(({ parent, slot }) => parent.loops && isBody(slot))?.parent;
  if (loop === undefined) return undefined;
  const kind = Object.hasOwn(loop.value, 'while') ? 'while' : 'for_each';
  const only =
    loop.collect === 'all'
      ? `\`steps.${loop.id}.items\``
      : loop.collect === 'last'
        ? `\`steps.${loop.id}.last\``
        : `how many there were, \`steps.${loop.id}.count\``;
  return `it is inside the ${kind} of ${stepLabel(loop)}: outside of it there is only ${only}`;
}

function stepLabel({ id }: StepNode): string {
  return `step ${id ?? 'without id'}`;
}

/** The enclosing steps, nearest first, each with the list of it that contains the step. */
function ancestorsOf(
  step: StepNode,
): readonly { readonly parent: StepNode; readonly slot: StepNode['slot'] }[] {
  const { parent, slot } = step;
  return parent === undefined ? [] : [{ parent, slot }, ...ancestorsOf(parent)];
}

/** From the outermost step around it down to the step itself. */
function pathFromRoot(step: StepNode): readonly StepNode[] {
  return step.parent === undefined ? [step] : [...pathFromRoot(step.parent), step];
}

/** Handlers and alternatives run outside of the loop of their step. */
function isBody(slot: StepNode['slot']): boolean {
  return slot === 'steps' || slot === 'parallel';
}
