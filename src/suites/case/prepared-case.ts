import { isObject } from '../../base/json/json.ts';
import type { EvalContext, EvalRequest, Threshold } from '../../contract/eval.ts';
import { datasetError } from '../dataset-error.ts';
import type { CheckTree, GuardCheck, Suite, SuiteEval } from '../file/model.ts';
import type { Answer } from '../subject/answer.ts';
import { lastAnswer } from '../transcript/last-answer.ts';
import { requireObject, requireText } from '../transcript/row-values.ts';
import { readContext } from './context.ts';
import { readLabel } from './read-label.ts';
import { readThreshold } from './read-threshold.ts';

type RowValue = Readonly<Record<string, unknown>>;

/** A case with its evals, every expression evaluated. */
export interface PreparedCase {
  /** The judged text; empty when the case has none. */
  readonly content: string;
  readonly context: EvalContext;
  readonly threshold: Threshold | undefined;
  readonly evals: readonly PreparedEval[];
}

/** One eval of the suite with its bounds and its check, evaluated for this case. */
export interface PreparedEval {
  readonly evaluation: SuiteEval;
  readonly threshold: Threshold;
  /** What a person said of the case. */
  readonly label: boolean | undefined;
  readonly check: PreparedCheck;
}

type PreparedCheck = PreparedTree | PreparedGuard;

/** One eval request, or several combined. */
export type PreparedTree =
  | { readonly kind: 'check'; readonly request: EvalRequest; readonly content: string | undefined }
  | { readonly kind: 'bounded'; readonly part: PreparedTree; readonly threshold: Threshold }
  | { readonly kind: 'not'; readonly part: PreparedTree }
  | { readonly kind: 'any_of' | 'all_of'; readonly parts: readonly PreparedTree[] };

/** An event to fire through the hooks; `expected`: whether they should flag it. */
export interface PreparedGuard {
  readonly kind: 'guard';
  readonly only: string | undefined;
  readonly event: RowValue;
  readonly expected: boolean;
}

/** The answer of the subject as expressions see it, under `subject`. */
export type SubjectView = Pick<Answer, 'text' | 'result' | 'messages' | 'tool_calls' | 'metadata'>;

/** Maps a row, and the subject's answer if there is one, to requests. Throws DATASET_INVALID, EXPRESSION_FAILED. */
export function prepareCase(suite: Suite, row: RowValue, subject: SubjectView | undefined): PreparedCase {
  const scope = subject === undefined ? { case: row } : { case: row, subject };
  const body = suite.mapping.body.evaluate(scope);
  if (!isObject(body)) throw datasetError('case', 'a mapping', body);
  const context = readContext(withSubject(body['context'], subject));
  const defaultContent = body['content'] ?? subject?.text ?? lastAnswer(context.messages);
  const evals = prepareEvals(suite, { row, scope, context, defaultContent });
  const bounds = body['threshold'];
  return {
    content: typeof defaultContent === 'string' ? defaultContent : '',
    context,
    threshold: bounds === undefined ? undefined : readThreshold(bounds, 'threshold'),
    evals,
  };
}

/** The evals that judge the case of that row, each with its bounds. Throws DATASET_INVALID, EXPRESSION_FAILED. */
export function findEvalsOfCase(suite: Suite, row: RowValue): readonly Omit<PreparedEval, 'check'>[] {
  return suite.evals.flatMap((evaluation) => {
    const applies = evaluation.condition?.evaluate({ case: row }) ?? true;
    if (typeof applies !== 'boolean')
      throw datasetError(`evals[${evaluation.id}].if`, 'true or false', applies);
    if (!applies) return [];
    const bounds = evaluation.threshold.evaluate({ case: row });
    const place = `evals[${evaluation.id}]`;
    const label = readLabel(evaluation.label?.evaluate({ case: row }), `${place}.label`);
    return [{ evaluation, threshold: readThreshold(bounds, `${place}.threshold`), label }];
  });
}

/** Fills members that the mapped context leaves out with those of the subject; the mapped ones win. */
function withSubject(mapped: unknown, subject: SubjectView | undefined): unknown {
  if (subject === undefined || (mapped !== undefined && mapped !== null && !isObject(mapped))) return mapped;
  const { metadata, ...own } = mapped ?? {};
  return {
    messages: subject.messages,
    tool_calls: subject.tool_calls,
    ...own,
    metadata: isObject(metadata) || metadata === undefined ? { ...subject.metadata, ...metadata } : metadata,
  };
}

interface PrepareContext {
  readonly row: RowValue;
  readonly scope: RowValue;
  readonly context: EvalContext;
  /** The content for checks that have none of their own. */
  readonly defaultContent: unknown;
}

function prepareEvals(suite: Suite, prepared: PrepareContext): PreparedEval[] {
  return findEvalsOfCase(suite, prepared.row).map(({ evaluation, threshold, label }) => {
    const { check } = evaluation;
    const place = `evals[${evaluation.id}]`;
    return {
      evaluation,
      threshold,
      label,
      check:
        check.kind === 'guard' ? prepareGuard(check, prepared, place) : prepareTree(check, prepared, place),
    };
  });
}

function prepareGuard(
  { only, event, expected }: GuardCheck,
  { scope }: PrepareContext,
  place: string,
): PreparedGuard {
  const mapped = event.evaluate(scope);
  if (!isObject(mapped)) throw datasetError(`${place}.guard`, 'a mapping', mapped);
  const label = expected.evaluate(scope);
  if (typeof label !== 'boolean') throw datasetError(`${place}.expected`, 'true or false', label);
  return { kind: 'guard', only, event: mapped, expected: label };
}

function prepareTree(tree: CheckTree, prepared: PrepareContext, place: string): PreparedTree {
  switch (tree.kind) {
    case 'not':
      return { kind: 'not', part: prepareTree(tree.part, prepared, `${place}.not`) };
    case 'bounded':
      return {
        kind: 'bounded',
        part: prepareTree(tree.part, prepared, place),
        threshold: readThreshold(tree.threshold.evaluate(prepared.scope), `${place}.threshold`),
      };
    case 'any_of':
    case 'all_of':
      return {
        kind: tree.kind,
        parts: tree.parts.map((part, index) =>
          prepareTree(part, prepared, `${place}.${tree.kind}[${index}]`),
        ),
      };
    case 'check':
      return prepareCheck(tree, prepared, place);
  }
}

function prepareCheck(
  { type, params, content }: Extract<CheckTree, { kind: 'check' }>,
  { scope, context, defaultContent }: PrepareContext,
  place: string,
): PreparedTree {
  const own = content === undefined ? undefined : requireText(content.evaluate(scope), `${place}.content`);
  return {
    kind: 'check',
    content: own,
    request: {
      type,
      params: requireObject(params.evaluate(scope), `${place}.params`),
      content: own ?? requireText(defaultContent, 'content'),
      context,
    },
  };
}
