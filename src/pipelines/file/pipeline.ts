import type { Expression } from '../../base/expression/expression.ts';
import type { SourceLocation } from '../../base/yaml/problem.ts';
import type { SchemaCheck } from '../../base/yaml/schema-check.ts';
import type { Threshold } from '../../contract/eval.ts';
import type { Retry } from './retry.ts';

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

interface StepBase {
  /** Unique in the file. */
  readonly id: string;
  readonly position: SourceLocation;
  /** `if`: the step is skipped unless this is true; anything but a boolean fails the step. */
  readonly condition?: Expression;
  /** Runs the step once for each item of a list. */
  readonly forEach?: ForEach;
  /** Runs the step again and again, while this holds; the step has no `forEach` then. */
  readonly whileLoop?: WhileLoop;
  /** Of one attempt at one run of the step (each item has its own); a wait for a person does not count. */
  readonly timeoutMs?: number;
  /** Of a tool, eval, chat or pipeline; with `forEach`, of each item. */
  readonly retry?: Retry;
  readonly onError: OnError;
}

/** Which views of its runs the view of a loop has. */
export type Collect = 'all' | 'last' | 'none';

export interface ForEach {
  readonly items: Expression;
  readonly concurrency: number;
  readonly collect: Collect;
  /** The first item that fails ends the others. */
  readonly failFast: boolean;
}

/** Its expressions see `index`, and `last`, the view of the run before, or null. */
export interface WhileLoop {
  /** Asked before each run; gives true or false. */
  readonly condition: Expression;
  /** Runs, at most: the step fails where the condition still holds then. */
  readonly max: number;
  readonly collect: Collect;
}

/** What follows when the step failed or was denied. */
export type OnError =
  | { readonly kind: 'stop' }
  | { readonly kind: 'continue' }
  /** These steps run first; `stop` then fails the pipeline with the first error. */
  | { readonly kind: 'handle'; readonly steps: readonly Step[]; readonly then: 'stop' | 'continue' };

export interface ToolStep extends StepBase {
  readonly kind: 'tool';
  readonly tool: string;
  /** Gives an object. */
  readonly args: Expression;
}

export interface EvalStep extends StepBase {
  readonly kind: 'eval';
  readonly type: string;
  /** Gives the text to judge; anything but a string is judged as its JSON. */
  readonly content: Expression;
  readonly params: Expression;
  /** Gives members of an eval's context: messages, tool_calls, variables, metadata, turn_index. */
  readonly context?: Expression;
  /** Absent: the score is a metric, and the step does not fail. */
  readonly threshold?: Threshold;
  /** `continue`: a missed threshold is recorded, and the step does not fail. */
  readonly onFail: 'stop' | 'continue';
}

/** A conversation with a model. */
export interface Chat {
  /** A provider's id. */
  readonly provider: string;
  readonly system?: Expression;
  /** Gives a list of `{role, content}`, or a text that is one user message. */
  readonly messages: Expression;
  /** Names of the tools that the model is offered. */
  readonly tools: readonly string[];
  /** Model calls for one answer, at most; a retry counts anew. */
  readonly maxRounds: number;
  /** Tool calls of one round that run at once. */
  readonly toolConcurrency: number;
  readonly guardrails: readonly Guardrail[];
  /** How often an answer that an enforcing guardrail failed is asked for again, with the eval's detail. */
  readonly retries: number;
  /** Asks for a stream: `hold` releases text when the whole answer has passed, `windowed` as it comes. */
  readonly stream?: 'hold' | 'windowed';
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly topP?: number;
  /** Texts at which an answer ends. */
  readonly stop?: readonly string[];
  readonly seed?: number;
  /** Absent: auto. What forces a call holds until tools have been called. */
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly tool: string };
  /** The JSON Schema that the answer must fit. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
}

export interface ChatStep extends StepBase, Chat {
  readonly kind: 'chat';
}

/** An eval of a chat's final answer. */
export interface Guardrail {
  readonly id: string;
  readonly type: string;
  readonly params: Expression;
  /** Gives `variables` and `metadata` of the eval's context. */
  readonly context: Expression;
  readonly threshold?: Threshold;
  /** enforce: an answer that fails is withheld; monitor: it is only recorded. */
  readonly action: 'enforce' | 'monitor';
}

/** Asks a person, who answers with a value. */
export interface AskStep extends StepBase {
  readonly kind: 'ask';
  readonly question: Expression;
  /** Of the answer; absent: any value. */
  readonly schema?: Readonly<Record<string, unknown>> | boolean;
  /** Who may answer; absent: whoever has a name. */
  readonly by?: readonly string[];
  /** Absent: never. */
  readonly expiresMs?: number;
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
