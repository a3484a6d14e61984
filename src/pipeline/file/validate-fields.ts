import type { ExpectedType } from '../../expression/expression.ts';
import { isObject } from '../../json/json.ts';
import type { Path, YamlDocument } from '../../yaml/document.ts';
import { itemsAt, valueAt } from '../../yaml/read.ts';
import type { ExpressionSite } from './validate-scope.ts';
import type { StepNode } from './validate-tree.ts';

/** A tree whose strings are expressions. */
export interface Field {
  readonly path: Path;
  readonly site: ExpressionSite;
  /** What a text must give; undefined where any text will do. */
  readonly wanted: ExpectedType | undefined;
}

/** Every tree of the file whose strings are expressions. */
export function listFields(document: YamlDocument, steps: readonly StepNode[]): readonly Field[] {
  const output: Field = {
    path: ['spec', 'output'],
    site: { step: undefined, part: 'own' },
    wanted: undefined,
  };
  const fields = [...steps.flatMap((step) => fieldsOf(document, step)), output];
  return fields.filter(({ path }) => valueAt(document, path) !== undefined);
}

function fieldsOf(document: YamlDocument, step: StepNode): readonly Field[] {
  const forEach = [...step.path, 'for_each'];
  const items = isObject(valueAt(document, forEach)) ? [...forEach, 'items'] : forEach;
  const guardrails = itemsAt(document, [...step.path, 'chat', 'guardrails']);
  const field = (path: Path, part: ExpressionSite['part'], wanted?: ExpectedType): Field => {
    return { path, site: { step, part }, wanted };
  };
  return [
    field([...step.path, 'if'], 'head', 'bool'),
    field(items, 'head', 'list'),
    field([...step.path, 'args'], 'own', 'map'),
    field([...step.path, 'content'], 'own'),
    field([...step.path, 'params'], 'own', 'map'),
    field([...step.path, 'context'], 'own', 'map'),
    field([...step.path, 'chat', 'system'], 'own'),
    field([...step.path, 'chat', 'messages'], 'own'),
    ...guardrails.map((item) => field([...item, 'params'], 'own', 'map')),
  ];
}
