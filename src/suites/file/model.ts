import type { Expression } from '../../base/expression/expression.ts';
import type { Timing } from '../../base/time/stopwatch.ts';
import type { Fields } from '../../base/yaml/fields.ts';
import type { EvalOutcome, EvalRequest, Threshold } from '../../contract/eval.ts';
import type { Chat } from '../../pipelines/file/pipeline.ts';
import type { datasetSchema, evalKeys, gateSchema, limitKeys } from './schema.ts';

/** What a failed result means: assertions and guardrails fail the suite, metrics are only recorded. */
export type Role = 'assertion' | 'guardrail' | 'metric';

/** One EvalSuite file, read and checked. */
export interface Suite extends Fields<typeof limitKeys> {
  /** As the user gave it. */
  readonly file: string;
  readonly name: string;
  /** The RuntimeConfig that `spec.runtime` names, relative to the current folder. */
  readonly runtime?: string;
  readonly dataset: Dataset;
  readonly mapping: CaseMapping;
  /** Makes the texts that are judged; without one, and without variants, they are recorded in the dataset. */
  readonly subject?: Subject;
  /** Of a matrix, in the place of a subject: each row is a case of every variant. At least one. */
  readonly variants?: readonly Variant[];
  readonly evals: readonly SuiteEval[];
  readonly gates: readonly Gate[];
  /** How often each case is run, at least once. */
  readonly epochs: number;
}

/** Rows as cases. Expressions see the row as `case`; those of `body` also what the subject made, as `subject`. */
export interface CaseMapping {
  /** `{id, tags}`, each optional and still unchecked. */
  readonly identity: Expression;
  /** `{content, context, threshold}`, likewise. */
  readonly body: Expression;
  /** The line of `spec.case.tags` in the suite file. */
  readonly tagsLine?: number;
}

export type Dataset =
  | FileDataset
  | { readonly kind: 'inline'; readonly file: string; readonly rows: readonly InlineRow[] };

/** Rows in files. `path` is relative to the current folder and may be a glob pattern; `-` is stdin. */
export interface FileDataset {
  readonly kind: 'file';
  readonly path: string;
  /** Default: by the file's name; of stdin JSON Lines. */
  readonly format?: DatasetFormat;
}

/** The suite over another dataset; without a path over its own. */
export function withDataset(suite: Suite, path: string | undefined): Suite {
  return path === undefined ? suite : { ...suite, dataset: { kind: 'file', path } };
}

export type DatasetFormat = Fields<typeof datasetSchema.properties>['format'] & string;

export interface InlineRow {
  readonly line: number;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Expressions see the row as `case`, and the number of the epoch as `epoch`. */
export type Subject = (
  | { readonly kind: 'tool'; readonly tool: string; readonly args: Expression }
  | { readonly kind: 'chat'; readonly chat: Chat }
  /** `file` is relative to the current folder. */
  | { readonly kind: 'pipeline'; readonly file: string; readonly input: Expression }
) & {
  /** Whether answers are cached; undefined: as the command line says. */
  readonly cache?: boolean;
};

/** One of several subjects of a suite. */
export interface Variant {
  /** Unique in the suite. */
  readonly name: string;
  /** Of a chat: the provider that answers. */
  readonly provider?: string;
  /** The name of the prompt, where there are several. */
  readonly prompt?: string;
  readonly subject: Subject;
}

/** Every subject of a suite: none, one, or those of its variants. */
export function subjectsOf({ subject, variants }: Pick<Suite, 'subject' | 'variants'>): readonly Subject[] {
  return subject === undefined ? (variants ?? []).map((variant) => variant.subject) : [subject];
}

export interface SuiteEval extends Fields<typeof evalKeys> {
  readonly id: string;
  readonly role: Role;
  readonly reducer: Reduction;
  readonly check: CheckTree | GuardCheck;
}

/** One eval, or several combined; expressions see `case` and `subject`. */
export type CheckTree =
  | {
      readonly kind: 'check';
      readonly type: string;
      readonly params: Expression;
      /** Judged in place of the case's content. */
      readonly content?: Expression;
    }
  /** 1 when the part keeps the threshold, `{min_score, max_score}`, else 0. */
  | { readonly kind: 'bounded'; readonly part: CheckTree; readonly threshold: Expression }
  | { readonly kind: 'not'; readonly part: CheckTree }
  | { readonly kind: 'any_of' | 'all_of'; readonly parts: readonly CheckTree[] };

export type SingleCheck = Extract<CheckTree, { readonly kind: 'check' }>;

/** Every check of a suite, those in combinations too. */
export function checksOf({ evals }: Pick<Suite, 'evals'>): readonly SingleCheck[] {
  return evals.flatMap(({ check }) => (check.kind === 'guard' ? [] : leavesOf(check)));
}

function leavesOf(tree: CheckTree): readonly SingleCheck[] {
  if (tree.kind === 'check') return [tree];
  return ('parts' in tree ? tree.parts : [tree.part]).flatMap(leavesOf);
}

/** A labelled event that is fired through the hooks, to see whether they flag it as expected. */
export interface GuardCheck {
  readonly kind: 'guard';
  /** One hook alone; undefined for the whole chain. */
  readonly only?: string;
  /** `{hook, phase, request, response}` in the native payload's shape; missing members are made up. */
  readonly event: Expression;
  /** Gives whether the event should be flagged: true or false. */
  readonly expected: Expression;
}

/**
 * Inclusive bounds, at least one, on a metric of an eval or of whole cases; or a variant that others have to be better
 * than.
 */
export type Gate = Fields<typeof gateSchema.properties>;

/** One eval request of one case, as the eval host gets it. */
export interface EvalHostRequest {
  readonly id: string;
  readonly type: string;
  readonly threshold: Threshold;
  readonly request: EvalRequest;
}

export interface EvalHostReply extends Timing {
  readonly outcome: EvalOutcome;
  readonly passed: boolean;
  /** The end of the stderr of a one-shot process. */
  readonly stderr: string;
}

/** How far a run is. */
export interface SuiteProgress {
  /** Cases that are done, and rows that could not be used. */
  readonly cases: number;
  readonly problems: number;
  /** Results of evals. */
  readonly evals: number;
  /** Cases that did not pass. */
  readonly failed: number;
  /** Cases of which some result has no score. */
  readonly unscored: number;
  /** Cases that passed as wholes. */
  readonly passed: number;
  /** How many cases there will be; null where that is unknown. */
  readonly total: number | null;
  /** How much of the dataset has been read, 0..1; null where that is unknown. */
  readonly fraction: number | null;
}

/** How the scores of a case's epochs become one. */
export type Reduction =
  | { readonly kind: 'mean' | 'median' | 'mode' | 'max' }
  /** The chance that of k epochs one passes. */
  | { readonly kind: 'pass_at'; readonly k: number }
  /** 1 when at least k epochs passed, else 0. */
  | { readonly kind: 'at_least'; readonly k: number };

/** `mean`, `median`, `mode`, `max`, `pass@2` or `at_least_2`; undefined for any other text. */
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
