import { isObject } from '../../base/json/json.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { type Finding, findCrossedBounds } from '../../base/yaml/finding.ts';
import { itemsAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { findSchemaFault } from '../../config/build/refused.ts';
import { guardrailIdAt } from './schema.ts';
import type { StepKind, StepNode } from './validate-scope.ts';

export function findWrongShapes(document: YamlDocument, steps: readonly StepNode[]): readonly Finding[] {
  return [
    ...findRepeatedIds(steps),
    ...steps.flatMap((step) => [
      ...findForeignKeys(step),
      ...findIdleConcurrency(step),
      ...findIdleElse(step),
      ...findIdleFailFast(step),
      ...findTwoLoops(step),
      ...findWrongTime(step),
      ...findIdleOnFail(step),
      ...findWrongChecks(document, step),
    ]),
  ];
}

function findRepeatedIds(steps: readonly StepNode[]): readonly Finding[] {
  const seen = new Set<string>();
  return steps.flatMap(({ id, path }): Finding[] => {
    if (id === undefined) return [];
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    const message = `another step of this file already has the id ${id}`;
    return [{ path: [...path, 'id'], message, hint: 'Give each step its own id.' }];
  });
}

const ownKeys: Readonly<Record<string, StepKind>> = {
  args: 'tool',
  content: 'eval',
  params: 'eval',
  context: 'eval',
  threshold: 'eval',
  on_fail: 'eval',
  else: 'steps',
  input: 'pipeline',
};

function findForeignKeys({ kind, value, path }: StepNode): readonly Finding[] {
  if (kind === undefined) return [];
  const foreign = Object.keys(value).flatMap((key): Finding[] => {
    const owner = ownKeys[key];
    if (owner === undefined || owner === kind) return [];
    const message = `belongs to a step with \`${owner}\`, but this one has \`${kind}\``;
    return [{ path: [...path, key], message, atKey: true }];
  });
  if (kind !== 'eval' || 'content' in value) return foreign;
  const message = 'is required: the text that the eval judges';
  return [...foreign, { path: [...path, 'content'], message, atKey: true }];
}

function findIdleConcurrency({ kind, loops, value, path }: StepNode): readonly Finding[] {
  const target = { path: [...path, 'concurrency'], atKey: true };
  if (!('concurrency' in value) || kind === undefined || kind === 'parallel') return [];
  const forEach = value['for_each'];
  if (!loops || 'while' in value)
    return [{ ...target, message: 'needs `for_each` or `parallel`: nothing runs at once here' }];
  if (!isObject(forEach) || !('concurrency' in forEach)) return [];
  return [{ ...target, message: 'is also set in `for_each`', hint: 'Remove one of the two.' }];
}

function findIdleFailFast({ kind, value, path }: StepNode): readonly Finding[] {
  if (!('fail_fast' in value) || kind === undefined || kind === 'parallel') return [];
  const hint = 'Of a loop: `for_each: {items: …, fail_fast: true}`.';
  return [{ path: [...path, 'fail_fast'], message: 'needs `parallel`', hint, atKey: true }];
}

function findWrongTime({ value: { wait }, path }: StepNode): readonly Finding[] {
  const until = isObject(wait) ? wait['until'] : undefined;
  if (typeof until !== 'string' || until.includes('${') || parseTime(until) !== undefined) return [];
  const hint = 'Write it in RFC 3339, with its time zone: 2027-01-31T08:00:00Z.';
  return [{ path: [...path, 'wait', 'until'], message: 'is not a valid time', hint }];
}

function findTwoLoops({ value, path }: StepNode): readonly Finding[] {
  if (!('while' in value) || !('for_each' in value)) return [];
  const hint = 'Put the step into a group, and the other key on the group.';
  return [{ path: [...path, 'while'], message: 'cannot be combined with `for_each`', hint, atKey: true }];
}

function findIdleElse({ kind, loops, value, path }: StepNode): readonly Finding[] {
  if (!('else' in value) || kind !== 'steps') return [];
  const target = { path: [...path, 'else'], atKey: true };
  if (!('if' in value)) return [{ ...target, message: 'needs `if`, which chooses between the two' }];
  if (!loops) return [];
  const hint = 'Put the step into a group with the `if` and the `else`.';
  return [
    { ...target, message: `cannot be combined with \`${'while' in value ? 'while' : 'for_each'}\``, hint },
  ];
}

/** Without bounds no score fails, so an eval with an `on_fail` would let everything pass. */
function findIdleOnFail({ kind, value, path }: StepNode): readonly Finding[] {
  if (kind !== 'eval' || !('on_fail' in value) || 'threshold' in value) return [];
  const hint = 'Add `threshold: {min_score: …}`; without one, the score is only recorded.';
  return [{ path: [...path, 'on_fail'], message: 'needs `threshold`', hint, atKey: true }];
}

export function findWrongChecks(document: YamlDocument, step: Pick<StepNode, 'path'>): readonly Finding[] {
  const owners = [step.path, ...itemsAt(document, [...step.path, 'chat', 'guardrails'])];
  return [
    ...findWrongGuardrails(document, step),
    ...findWrongChatOptions(document, [...step.path, 'chat']),
    ...owners.flatMap((owner) =>
      findCrossedBounds(document, [...owner, 'threshold'], ['min_score', 'max_score']),
    ),
  ];
}

function findWrongGuardrails(document: YamlDocument, { path }: Pick<StepNode, 'path'>): readonly Finding[] {
  const chat = [...path, 'chat'];
  const items = itemsAt(document, [...chat, 'guardrails']);
  const ids = items.map((item) => guardrailIdAt(document, item));
  const repeated = items.flatMap((item, index): Finding[] => {
    const id = ids[index];
    if (id === undefined || ids.indexOf(id) === index) return [];
    const isNamed = valueAt(document, [...item, 'id']) !== undefined;
    const hint = isNamed ? undefined : 'Give it an `id`: without one, its name is that of its eval.';
    const message = `another guardrail of this chat is already named ${id}`;
    return [{ path: [...item, isNamed ? 'id' : 'eval'], message, hint }];
  });
  return [...repeated, ...findIdleRetries(document, chat)];
}

function findIdleRetries(document: YamlDocument, chat: StepNode['path']): readonly Finding[] {
  const retries = valueAt(document, [...chat, 'retries']);
  if (typeof retries !== 'number' || retries < 1) return [];
  const enforces = itemsAt(document, [...chat, 'guardrails']).some((item) => {
    return valueAt(document, [...item, 'action']) !== 'monitor';
  });
  const message = 'needs a guardrail with `mode: enforce`: only such a guardrail causes a retry';
  return enforces ? [] : [{ path: [...chat, 'retries'], message, atKey: true }];
}

function findWrongChatOptions(document: YamlDocument, path: Path): readonly Finding[] {
  return [...findBadOutput(document, [...path, 'output', 'schema']), ...findBadChoice(document, path)];
}

function findBadOutput(document: YamlDocument, path: Path): readonly Finding[] {
  const fault = findSchemaFault(document, path);
  return fault === undefined ? [] : [{ path, message: `is not a valid JSON Schema: ${fault}` }];
}

function findBadChoice(document: YamlDocument, chat: Path): readonly Finding[] {
  const path = [...chat, 'tool_choice'];
  const tools = itemsAt(document, [...chat, 'tools']).map((item) => textAt(document, item) ?? '');
  const name = textAt(document, [...path, 'tool']);
  if (tools.length === 0) {
    const isForced = name !== undefined || valueAt(document, path) === 'required';
    const message = 'needs `tools`: without them, the model can call nothing';
    return isForced ? [{ path, message, atKey: true }] : [];
  }
  if (name === undefined || name === '' || tools.includes(name)) return [];
  const message = `the chat has no tool named ${name}`;
  return [{ path: [...path, 'tool'], message, ...suggest(name, tools, 'tools') }];
}

/** Returns an RFC 3339 time in ms since 1970; undefined for other text or without a time zone. */
export function parseTime(text: string): number | undefined {
  if (!rfc3339.test(text)) return undefined;
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;
