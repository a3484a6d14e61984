import { dirname, resolve } from 'node:path';
import { compileExpressions, type Expression } from '../../base/expression/expression.ts';
import { isObject } from '../../base/json/json.ts';
import type { Path, YamlDocument } from '../../base/yaml/document.ts';
import { expressionAt, mappingAt } from '../../base/yaml/expressions.ts';
import { type Fields, readFields } from '../../base/yaml/fields.ts';
import type { SourceLocation } from '../../base/yaml/problem.ts';
import { choiceAt, integerAt, itemsAt, textAt, valueAt } from '../../base/yaml/read.ts';
import type { SchemaCheck } from '../../base/yaml/schema-check.ts';
import { omitUndefined } from '../../base/yaml/wording.ts';
import { askSchema, type Chat, evalKeys, readChat, stepKeys, toolKeys } from './schema.ts';

export type { Chat } from './schema.ts';

/**
 * One Pipeline file, read and checked. Expressions see `input`, `steps`, `run`, `env` and `vars`, inside a
 * for_each `item` and `index` too, and in an on_error handler `error`.
 */
export interface Pipeline {
  /** Absolute. */
  readonly file: string;
  readonly name: string;
  /** The file's text: a run is finished by the text it began with. */
  readonly source: string;
  /** The RuntimeConfig that `spec.runtime` names, absolute. */
  readonly runtime?: string;
  /** The texts of the pipelines that it runs, and that these run, by their absolute files. */
  readonly pipelines: Readonly<Record<string, string>>;
  readonly checkInput: SchemaCheck;
  /** Names of the environment variables that expressions may read as `env.NAME`. */
  readonly env: readonly string[];
  /** In the order of the file; each sees those before it, `input`, `run` and `env`. */
  readonly vars: readonly { readonly name: string; readonly value: Expression }[];
  readonly steps: readonly Step[];
  /** Run when these have ended, whatever they came to; they see that as `outcome`. */
  readonly finally: readonly Step[];
  /** Absent: the view of the last step of the file. */
  readonly output?: Expression;
  /** What a fault of a model's API or a server does that would end the run and may be gone later. Absent: suspend, where the run is kept. */
  readonly onFault?: 'suspend' | 'fail';
}

export type Step =
  | ToolStep
  | EvalStep
  | ChatStep
  | ParallelStep
  | GroupStep
  | WaitStep
  | AskStep
  | PipelineStep;

interface StepBase extends Fields<typeof stepKeys> {
  readonly position: SourceLocation;
  readonly onError: OnError;
}

/** What follows when the step failed or was denied. */
type OnError =
  | { readonly kind: 'stop' }
  | { readonly kind: 'continue' }
  /** These steps run first; `stop` then fails the pipeline with the first error. */
  | { readonly kind: 'handle'; readonly steps: readonly Step[]; readonly then: 'stop' | 'continue' };

export interface ToolStep extends StepBase, Fields<typeof toolKeys> {
  readonly kind: 'tool';
}

export interface EvalStep extends StepBase, Fields<typeof evalKeys> {
  readonly kind: 'eval';
}

export interface ChatStep extends StepBase, Chat {
  readonly kind: 'chat';
}

/** An eval of a chat's final answer. */
export type Guardrail = Chat['guardrails'][number];

export type ForEach = NonNullable<StepBase['forEach']>;
export type WhileLoop = NonNullable<StepBase['whileLoop']>;

/** Which views of its runs the view of a loop has. */
export type Collect = ForEach['collect'];

/** Asks a person, who answers with a value. */
export interface AskStep extends StepBase, Fields<typeof askSchema.properties> {
  readonly kind: 'ask';
}

/** Lets time go by. */
export interface WaitStep extends StepBase {
  readonly kind: 'wait';
  /** Gives a duration such as `10m`, or milliseconds; until: a time by RFC 3339. */
  readonly wait: { readonly for: Expression } | { readonly until: Expression };
}

/** Runs another pipeline, as a run of its own. */
export interface PipelineStep extends StepBase {
  readonly kind: 'pipeline';
  readonly pipeline: Pipeline;
  readonly input: Expression;
}

/** Its steps run at once; each is a branch of its own. */
export interface ParallelStep extends StepBase {
  readonly kind: 'parallel';
  readonly steps: readonly Step[];
  /** Branches that run at once; absent: all. */
  readonly concurrency?: number;
  /** The first branch that fails ends the others. */
  readonly failFast: boolean;
}

/** Steps in order, under one condition, loop, timeout and on_error. */
export interface GroupStep extends StepBase {
  readonly kind: 'steps';
  readonly steps: readonly Step[];
  /** Run instead when the condition is false. */
  readonly otherwise: readonly Step[];
}

/** Every variable that an expression of a pipeline may see; `validate` says where each of them is known. */
export const everyVariable: readonly string[] = [
  'input',
  'steps',
  'run',
  'env',
  'vars',
  'item',
  'index',
  'last',
  'error',
  'outcome',
];

/** Pipelines that steps may name, by their absolute files. */
export type PipelineOf = (file: string) => Pipeline;

/** The steps of the list at `path`; none when there is no list. */
export function readSteps(document: YamlDocument, path: Path, pipelineOf: PipelineOf): Step[] {
  return itemsAt(document, path).map((item) => readStep(document, item, pipelineOf));
}

function readStep(document: YamlDocument, path: Path, pipelineOf: PipelineOf): Step {
  const base = {
    ...readFields(document, path, stepKeys, everyVariable),
    position: document.positionOf(path),
    onError: readOnError(document, [...path, 'on_error'], pipelineOf),
  };
  const stepsAt = (key: string) => readSteps(document, [...path, key], pipelineOf);
  const step = valueAt(document, path);
  const kind = isObject(step) ? stepKinds.find((key) => Object.hasOwn(step, key)) : undefined;
  switch (kind) {
    case 'eval':
      return { ...base, kind, ...readFields(document, path, evalKeys, everyVariable) };
    case 'chat':
      return { ...base, kind, ...readChat(document, [...path, 'chat'], everyVariable) };
    case 'parallel':
      return {
        ...base,
        kind,
        steps: stepsAt('parallel'),
        ...omitUndefined({ concurrency: integerAt(document, [...path, 'concurrency']) }),
        failFast: valueAt(document, [...path, 'fail_fast']) === true,
      };
    case 'steps':
      return { ...base, kind, steps: stepsAt('steps'), otherwise: stepsAt('else') };
    case 'pipeline': {
      const file = fileBelow(document, textAt(document, [...path, 'pipeline']) ?? '');
      const input = mappingAt(document, [...path, 'input'], everyVariable);
      return { ...base, kind, pipeline: pipelineOf(file), input };
    }
    case 'ask':
      return {
        ...base,
        kind,
        ...readFields(document, [...path, 'ask'], askSchema.properties, everyVariable),
      };
    case 'wait': {
      const wait = [...path, 'wait'];
      const until = expressionAt(document, [...wait, 'until'], everyVariable);
      const duration = expressionAt(document, wait, everyVariable) ?? compileExpressions('', []);
      return { ...base, kind, wait: until === undefined ? { for: duration } : { until } };
    }
    default:
      return { ...base, kind: 'tool', ...readFields(document, path, toolKeys, everyVariable) };
  }
}

/** The keys of which a step has exactly one: what it does. */
export const stepKinds = ['tool', 'eval', 'chat', 'parallel', 'steps', 'wait', 'ask', 'pipeline'] as const;

function readOnError(document: YamlDocument, path: Path, pipelineOf: PipelineOf): OnError {
  if (!isObject(valueAt(document, path))) {
    return { kind: choiceAt(document, path, ['stop', 'continue']) ?? 'stop' };
  }
  const then = choiceAt(document, [...path, 'then'], ['stop', 'continue']) ?? 'stop';
  return { kind: 'handle', steps: readSteps(document, [...path, 'steps'], pipelineOf), then };
}

/** The file of a pipeline that a file names, absolute. */
export function fileBelow({ file }: Pick<YamlDocument, 'file'>, named: string): string {
  return resolve(dirname(file), named);
}
