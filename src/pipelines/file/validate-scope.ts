import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { itemsAt, valueAt } from '../../base/yaml/read.ts';
import { stepKinds } from './pipeline.ts';

export interface ExpressionSite {
  readonly step: StepNode | undefined;
  /** `own`: for each item of a loop. `head`: once before the loop. `vars`: once before the first step. */
  readonly part: 'own' | 'head' | 'vars';
}

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

/** Why an expression cannot read a step's outcome; undefined if it can. */
export function whyUnknown({ step }: ExpressionSite, target: StepNode): string | undefined {
  if (step === undefined) {
    const isLater = pathFromRoot(target)[0]?.slot === 'finally';
    return isLater ? 'it is in `finally`, which runs later' : whyInsideLoop(target, undefined);
  }
  if (step === target) return 'it is the step itself, which has not ended';
  const here = pathFromRoot(step);
  const there = pathFromRoot(target);
  const fork = here.findIndex((node, depth) => node !== there[depth]);
  if (fork === -1) return 'it is inside this step, and runs after this is evaluated';
  const own = here[fork];
  const other = there[fork];
  if (own === undefined) return 'it runs later';
  if (other === undefined) return whyAncestor(own, target);
  return whySibling(own, other) ?? whyInsideLoop(target, own.parent, own.slot === 'handler');
}

/** An enclosing step has not ended, so it is not readable. The failed step of an on_error has. */
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
  if (other.slot === 'handler') return 'it is in an on_error that may run later';
  return 'it is in the other branch of the same `if`, and only one of the two runs';
}

/** A loop runs its inner steps many times, so a reference from outside is ambiguous. */
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
  return `it is inside the ${kind} of ${stepLabel(loop)}: outside, there is only ${only}`;
}

function stepLabel({ id }: StepNode): string {
  return `step ${id ?? 'without id'}`;
}

function ancestorsOf(
  step: StepNode,
): readonly { readonly parent: StepNode; readonly slot: StepNode['slot'] }[] {
  const { parent, slot } = step;
  return parent === undefined ? [] : [{ parent, slot }, ...ancestorsOf(parent)];
}

function pathFromRoot(step: StepNode): readonly StepNode[] {
  return step.parent === undefined ? [step] : [...pathFromRoot(step.parent), step];
}

/** Handlers and alternatives run outside their step's loop. */
function isBody(slot: StepNode['slot']): boolean {
  return slot === 'steps' || slot === 'parallel';
}

export type StepKind = (typeof stepKinds)[number];

/** The parent's list that contains a step; `spec` and `finally` for top-level steps. */
type Slot = 'spec' | 'finally' | 'steps' | 'else' | 'parallel' | 'handler';

export interface StepNode {
  readonly path: Path;
  readonly id: string | undefined;
  readonly kind: StepKind | undefined;
  readonly value: Readonly<Record<string, unknown>>;
  readonly loops: boolean;
  readonly collect: 'all' | 'last' | 'none';
  readonly parent: StepNode | undefined;
  readonly slot: Slot;
  readonly index: number;
}

export function listSteps(document: YamlDocument): readonly StepNode[] {
  return [
    ...listIn(document, ['spec', 'steps'], { slot: 'spec', parent: undefined }),
    ...listIn(document, ['spec', 'finally'], { slot: 'finally', parent: undefined }),
  ];
}

type NodePosition = Pick<StepNode, 'slot' | 'parent'>;

function listIn(document: YamlDocument, list: Path, position: NodePosition): readonly StepNode[] {
  return itemsAt(document, list).flatMap((path, index) => {
    const value = valueAt(document, path);
    if (!isObject(value)) return [];
    const node = toNode(path, value, { ...position, index });
    const inner: readonly [Slot, Path][] = [
      ['parallel', [...path, 'parallel']],
      ['steps', [...path, 'steps']],
      ['else', [...path, 'else']],
      ['handler', [...path, 'on_error', 'steps']],
    ];
    return [node, ...inner.flatMap(([slot, steps]) => listIn(document, steps, { slot, parent: node }))];
  });
}

function toNode(
  path: Path,
  value: StepNode['value'],
  position: Pick<StepNode, 'slot' | 'parent' | 'index'>,
): StepNode {
  const { id } = value;
  const kinds = stepKinds.filter((key) => Object.hasOwn(value, key));
  return {
    path,
    id: typeof id === 'string' ? id : undefined,
    kind: kinds.length === 1 ? kinds[0] : undefined,
    value,
    loops: Object.hasOwn(value, 'for_each') || Object.hasOwn(value, 'while'),
    collect: collectOf(value),
    ...position,
  };
}

function collectOf({ for_each: forEach, while: loop }: StepNode['value']): StepNode['collect'] {
  const [long, usual] = loop === undefined ? [forEach, 'all' as const] : [loop, 'last' as const];
  const collect = isObject(long) ? long['collect'] : undefined;
  return collect === 'all' || collect === 'last' || collect === 'none' ? collect : usual;
}
