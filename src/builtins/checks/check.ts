import type { EvalOutcome, EvalRequest } from '../../contract/eval.ts';
import type { ProviderRole } from '../../contract/provider.ts';

/** A check that is built in: an eval that needs no process. */
export interface Check {
  /** PromptKit's name, or that of the work that defines it. */
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
  /** One sentence for docs/reference/checks.md: what is scored. */
  readonly summary: string;
  /** The scores that it gives. */
  readonly range: '0 or 1' | 'ratio' | '0..1';
  /** By name, in the order of the documentation. */
  readonly params: Readonly<Record<string, ParamSpec>>;
  /** Of each group at least one must be given. */
  readonly anyOf?: readonly (readonly string[])[];
  readonly example: CheckExample;
  /** Problems of complete params beyond their types, such as a pattern that cannot be compiled. */
  readonly findProblems?: (params: Params) => readonly ParamProblem[];
  /**
   * Scores a request; `params` are valid and under their own names. Never rejects: missing evidence is
   * unscored.
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
  /** The value is the id of a provider, which is asked in that role; without a value one is chosen. */
  readonly asks?: ProviderRole;
  /** One phrase for docs/reference/checks.md. */
  readonly description: string;
}

export interface ParamProblem {
  /** The key in the params at which it stands. */
  readonly param: string;
  readonly message: string;
}

/** A judged case with its score, which the documentation shows and a test runs. */
export interface CheckExample {
  readonly params: Params;
  readonly content?: string;
  readonly context?: Partial<EvalRequest['context']>;
  /** The judge's answer, for judge checks. */
  readonly judge?: string;
  /** The embeddings of texts, for checks that compare them. */
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

/**
 * Asks a model and resolves to its text. Rejects with PROVIDER_UNUSABLE, PROVIDER_FAILED, NAME_UNKNOWN,
 * ABORTED.
 */
export type Judge = (question: {
  /** The id of a declared provider; undefined for the one that judges by default. */
  readonly provider: string | undefined;
  /** Undefined for the provider's own. */
  readonly model: string | undefined;
  readonly system: string;
  readonly prompt: string;
  /** What the answer has to fit, for providers that can keep to it. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** An answer that could not be read, and what to say to it: the model is asked for a better one. */
  readonly repair?: { readonly answer: string; readonly complaint: string } | undefined;
  readonly signal: AbortSignal;
}) => Promise<string>;

/**
 * Gives each text its embedding, all by one model. Rejects with PROVIDER_UNUSABLE, PROVIDER_FAILED, PROVIDER_TIMEOUT, NAME_UNKNOWN,
 * DENIED, BUDGET_EXCEEDED, ABORTED.
 */
export type Embed = (asked: {
  /** The id of a declared provider; undefined for the one that embeds by default. */
  readonly provider: string | undefined;
  readonly texts: readonly string[];
  readonly signal: AbortSignal;
}) => Promise<{
  readonly vectors: readonly (readonly number[])[];
  /** Who has given them. */
  readonly provider: string;
  readonly model: string;
}>;
