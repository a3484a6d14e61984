import type { EvalOutcome, EvalRequest } from '../../contract/eval.ts';
import type { ProviderRole } from '../../contract/provider.ts';

/** A built-in eval, which needs no process. */
export interface Check {
  /** PromptKit's name, or the name in the work that defines the check. */
  readonly type: string;
  readonly aliases: readonly string[];
  readonly family:
    | 'text'
    | 'reference'
    | 'instructions'
    | 'json'
    | 'tools'
    | 'budget'
    | 'judge'
    | 'embedding';
  readonly summary: string;
  readonly range: '0 or 1' | 'ratio' | '0..1';
  readonly params: Readonly<Record<string, ParamSpec>>;
  /** At least one param of each group is required. */
  readonly anyOf?: readonly (readonly string[])[];
  readonly example: CheckExample;
  /** Problems of complete params beyond their types, such as an invalid pattern. */
  readonly findProblems?: (params: Params) => readonly ParamProblem[];
  /**
   * Scores a request. `params` are valid and have their canonical names. Never rejects: missing evidence is unscored.
   */
  run(asked: CheckInput): EvalOutcome | Promise<EvalOutcome>;
}

export type Params = Readonly<Record<string, unknown>>;

export interface ParamSpec {
  /** A JSON Schema (draft 2020-12) of the value. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly aliases?: readonly string[];
  readonly required?: true;
  readonly default?: unknown;
  /** The value is the id of a provider that is called in that role; without a value one is chosen. */
  readonly asks?: ProviderRole;
  readonly description: string;
}

export interface ParamProblem {
  readonly param: string;
  readonly message: string;
}

export interface CheckExample {
  readonly params: Params;
  readonly content?: string;
  readonly context?: Partial<EvalRequest['context']>;
  readonly judge?: string;
  readonly embeddings?: Readonly<Record<string, readonly number[]>>;
  readonly score: number;
}

export interface CheckInput {
  readonly params: Params;
  readonly request: EvalRequest;
  readonly signal: AbortSignal;
  readonly judge: Judge;
  readonly embed: Embed;
}

/** Calls a model and resolves to its text. Rejects with PROVIDER_UNUSABLE, PROVIDER_FAILED, NAME_UNKNOWN, ABORTED. */
export type Judge = (question: {
  /** The id of a declared provider; undefined: the default judge. */
  readonly provider: string | undefined;
  /** Undefined: the provider's model. */
  readonly model: string | undefined;
  readonly system: string;
  readonly prompt: string;
  /** The schema of the answer, for providers that can enforce one. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** A malformed answer and the complaint about it, sent to the model for a better one. */
  readonly repair?: { readonly answer: string; readonly complaint: string } | undefined;
  readonly signal: AbortSignal;
}) => Promise<string>;

/**
 * Returns the embeddings of the texts, all by one model. Rejects with PROVIDER_UNUSABLE, PROVIDER_FAILED,
 * PROVIDER_TIMEOUT, NAME_UNKNOWN, DENIED, BUDGET_EXCEEDED, ABORTED.
 */
export type Embed = (asked: {
  /** The id of a declared provider; undefined: the default one for embeddings. */
  readonly provider: string | undefined;
  readonly texts: readonly string[];
  readonly signal: AbortSignal;
}) => Promise<{
  readonly vectors: readonly (readonly number[])[];
  readonly provider: string;
  readonly model: string;
}>;
