import type { EvalContext, EvalRequest, Threshold } from '../../contract/eval.ts';
import { isObject } from '../../json/json.ts';
import type { CheckTree, GuardTrial, Suite, SuiteEval } from '../file/model.ts';
import type { Answer } from '../subject/answer.ts';
import { lastAnswer } from '../transcript/last-answer.ts';
import { requireObject, requireText } from '../transcript/values.ts';
import { readContext } from './context.ts';
import { misfit } from './dataset-error.ts';
import { readThreshold } from './read-threshold.ts';

type RowValue = Readonly<Record<string, unknown>>;

/** A case with what is asked about it. */
export interface PreparedCase {
  /** Empty when nothing judges it. */
  readonly content: string;
  readonly context: EvalContext;
  readonly threshold: Threshold | undefined;
  readonly trials: readonly Trial[];
}

/** One eval of the suite, with what it is asked of this case. */
export interface Trial {
  readonly evaluation: SuiteEval;
  readonly threshold: Threshold;
  readonly judged: Judged;
}

export type Judged = JudgedTree | JudgedEvent;

/** One request, or several combined. */
export type JudgedTree =
  | { readonly kind: 'check'; readonly request: EvalRequest; readonly content: string | undefined }
  | { readonly kind: 'bounded'; readonly part: JudgedTree; readonly threshold: Threshold }
  | { readonly kind: 'not'; readonly part: JudgedTree }
  | { readonly kind: 'any_of' | 'all_of'; readonly parts: readonly JudgedTree[] };

/** An event of which is known whether hooks should flag it. */
export interface JudgedEvent {
  readonly kind: 'guard';
  readonly only: string | undefined;
  readonly event: RowValue;
  readonly expected: boolean;
}

/** What a subject made of a case, as the expressions of evals see it. */
export type SubjectView = Pick<Answer, 'text' | 'result' | 'messages' | 'tool_calls' | 'metadata'>;

/** Maps a row, and the subject's answer if there is one, to requests. Throws DATASET_INVALID, EXPRESSION_FAILED. */
export function prepare(suite: Suite, row: RowValue, subject: SubjectView | undefined): PreparedCase {
  const scope = subject === undefined ? { case: row } : { case: row, subject };
  const body = suite.mapping.body.evaluate(scope);
  if (!isObject(body)) throw misfit('case', 'a mapping', body);
  const context = readContext(withSubject(body['context'], subject));
  const given = body['content'] ?? subject?.text ?? lastAnswer(context.messages);
  const trials = trialsOf(suite, { row, scope, context, given });
  const bounds = body['threshold'];
  return {
    content: typeof given === 'string' ? given : '',
    context,
    threshold: bounds === undefined ? undefined : readThreshold(bounds, 'threshold'),
    trials,
  };
}

/** The evals that judge the case of that row, each with its bounds. Throws DATASET_INVALID, EXPRESSION_FAILED. */
export function evalsOf(
  suite: Suite,
  row: RowValue,
): readonly { readonly evaluation: SuiteEval; readonly threshold: Threshold }[] {
  return suite.evals.flatMap((evaluation) => {
    const judges = evaluation.condition?.evaluate({ case: row }) ?? true;
    if (typeof judges !== 'boolean') throw misfit(`evals[${evaluation.id}].if`, 'true or false', judges);
    if (!judges) return [];
    const bounds = evaluation.threshold.evaluate({ case: row });
    return [{ evaluation, threshold: readThreshold(bounds, `evals[${evaluation.id}].threshold`) }];
  });
}

/** What the mapping leaves out of the context, the subject gave. */
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

interface Prepared {
  readonly row: RowValue;
  readonly scope: RowValue;
  readonly context: EvalContext;
  /** Judged where an eval has no content of its own. */
  readonly given: unknown;
}

function trialsOf(suite: Suite, prepared: Prepared): Trial[] {
  return evalsOf(suite, prepared.row).map(({ evaluation, threshold }) => {
    const { judged } = evaluation;
    const place = `evals[${evaluation.id}]`;
    return {
      evaluation,
      threshold,
      judged:
        judged.kind === 'guard'
          ? prepareGuard(judged, prepared, place)
          : prepareTree(judged, prepared, place),
    };
  });
}

function prepareGuard(
  { only, event, expected }: GuardTrial,
  { scope }: Prepared,
  place: string,
): JudgedEvent {
  const fired = event.evaluate(scope);
  if (!isObject(fired)) throw misfit(`${place}.guard`, 'a mapping', fired);
  const label = expected.evaluate(scope);
  if (typeof label !== 'boolean') throw misfit(`${place}.expected`, 'true or false', label);
  return { kind: 'guard', only, event: fired, expected: label };
}

function prepareTree(tree: CheckTree, prepared: Prepared, place: string): JudgedTree {
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
  { scope, context, given }: Prepared,
  place: string,
): JudgedTree {
  const own = content === undefined ? undefined : requireText(content.evaluate(scope), `${place}.content`);
  return {
    kind: 'check',
    content: own,
    request: {
      type,
      params: requireObject(params.evaluate(scope), `${place}.params`),
      content: own ?? requireText(given, 'content'),
      context,
    },
  };
}
