import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { itemsAt, valueAt } from '../../base/yaml/read.ts';
import { stepKinds } from './pipeline.ts';

export type StepKind = (typeof stepKinds)[number];

/** The list of its parent that contains a step; `spec` and `finally` for the steps of the pipeline itself. */
type Slot = 'spec' | 'finally' | 'steps' | 'else' | 'parallel' | 'handler';

/** A step of an unchecked file, with its position. */
export interface StepNode {
  readonly path: Path;
  /** Undefined unless it is a text. */
  readonly id: string | undefined;
  /** Undefined unless the step says exactly one thing to do. */
  readonly kind: StepKind | undefined;
  readonly value: Readonly<Record<string, unknown>>;
  readonly loops: boolean;
  /** Which views its view has, where it loops. */
  readonly collect: 'all' | 'last' | 'none';
  readonly parent: StepNode | undefined;
  readonly slot: Slot;
  readonly index: number;
}

/** Every step of the file, each before the steps inside of it. */
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
