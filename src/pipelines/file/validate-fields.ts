import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import type { ExpressionField } from '../../base/yaml/expressions.ts';
import { entriesAt, itemsAt, valueAt } from '../../base/yaml/read.ts';
import { type ExpressionSite, variablesAt } from './validate-scope.ts';
import type { StepNode } from './validate-tree.ts';

/** A tree whose strings are expressions, and the position of these in the pipeline. */
export interface Field extends ExpressionField {
  readonly site: ExpressionSite;
}

/** Every tree of the file whose strings are expressions. */
export function listFields(document: YamlDocument, steps: readonly StepNode[]): readonly Field[] {
  const output = toField(['spec', 'output'], { step: undefined, part: 'own' });
  const vars = entriesAt(document, ['spec', 'vars']).map(({ path }) =>
    toField(path, { step: undefined, part: 'vars' }),
  );
  const fields = [...vars, ...steps.flatMap((step) => fieldsOf(document, step)), output];
  return fields.filter(({ path }) => valueAt(document, path) !== undefined);
}

function fieldsOf(document: YamlDocument, step: StepNode): readonly Field[] {
  const forEach = [...step.path, 'for_each'];
  const items = isObject(valueAt(document, forEach)) ? [...forEach, 'items'] : forEach;
  const isUntil = isObject(valueAt(document, [...step.path, 'wait']));
  const wait = isUntil ? [...step.path, 'wait', 'until'] : [...step.path, 'wait'];
  const guardrails = itemsAt(document, [...step.path, 'chat', 'guardrails']);
  const field = (path: Path, part: ExpressionSite['part'], wanted?: Field['wanted']) =>
    toField(path, { step, part }, wanted);
  return [
    field([...step.path, 'if'], 'head', 'bool'),
    field(items, 'head', 'list'),
    field([...step.path, 'while', 'condition'], 'own', 'bool'),
    field(wait, 'own'),
    field([...step.path, 'ask', 'question'], 'own'),
    field([...step.path, 'args'], 'own', 'map'),
    field([...step.path, 'input'], 'own'),
    field([...step.path, 'content'], 'own'),
    field([...step.path, 'params'], 'own', 'map'),
    field([...step.path, 'context'], 'own', 'map'),
    field([...step.path, 'chat', 'system'], 'own'),
    field([...step.path, 'chat', 'messages'], 'own'),
    ...guardrails.map((item) => field([...item, 'params'], 'own', 'map')),
  ];
}

function toField(path: Path, site: ExpressionSite, wanted?: Field['wanted']): Field {
  return { path, site, variables: variablesAt(site), wanted };
}
