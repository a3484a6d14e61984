import { findReferences, type Reference } from '../../base/expression/references.ts';
import { isObject } from '../../base/json/json.ts';
import { suggest } from '../../base/text/suggest.ts';
import type { YamlDocument } from '../../base/yaml/document.ts';
import type { Finding } from '../../base/yaml/finding.ts';
import { entriesAt, itemsAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { type Field, listFields } from './validate-fields.ts';
import { whyUnknown } from './validate-scope.ts';
import type { StepNode } from './validate-tree.ts';

/** References in expressions to steps that are not visible there, and to keys that do not exist. */
export function findBadReferences(document: YamlDocument, steps: readonly StepNode[]): readonly Finding[] {
  const declared = {
    input: valueAt(document, ['spec', 'input']),
    env: itemsAt(document, ['spec', 'env']).map((item) => textAt(document, item) ?? ''),
    vars: entriesAt(document, ['spec', 'vars']).map(({ name }) => name),
  };
  return listFields(document, steps).flatMap((field) => {
    const references = findReferences(valueAt(document, field.path), variables);
    const findings = references.flatMap((reference) => {
      const fault = findFault(reference, { field, steps, ...declared });
      return fault === undefined ? [] : [{ path: [...field.path, ...reference.at], ...fault }];
    });
    return findings.filter(({ path, message }, index) => {
      return findings.findIndex((other) => other.message === message && same(other.path, path)) === index;
    });
  });
}

const variables = ['steps', 'input', 'error', 'outcome', 'run', 'env', 'vars'];

interface ReferenceContext {
  readonly field: Field;
  readonly steps: readonly StepNode[];
  /** What the file declares: the schema of its input, and names. */
  readonly input: unknown;
  readonly env: readonly string[];
  readonly vars: readonly string[];
}

type ReferenceFault = Pick<Finding, 'message' | 'hint' | 'basis'>;

function findFault({ path }: Reference, context: ReferenceContext): ReferenceFault | undefined {
  const [variable, key, ...rest] = path;
  if (key === undefined) return undefined;
  switch (variable) {
    case 'input':
      return findInputFault(context.input, [key, ...rest], 'input');
    case 'error':
      return findKeyFault(key, { owner: 'error', known: errorKeys });
    case 'outcome':
      return findKeyFault(key, { owner: 'outcome', known: ['status', 'error'] });
    case 'run':
      return findKeyFault(key, { owner: 'run', known: runKeys });
    case 'env':
      return findEnvFault(key, context.env);
    case 'vars':
      return findVarFault(key, context);
    default:
      return findStepFault(key, rest, context);
  }
}

function findStepFault(
  key: string,
  rest: readonly string[],
  { field, steps }: ReferenceContext,
): ReferenceFault | undefined {
  const target = steps.find(({ id }) => id === key);
  if (target === undefined) {
    const known = steps.flatMap(({ id }) => (id === undefined ? [] : [id]));
    return {
      message: `\`steps.${key}\`: no step has the id ${key}`,
      ...suggest(key, known, 'ids'),
      basis: ['spec', 'steps'],
    };
  }
  const why = whyUnknown(field.site, target);
  if (why !== undefined) return { message: `\`steps.${key}\` is not known here: ${why}` };
  const [member] = rest;
  if (member === undefined || target.kind === undefined) return undefined;
  if (member === 'object' && target.kind === 'chat' && !target.loops && !asksForObject(target))
    return { message: `\`steps.${key}\` has no \`object\``, hint: objectHint };
  return findKeyFault(member, { owner: `steps.${key}`, known: viewKeys(target) });
}

const errorKeys = ['code', 'message', 'hint', 'step'];
const runKeys = ['id', 'labels'];

/** A variable of the environment is known only by its declaration. */
function findEnvFault(name: string, declared: readonly string[]): ReferenceFault | undefined {
  if (declared.includes(name)) return undefined;
  const { hint } = suggest(name, declared);
  return {
    message: `\`env.${name}\`: spec.env does not declare ${name}`,
    hint: hint ?? `Add it to \`spec.env\`: \`env: [${[...declared, name].join(', ')}]\`.`,
  };
}

function findVarFault(name: string, { field, vars }: ReferenceContext): ReferenceFault | undefined {
  if (!vars.includes(name))
    return { message: `\`vars.${name}\`: spec.vars has no ${name}`, ...suggest(name, vars, 'vars') };
  const own = field.site.part === 'vars' ? String(field.path.at(-1)) : undefined;
  if (own === undefined || vars.indexOf(name) < vars.indexOf(own)) return undefined;
  const why = own === name ? 'it is the value itself' : 'it stands further down';
  return { message: `\`vars.${name}\` is not known here: ${why}` };
}

/** What expressions find in the view of a step, beside `status` and `error`. */
const ownViewKeys = {
  tool: ['result', 'hook', 'reason', 'metadata'],
  eval: ['score', 'passed', 'detail', 'data'],
  chat: [
    'text',
    'object',
    'rounds',
    'finish_reason',
    'provider',
    'model',
    'usage',
    'tool_calls',
    'messages',
    'guardrails',
    'metadata',
  ],
  parallel: [],
  steps: [],
  wait: ['until'],
  ask: ['answer', 'by', 'reason'],
  pipeline: ['output', 'run_id', 'failed_at'],
} as const;

function viewKeys({ kind, loops, collect }: StepNode): readonly string[] {
  const own = kind === undefined ? [] : ownViewKeys[kind];
  const ofLoop = { all: ['items'], last: ['count', 'last'], none: ['count'] };
  return ['status', ...(loops ? ofLoop[collect] : own), 'error'];
}

function asksForObject({ value: { chat } }: StepNode): boolean {
  return isObject(chat) && chat['output'] !== undefined;
}

const objectHint = 'Give the chat `output: {schema: …}`: its answer is then JSON that fits it.';

function findKeyFault(
  key: string,
  { owner, known }: { readonly owner: string; readonly known: readonly string[] },
): ReferenceFault | undefined {
  if (known.includes(key)) return undefined;
  return { message: `\`${owner}\` has no \`${key}\``, ...suggest(key, known, 'keys') };
}

/** Only what the input can never have: a key beside the `properties` of a schema that allows no other. */
function findInputFault(schema: unknown, keys: readonly string[], owner: string): ReferenceFault | undefined {
  const [key, ...rest] = keys;
  if (key === undefined || !isObject(schema) || !isObject(schema['properties'])) return undefined;
  const { properties } = schema;
  if (Object.hasOwn(properties, key)) return findInputFault(properties[key], rest, `${owner}.${key}`);
  if (schema['additionalProperties'] !== false || schema['patternProperties'] !== undefined) return undefined;
  return findKeyFault(key, { owner, known: Object.keys(properties) });
}

function same(a: readonly unknown[], b: readonly unknown[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
