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

/** Expressions see `input`, `steps`, `run`, `env` and `vars`, and in loops and handlers `item`, `index` or `error`. */
export interface Pipeline {
  readonly file: string;
  readonly name: string;
  /** The file's text. A run continues with the text that it started with. */
  readonly source: string;
  /** The absolute path of the RuntimeConfig in `spec.runtime`. */
  readonly runtime?: string;
  /** The texts of all nested pipelines, by absolute path. */
  readonly pipelines: Readonly<Record<string, string>>;
  readonly checkInput: SchemaCheck;
  /** Environment variables that expressions may read as `env.NAME`. */
  readonly env: readonly string[];
  /** In file order. Each sees the earlier ones, `input`, `run` and `env`. */
  readonly vars: readonly { readonly name: string; readonly value: Expression }[];
  readonly steps: readonly Step[];
  /** Always run after the other steps, with their result as `outcome`. */
  readonly finally: readonly Step[];
  /** Absent: the view of the last step. */
  readonly output?: Expression;
  /** The effect of a transient model or server fault that would end the run. Absent: suspend if the run is stored. */
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

export type Guardrail = Chat['guardrails'][number];

export type ForEach = NonNullable<StepBase['forEach']>;
export type WhileLoop = NonNullable<StepBase['whileLoop']>;

export type Collect = ForEach['collect'];

export interface AskStep extends StepBase, Fields<typeof askSchema.properties> {
  readonly kind: 'ask';
}

export interface WaitStep extends StepBase {
  readonly kind: 'wait';
  /** `for`: a duration such as `10m`, or milliseconds. `until`: an RFC 3339 time. */
  readonly wait: { readonly for: Expression } | { readonly until: Expression };
}

export interface PipelineStep extends StepBase {
  readonly kind: 'pipeline';
  readonly pipeline: Pipeline;
  readonly input: Expression;
}

export interface ParallelStep extends StepBase {
  readonly kind: 'parallel';
  readonly steps: readonly Step[];
  /** The maximum number of concurrent branches; absent: all. */
  readonly concurrency?: number;
  readonly failFast: boolean;
}

export interface GroupStep extends StepBase {
  readonly kind: 'steps';
  readonly steps: readonly Step[];
  /** Run instead if the condition is false. */
  readonly otherwise: readonly Step[];
}

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

export type PipelineOf = (file: string) => Pipeline;

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

/** A step has exactly one of these keys. */
export const stepKinds = ['tool', 'eval', 'chat', 'parallel', 'steps', 'wait', 'ask', 'pipeline'] as const;

function readOnError(document: YamlDocument, path: Path, pipelineOf: PipelineOf): OnError {
  if (!isObject(valueAt(document, path))) {
    return { kind: choiceAt(document, path, ['stop', 'continue']) ?? 'stop' };
  }
  const then = choiceAt(document, [...path, 'then'], ['stop', 'continue']) ?? 'stop';
  return { kind: 'handle', steps: readSteps(document, [...path, 'steps'], pipelineOf), then };
}

export function fileBelow({ file }: Pick<YamlDocument, 'file'>, named: string): string {
  return resolve(dirname(file), named);
}
