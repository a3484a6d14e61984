import type { Expression } from '../../base/expression/expression.ts';
import type { Timing } from '../../base/time/stopwatch.ts';
import type { Fields } from '../../base/yaml/fields.ts';
import type { EvalOutcome, EvalRequest, Threshold } from '../../contract/eval.ts';
import type { Chat } from '../../pipelines/file/pipeline.ts';
import type { datasetSchema, evalKeys, gateSchema, limitKeys } from './schema.ts';

/** A failed assertion or guardrail fails the suite; metrics are only recorded. */
export type Role = 'assertion' | 'guardrail' | 'metric';

export interface Suite extends Fields<typeof limitKeys> {
  readonly file: string;
  readonly name: string;
  /** The path in `spec.runtime`, relative to the current folder. */
  readonly runtime?: string;
  readonly dataset: Dataset;
  readonly mapping: CaseMapping;
  /** Produces the judged texts. Without a subject or variants, the dataset contains them. */
  readonly subject?: Subject;
  /** The variants of a matrix, at least one, instead of a subject. Each row is a case of every variant. */
  readonly variants?: readonly Variant[];
  readonly evals: readonly SuiteEval[];
  readonly gates: readonly Gate[];
  /** The number of runs of each case, at least one. */
  readonly epochs: number;
}

/** Maps rows to cases. Expressions read the row as `case`; those of `body` also read the answer as `subject`. */
export interface CaseMapping {
  /** `{id, tags}`, both optional and unchecked. */
  readonly identity: Expression;
  /** `{content, context, threshold}`, all optional and unchecked. */
  readonly body: Expression;
  readonly tagsLine?: number;
}

export type Dataset = FileDataset | InlineDataset;

interface InlineDataset {
  readonly kind: 'inline';
  readonly file: string;
  readonly rows: readonly InlineRow[];
  readonly privateHosts?: readonly string[] | undefined;
}

/** `path` is relative to the current folder and may be a glob pattern; `-` is stdin. */
export interface FileDataset {
  readonly kind: 'file';
  readonly path: string;
  /** Default: by file extension, JSON Lines for stdin. */
  readonly format?: DatasetFormat;
  /** Entries of `spec.private_hosts` of the config. */
  readonly privateHosts?: readonly string[] | undefined;
}

export function withDataset(suite: Suite, path: string | undefined): Suite {
  if (path === undefined) return suite;
  return { ...suite, dataset: { kind: 'file', path, privateHosts: suite.dataset.privateHosts } };
}

export type DatasetFormat = Fields<typeof datasetSchema.properties>['format'] & string;

export interface InlineRow {
  readonly line: number;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Expressions read the row as `case` and the epoch number as `epoch`. */
export type Subject = (
  | { readonly kind: 'tool'; readonly tool: string; readonly args: Expression }
  | { readonly kind: 'chat'; readonly chat: Chat }
  /** `file` is relative to the current folder. */
  | { readonly kind: 'pipeline'; readonly file: string; readonly input: Expression }
) & {
  /** Whether answers are cached; undefined uses the command line setting. */
  readonly cache?: boolean;
};

export interface Variant {
  readonly name: string;
  readonly provider?: string;
  readonly prompt?: string;
  readonly subject: Subject;
}

export function subjectsOf({ subject, variants }: Pick<Suite, 'subject' | 'variants'>): readonly Subject[] {
  return subject === undefined ? (variants ?? []).map((variant) => variant.subject) : [subject];
}

export interface SuiteEval extends Fields<typeof evalKeys> {
  readonly id: string;
  readonly role: Role;
  readonly reducer: Reduction;
  readonly check: CheckTree | GuardCheck;
}

/** Expressions read `case` and `subject`. */
export type CheckTree =
  | {
      readonly kind: 'check';
      readonly type: string;
      readonly params: Expression;
      /** Replaces the content of the case. */
      readonly content?: Expression;
    }
  /** Scores 1 if the part is within the threshold `{min_score, max_score}`, else 0. */
  | { readonly kind: 'bounded'; readonly part: CheckTree; readonly threshold: Expression }
  | { readonly kind: 'not'; readonly part: CheckTree }
  | { readonly kind: 'any_of' | 'all_of'; readonly parts: readonly CheckTree[] };

export type SingleCheck = Extract<CheckTree, { readonly kind: 'check' }>;

export function checksOf({ evals }: Pick<Suite, 'evals'>): readonly SingleCheck[] {
  return evals.flatMap(({ check }) => (check.kind === 'guard' ? [] : leavesOf(check)));
}

function leavesOf(tree: CheckTree): readonly SingleCheck[] {
  if (tree.kind === 'check') return [tree];
  return ('parts' in tree ? tree.parts : [tree.part]).flatMap(leavesOf);
}

/** A labelled event that is sent through the hooks to test whether they flag it as expected. */
export interface GuardCheck {
  readonly kind: 'guard';
  /** The id of the only hook to test; undefined tests the whole chain. */
  readonly only?: string;
  /** `{hook, phase, request, response}` in the native payload format. Defaults fill missing members. */
  readonly event: Expression;
  /** Evaluates to whether the event should be flagged. */
  readonly expected: Expression;
}

/** Inclusive bounds (at least one) on a metric of an eval or of whole cases; or a variant that others must beat. */
export type Gate = Fields<typeof gateSchema.properties>;

export interface EvalHostRequest {
  readonly id: string;
  readonly type: string;
  readonly threshold: Threshold;
  readonly request: EvalRequest;
}

export interface EvalHostReply extends Timing {
  readonly outcome: EvalOutcome;
  readonly passed: boolean;
  readonly stderr: string;
}

export interface SuiteProgress {
  readonly cases: number;
  readonly problems: number;
  readonly evals: number;
  readonly failed: number;
  readonly unscored: number;
  readonly passed: number;
  /** The total number of cases; null if unknown. */
  readonly total: number | null;
  /** The share of the dataset that was read, 0..1; null if unknown. */
  readonly fraction: number | null;
}

/** How the scores of a case's epochs are reduced to one. */
export type Reduction =
  | { readonly kind: 'mean' | 'median' | 'mode' | 'max' }
  /** The probability that at least one of k epochs passes. */
  | { readonly kind: 'pass_at'; readonly k: number }
  /** 1 if at least k epochs passed, else 0. */
  | { readonly kind: 'at_least'; readonly k: number };

/** Parses `mean`, `median`, `mode`, `max`, `pass@2` or `at_least_2`. Returns undefined for any other text. */
export function readReduction(text: string): Reduction | undefined {
  if (text === 'mean' || text === 'median' || text === 'mode' || text === 'max') return { kind: text };
  const [, name, digits] = /^(pass@|at_least_)([1-9]\d{0,3})$/.exec(text) ?? [];
  if (name === undefined) return undefined;
  return { kind: name === 'pass@' ? 'pass_at' : 'at_least', k: Number(digits) };
}

export function nameReduction(reduction: Reduction): string {
  if (reduction.kind === 'pass_at') return `pass@${reduction.k}`;
  return reduction.kind === 'at_least' ? `at_least_${reduction.k}` : reduction.kind;
}
