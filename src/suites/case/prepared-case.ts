import { RuntimeError } from '../../base/errors.ts';
import { isObject, stringifyJson } from '../../base/json/json.ts';
import { requireThreshold } from '../../calls/capability/eval.ts';
import type { EvalContext, EvalRequest, EvalToolCall, Threshold } from '../../contract/eval.ts';
import type { ChatMessage } from '../../contract/provider.ts';
import { datasetError } from '../dataset/row.ts';
import type { CheckTree, GuardCheck, Suite, SuiteEval } from '../file/model.ts';
import type { Answer } from '../subject/adapter.ts';
import {
  type JsonObject,
  readIndex,
  readList,
  readObject,
  readText,
  readToolCalls,
  requireObject,
  requireText,
} from '../transcript/tool-calls.ts';
import { readLabel } from './case-identity.ts';

type RowValue = Readonly<Record<string, unknown>>;

interface PreparedCase {
  /** The judged text; empty if the case has none. */
  readonly content: string;
  readonly context: EvalContext;
  readonly threshold: Threshold | undefined;
  readonly evals: readonly PreparedEval[];
}

export interface PreparedEval {
  readonly evaluation: SuiteEval;
  readonly threshold: Threshold;
  readonly label: boolean | undefined;
  readonly check: PreparedCheck;
}

type PreparedCheck = PreparedTree | PreparedGuard;

export type PreparedTree =
  | { readonly kind: 'check'; readonly request: EvalRequest; readonly content: string | undefined }
  | { readonly kind: 'bounded'; readonly part: PreparedTree; readonly threshold: Threshold }
  | { readonly kind: 'not'; readonly part: PreparedTree }
  | { readonly kind: 'any_of' | 'all_of'; readonly parts: readonly PreparedTree[] };

/** `expected`: whether the hooks should flag the event. */
export interface PreparedGuard {
  readonly kind: 'guard';
  readonly only: string | undefined;
  readonly event: RowValue;
  readonly expected: boolean;
}

/** The answer as expressions see it in `subject`. */
export type SubjectView = Pick<Answer, 'text' | 'result' | 'messages' | 'tool_calls' | 'metadata'>;

/** Maps a row and the subject's answer, if any, to eval requests. Throws DATASET_INVALID or EXPRESSION_FAILED. */
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

/** The evals that apply to the row, each with its bounds. Throws DATASET_INVALID or EXPRESSION_FAILED. */
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

/** Mapped members take precedence over those of the subject. */
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

export function lastAnswer(messages: readonly ChatMessage[]): string | undefined {
  return messages.findLast(({ role }) => role === 'assistant')?.content;
}

/** Null counts as no bounds. Throws DATASET_INVALID for invalid bounds. */
function readThreshold(value: unknown, place: string): Threshold {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw datasetError(place, 'a mapping', value);
  const { min_score: min, max_score: max } = value;
  const threshold = {
    ...readBound(min, 'min_score', place),
    ...readBound(max, 'max_score', place),
  };
  try {
    requireThreshold(threshold);
  } catch (error) {
    if (error instanceof RuntimeError)
      throw new RuntimeError('DATASET_INVALID', `${place}: ${error.message}`);
    throw error;
  }
  return threshold;
}

function readBound<Key extends 'min_score' | 'max_score'>(
  value: unknown,
  key: Key,
  place: string,
): { [K in Key]?: number } {
  const found: { [K in Key]?: number } = {};
  if (value === undefined || value === null) return found;
  if (typeof value !== 'number') throw datasetError(`${place}.${key}`, 'a number from 0 to 1', value);
  found[key] = value;
  return found;
}

/**
 * Absent and null members become empty. Without listed tool calls, those of the messages are used. Throws
 * DATASET_INVALID.
 */
export function readContext(value: unknown): EvalContext {
  const context = readObject(value, 'context');
  refuseUnknown(context);
  const messages = readMessages(context['messages'], messagesPlace);
  return {
    messages,
    turn_index: readIndex(context['turn_index'], 'context.turn_index'),
    tool_calls: isAbsent(context['tool_calls'])
      ? readToolCalls(messages, messagesPlace)
      : readList(context['tool_calls'], 'context.tool_calls').map(readToolCall),
    variables: readObject(context['variables'], 'context.variables'),
    metadata: readObject(context['metadata'], 'context.metadata'),
    ...optionalText(context, 'session_id'),
    ...optionalText(context, 'prompt_id'),
  };
}

const messagesPlace = 'context.messages';

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

const members: ReadonlySet<string> = new Set([
  'messages',
  'turn_index',
  'tool_calls',
  'variables',
  'metadata',
  'session_id',
  'prompt_id',
]);

function refuseUnknown(context: JsonObject): void {
  const unknown = Object.keys(context).find((key) => !members.has(key));
  if (unknown === undefined) return;
  const hint = `Known members: ${[...members].join(', ')}.`;
  throw new RuntimeError('DATASET_INVALID', `context.${unknown}: unknown member`, { hint });
}

function readToolCall(value: unknown, index: number): EvalToolCall {
  const place = `context.tool_calls[${index}]`;
  const {
    name,
    args = {},
    result,
    error,
    error_type: errorType,
    index: position,
  } = requireObject(value, place);
  return {
    name: requireText(name, `${place}.name`),
    args,
    result:
      typeof result === 'object' && result !== null
        ? stringifyJson(result)
        : readText(result, `${place}.result`),
    error: readText(error, `${place}.error`),
    index: readIndex(position, `${place}.index`),
    ...(isAbsent(errorType) ? {} : { error_type: readText(errorType, `${place}.error_type`) }),
  };
}

function optionalText(context: JsonObject, key: 'session_id' | 'prompt_id'): Record<string, string> {
  const value = context[key];
  return isAbsent(value) ? {} : { [key]: readText(value, `context.${key}`) };
}

/**
 * Accepts messages of OpenAI's API and of PromptKit. Collects the text in `content` and keeps other members. Throws
 * DATASET_INVALID.
 */
function readMessages(value: unknown, place: string): readonly ChatMessage[] {
  return readList(value, place).map((item, index) => readMessage(item, `${place}[${index}]`));
}

function readMessage(value: unknown, place: string): ChatMessage {
  const message = requireObject(value, place);
  const role = readRole(message['role'], `${place}.role`);
  return { ...message, role, content: readContent(message, place) };
}

function readRole(value: unknown, place: string): ChatMessage['role'] {
  // OpenAI's newer name for `system`.
  const role = value === 'developer' ? 'system' : roles.find((known) => known === value);
  if (role === undefined) throw datasetError(place, `one of ${roles.join(', ')}`, value);
  return role;
}

const roles = ['system', 'user', 'assistant', 'tool'] as const;

/** Falls back to PromptKit's `parts` or `tool_result`. */
function readContent(message: JsonObject, place: string): string {
  const content = textOf(message['content'], `${place}.content`);
  if (content !== '') return content;
  const { parts, tool_result: result } = message;
  if (Array.isArray(parts)) return textOf(parts, `${place}.parts`);
  if (!isObject(result)) return '';
  const resultText = textOf(result['content'], `${place}.tool_result.content`);
  return resultText === '' ? textOf(result['parts'], `${place}.tool_result.parts`) : resultText;
}

/** Images and audio have no text. */
function textOf(value: unknown, place: string): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) throw datasetError(place, 'text or a list of parts', value);
  return value.map((part: unknown, index) => textOfPart(part, `${place}[${index}]`)).join('');
}

function textOfPart(value: unknown, place: string): string {
  const { type, text } = requireObject(value, place);
  return type === 'text' || typeof text === 'string' ? requireText(text, `${place}.text`) : '';
}
