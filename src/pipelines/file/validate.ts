import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { catalogue } from '../../base/errors.ts';
import type { ExpressionError } from '../../base/expression/expression.ts';
import { findReferences, type Reference } from '../../base/expression/references.ts';
import { nearFileHint } from '../../base/files/paths.ts';
import { isObject } from '../../base/json/json.ts';
import { findNearest, suggest } from '../../base/text/suggest.ts';
import { locateFindings } from '../../base/yaml/check.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import {
  type ExpressionField,
  findBadExpressionsAt,
  findUnevaluatedExpressions,
} from '../../base/yaml/expressions.ts';
import { type Finding, findInfiniteNumbers } from '../../base/yaml/finding.ts';
import type { Problem } from '../../base/yaml/problem.ts';
import { entriesAt, itemsAt, nonEmptyTextAt, textAt, valueAt } from '../../base/yaml/read.ts';
import { findSchemaFault } from '../../config/build/refused.ts';
import type { Below } from './below.ts';
import { toolsBelow } from './below.ts';
import { everyVariable, fileBelow } from './pipeline.ts';
import { retriedCodes } from './retry.ts';
import { pipelineSchema } from './schema.ts';
import { findMisfits, findWrongArgs } from './validate-args.ts';
import { findWrongNames, type PipelineRuntime } from './validate-names.ts';
import { type ExpressionSite, listSteps, type StepNode, variablesAt, whyUnknown } from './validate-scope.ts';
import { findWrongShapes } from './validate-shape.ts';

interface ValidatedPipeline {
  readonly steps: readonly StepNode[];
  readonly below: Below;
  readonly runtime: PipelineRuntime | undefined;
}

export function validatePipeline(
  document: YamlDocument,
  { steps, below, runtime }: ValidatedPipeline,
): Problem[] {
  const findings = [
    ...findBadSchema(document, ['spec', 'input']),
    ...steps.flatMap(({ path }) => findBadSchema(document, [...path, 'ask', 'schema'])),
    ...findWrongShapes(document, steps),
    ...findWrongNames(document, steps, runtime),
    ...findWrongArgs(steps, runtime),
    ...findWrongRetries(document, steps, runtime),
    ...findBadExpressions(document, steps),
    ...findBadReferences(document, steps),
    ...findMissingRuntime(document),
    ...below.findings,
    ...findWrongBelow(document, steps, { below, runtime }),
  ];
  return locateFindings(document, findings, pipelineSchema);
}

/** Only validation reports them, since such a pipeline can still run. */
export function findUnevaluatedInPipeline(document: YamlDocument): Problem[] {
  const steps = listSteps(document);
  const evaluated = listFields(document, steps).map(({ path }) => path);
  const schemas = steps.flatMap(({ path }) => [
    [...path, 'chat', 'output', 'schema'],
    [...path, 'ask', 'schema'],
  ]);
  const findings = findUnevaluatedExpressions(document, {
    evaluated,
    data: [['spec', 'input'], ...schemas],
    root: 'input',
  });
  return locateFindings(document, findings, pipelineSchema);
}

function findBadSchema(document: YamlDocument, path: Finding['path']): readonly Finding[] {
  const fault = isObject(valueAt(document, path)) ? findSchemaFault(document, path) : undefined;
  return fault === undefined ? [] : [{ path, message: `is not a valid JSON Schema: ${fault}` }];
}

/** Not an error: the file may be created before the run, or another runtime may be used. */
function findMissingRuntime(document: YamlDocument): readonly Finding[] {
  const path = ['spec', 'runtime'];
  const runtime = nonEmptyTextAt(document, path);
  if (runtime === undefined) return [];
  const file = resolve(dirname(document.file), runtime);
  return existsSync(file)
    ? []
    : [
        {
          path,
          message: `${file} does not exist`,
          severity: 'warning',
          hint: nearFileHint(runtime, dirname(document.file)),
        },
      ];
}

function findBadExpressions(document: YamlDocument, steps: readonly StepNode[]): readonly Finding[] {
  const ids = steps.flatMap(({ id }) => (id === undefined ? [] : [id]));
  return listFields(document, steps).flatMap((field) => [
    ...findBadExpressionsAt(document, field, (error) => error.hint ?? hintFor(error, field, ids)),
    ...findInfiniteNumbers(document, field.path),
  ]);
}

function hintFor(
  { message }: ExpressionError,
  { site, variables }: Field,
  ids: readonly string[],
): string | undefined {
  const unknown = /Unknown variable: (\w+)/.exec(message)?.[1];
  if (unknown === undefined) return undefined;
  if (unknown === 'item' || unknown === 'index') {
    return site.part === 'head' && site.step?.loops === true
      ? '`if` and `for_each` are evaluated once, before the first item.'
      : `\`${unknown}\` is available only inside a for_each.`;
  }
  if (unknown === 'outcome') return '`outcome` is available only in the steps of `finally`.';
  if (unknown === 'last') return '`last` is available only inside a while.';
  if (unknown === 'error') return '`error` is available only in the steps of an on_error.';
  if (ids.includes(unknown)) return `Write \`steps.${unknown}\`.`;
  const nearest = findNearest(unknown, everyVariable);
  if (nearest !== undefined && variables.includes(nearest)) return `did you mean \`${nearest}\`?`;
  return `Expressions see ${variables.map((name) => `\`${name}\``).join(', ')} here.`;
}

function findWrongBelow(
  document: YamlDocument,
  steps: readonly StepNode[],
  { below, runtime }: { readonly below: Below; readonly runtime: PipelineRuntime | undefined },
): readonly Finding[] {
  return steps.flatMap((step) => {
    const named = nonEmptyTextAt(document, [...step.path, 'pipeline']);
    const found = named === undefined ? undefined : below.pipelines.get(fileBelow(document, named));
    if (found === undefined) return [];
    const unsafe = (runtime?.tools ?? []).find(
      ({ name, idempotent }) =>
        idempotent === false && found.pipeline !== undefined && toolsBelow(found.pipeline).has(name),
    );
    return [
      ...findWrongInput(step, valueAt(found.document, ['spec', 'input'])),
      ...(unsafe !== undefined && 'retry' in step.value ? [unsafeRetry(step, unsafe.name)] : []),
    ];
  });
}

function findWrongInput({ value, path }: StepNode, schema: unknown): readonly Finding[] {
  const input = value['input'] ?? {};
  if (!isObject(input) || !(isObject(schema) || typeof schema === 'boolean')) return [];
  return findMisfits(input, schema, {
    path: [...path, 'input'],
    owner: 'the pipeline’s input',
    isEach: true,
  });
}

function unsafeRetry({ path }: StepNode, tool: string): Finding {
  const message = `the pipeline calls the tool ${tool}, which is \`idempotent: false\`: only a person can retry it`;
  const hint = 'If the tool handles repeated calls with the same `idempotency_key`, set `idempotent: true`.';
  return { path: [...path, 'retry'], message, hint, atKey: true };
}

function findWrongRetries(
  document: YamlDocument,
  steps: readonly StepNode[],
  runtime: PipelineRuntime | undefined,
): readonly Finding[] {
  return steps.flatMap((step) => {
    if (!('retry' in step.value) || step.kind === undefined) return [];
    const path = [...step.path, 'retry'];
    if (!retriedKinds.has(step.kind)) {
      const message = `belongs to a step with tool, eval, chat or pipeline, but this one has \`${step.kind}\``;
      return [{ path, message, hint: 'Put it on the inner steps.', atKey: true }];
    }
    return [
      ...itemsAt(document, [...path, 'on']).flatMap((item) => findWrongCode(document, item)),
      ...findUnsafe(step, runtime),
    ];
  });
}

const retriedKinds: ReadonlySet<string> = new Set(['tool', 'eval', 'chat', 'pipeline']);

function findWrongCode(document: YamlDocument, path: Finding['path']): readonly Finding[] {
  const code = valueAt(document, path);
  if (typeof code !== 'string' || retriedCodes.some((known) => known === code)) return [];
  if (!Object.hasOwn(catalogue, code))
    return [{ path, message: `there is no code ${code}`, ...suggest(code, retriedCodes, 'codes') }];
  const message = `${code} is never retried: another attempt would fail in the same way, or needs a person`;
  return [{ path, message, hint: `Codes that can be retried: ${retriedCodes.join(', ')}.` }];
}

function findUnsafe({ value, path }: StepNode, runtime: PipelineRuntime | undefined): readonly Finding[] {
  const tool = runtime?.tools.find(({ name }) => name === value['tool']);
  if (tool?.idempotent !== false) return [];
  const message = `the tool ${tool.name} is \`idempotent: false\`: only a person can retry it`;
  const hint = 'If the tool handles repeated calls with the same `idempotency_key`, set `idempotent: true`.';
  return [{ path: [...path, 'retry'], message, hint, atKey: true }];
}

function findBadReferences(document: YamlDocument, steps: readonly StepNode[]): readonly Finding[] {
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
  if (why !== undefined) return { message: `\`steps.${key}\` is not available here: ${why}` };
  const [member] = rest;
  if (member === undefined || target.kind === undefined) return undefined;
  if (member === 'object' && target.kind === 'chat' && !target.loops && !asksForObject(target))
    return { message: `\`steps.${key}\` has no \`object\``, hint: objectHint };
  return findKeyFault(member, { owner: `steps.${key}`, known: viewKeys(target) });
}

const errorKeys = ['code', 'message', 'hint', 'step'];
const runKeys = ['id', 'labels'];

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
  const why = own === name ? 'it is the value itself' : 'it is defined further down';
  return { message: `\`vars.${name}\` is not available here: ${why}` };
}

/** The keys of a step's view besides `status` and `error`. */
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

const objectHint = 'Give the chat `output: {schema: …}`: its answer is then JSON that fits the schema.';

function findKeyFault(
  key: string,
  { owner, known }: { readonly owner: string; readonly known: readonly string[] },
): ReferenceFault | undefined {
  if (known.includes(key)) return undefined;
  return { message: `\`${owner}\` has no \`${key}\``, ...suggest(key, known, 'keys') };
}

/** Reports only keys that the input schema excludes by `additionalProperties: false`. */
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

interface Field extends ExpressionField {
  readonly site: ExpressionSite;
}

function listFields(document: YamlDocument, steps: readonly StepNode[]): readonly Field[] {
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
