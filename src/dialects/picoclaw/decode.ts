import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isObject, type Json } from '../../base/json/json.ts';
import { membersOf } from '../../base/json/scan.ts';
import { type Reply, unusableLineOf } from '../../contract/exchange.ts';
import { type Answer, answers } from '../../contract/hook.ts';
import { type Body, excerpt, malformed, nonNull, toBody } from '../body.ts';
import { type Decoded, decoded, type Note } from '../dialect.ts';
import type { HookEntry, Question } from '../foreign-dialect.ts';
import type { PicoclawSettings } from './config/settings.ts';
import {
  decodeFailure,
  denyAsWritten,
  denyFailure,
  denyingActions,
  type FailureCause,
  findDenial,
  findDenialInLine,
  findInResult,
} from './failure.ts';
import { type ActionPoint, isActionPoint } from './points.ts';
import {
  type Changes,
  metadataOf,
  type ReplyObject,
  readCall,
  readReplyObject,
  readRequest,
  readResponse,
  readResult,
  reasonOf,
} from './read.ts';
import { foldObject, resultKeys } from './wire.ts';

export function decode(
  entry: HookEntry<PicoclawSettings>,
  question: Question,
  reply: Reply | RuntimeError,
): Decoded<Answer> {
  try {
    return decodeReply(entry, question, reply);
  } catch (thrown) {
    // A peer can nest deeper than recursion goes.
    throw toRuntimeError(thrown, 'REPLY_MALFORMED');
  }
}

function decodeReply(
  entry: HookEntry<PicoclawSettings>,
  question: Question,
  reply: Reply | RuntimeError,
): Decoded<Answer> {
  const { point } = question;
  if (reply instanceof RuntimeError) return readFault(entry, point, reply);
  if (reply.via === 'process') throw malformed('a PicoClaw hook must be a server');
  const { error, ignoredResult } = reply;
  if (error !== undefined) return readRpcError(entry, point, { error, beside: ignoredResult });
  if (isActionPoint(point)) return readAction({ entry, question, point }, reply.result);
  if (point === 'approve_tool') return readApproval(entry, reply.result);
  throw new RuntimeError('INTERNAL', `nobody answers at the point "${point}"`);
}

/** A failed start or handshake denies whatever the entry says, and so does every error without a PicoClaw rule. */
function readFault(entry: HookEntry<PicoclawSettings>, point: string, error: RuntimeError): Decoded<Answer> {
  const stage = stageOf(error);
  if (stage !== undefined) return denyFailure(entry, `${stageWords[stage]}: ${error.message}`, { error });
  const line = unusableLineOf(error);
  const denial = line === undefined ? undefined : findDenialInLine(line);
  if (denial !== undefined)
    return denyFailure(entry, `denied with ${excerpt(denial)}, though ${error.message}`, { error });
  const rule = ruleOf(error);
  if (rule === undefined) return denyFailure(entry, `could not be called: ${error.message}`, { error });
  return decodeFailure(entry, point, { ...rule, error });
}

function readRpcError(
  entry: HookEntry<PicoclawSettings>,
  point: string,
  { error, beside }: { readonly error: Json; readonly beside?: Json | undefined },
): Decoded<Answer> {
  const denial = beside === undefined ? undefined : findInResult(beside);
  if (denial !== undefined) {
    const message = `it denied beside the error ${messageOf(error)}`;
    return denyAsWritten(entry, denial, [{ level: 'warn', message }]);
  }
  const what = `answered with the error ${messageOf(error)}`;
  return decodeFailure(entry, point, {
    cause: 'rpc_error',
    what,
    error: new RuntimeError('TOOL_ERROR', what),
  });
}

export function messageOf(error: Json): string {
  try {
    const message = nonNull(toBody(error).get('message'))?.value;
    return typeof message === 'string' && message !== '' ? `"${excerpt(message)}"` : excerpt(error.text);
  } catch {
    return excerpt(error.text);
  }
}

type Stage = keyof typeof stageWords;

const stageWords = { start: 'could not be started', hello: 'did not complete the hello' } as const;

function stageOf({ code, details }: RuntimeError): Stage | undefined {
  if (code === 'PROCESS_START') return 'start';
  const { stage } = details;
  return stage === 'start' || stage === 'hello' ? stage : undefined;
}

interface FaultRule {
  readonly cause: FailureCause;
  readonly what: string;
}

function ruleOf({ code, message, details }: RuntimeError): FaultRule | undefined {
  switch (code) {
    case 'PROCESS_TIMEOUT':
      return { cause: 'timeout', what: 'timed out' };
    case 'SERVER_EXIT':
      return { cause: 'dead', what: 'died during the call' };
    case 'OUTPUT_LIMIT':
      return { cause: 'bad_result', what: `answered with too much output: ${message}` };
    case 'REPLY_MALFORMED':
      return ruleOfLine(details['problem'], message);
    default:
      return undefined;
  }
}

/**
 * The rule for a line that is an unusable answer. Text that is not UTF-8 has no rule: PicoClaw would have read it, and
 * it may have been a denial.
 */
function ruleOfLine(problem: unknown, message: string): FaultRule | undefined {
  switch (problem) {
    case 'no_result':
      return { cause: 'no_action', what: 'answered neither a result nor an error' };
    case 'error_type':
      return { cause: 'rpc_error', what: 'answered with an error that is not an object' };
    case 'id':
    case 'batch':
      return { cause: 'bad_result', what: `gave an unusable answer: ${message}` };
    default:
      return undefined;
  }
}

type Action = 'continue' | 'modify' | 'respond' | 'deny_tool' | 'abort_turn' | 'hard_abort';

interface ActionRules {
  readonly actions: readonly Action[];
  readonly object: string;
  readonly read: (seat: HookEntry<PicoclawSettings>, question: Question, object: Json) => Changes;
  /** An unusable object denies, as on the published page: it was meant to change the event. */
  readonly unusableDenies: boolean;
}

const commonActions: readonly Action[] = ['continue', 'modify', 'abort_turn', 'hard_abort'];

const actionRules: Readonly<Record<ActionPoint, ActionRules>> = {
  before_llm: { actions: commonActions, object: 'request', read: readRequest, unusableDenies: false },
  after_llm: { actions: commonActions, object: 'response', read: readResponse, unusableDenies: true },
  before_tool: {
    actions: [...commonActions, 'respond', 'deny_tool'],
    object: 'call',
    read: readCall,
    unusableDenies: false,
  },
  after_tool: { actions: commonActions, object: 'result', read: readResult, unusableDenies: true },
};

interface HookQuestion {
  readonly entry: HookEntry<PicoclawSettings>;
  readonly question: Question;
  readonly point: ActionPoint;
}

function readAction(asked: HookQuestion, result: Json | undefined): Decoded<Answer> {
  const { entry, point } = asked;
  const given = nonNull(result);
  if (given === undefined)
    return decodeFailure(entry, point, { cause: 'no_action', what: 'answered nothing' });
  if (!isObject(given.value)) {
    const what = `answered with something other than an object: ${excerpt(given.text)}`;
    return decodeFailure(entry, point, { cause: 'bad_result', what, error: malformed(what) });
  }
  const beside = point === 'before_tool' ? ['result'] : [];
  const known = ['action', 'reason', 'message', actionRules[point].object, ...beside];
  const { body, notes, isAmbiguous } = readReplyObject(given, point, known);
  if (isAmbiguous) return denyFailure(entry, 'gave its verdict more than once', { notes });
  return readVerdict(asked, { body, notes });
}

function readVerdict(asked: HookQuestion, { body, notes }: ParsedReply): Decoded<Answer> {
  const { entry, point } = asked;
  const action = nonNull(body.get('action'))?.value ?? '';
  const fitting = actionRules[point].actions.find((known) => known === action);
  if (fitting !== undefined) return applyAction(asked, fitting, { body, notes });
  const denial = findDenial(body);
  if (denial !== undefined) return denyAsWritten(entry, denial, notes);
  if (action === '') return readNoAction(asked, { body, notes });
  const cause = typeof action === 'string' ? 'unknown_action' : 'bad_result';
  const what = `answered with the action ${excerpt(JSON.stringify(action))}, which ${point} does not have`;
  return decodeFailure(entry, point, { cause, what, error: malformed(what), notes });
}

/** PicoClaw reads a missing action as `continue`, so the hook's changes of the event count. */
function readNoAction(asked: HookQuestion, parsed: ParsedReply): Decoded<Answer> {
  const { entry, point } = asked;
  const what = 'answered without an action';
  return applyChanges(asked, parsed, (answer, notes) =>
    decodeFailure(entry, point, { cause: 'no_action', what, notes, answer }),
  );
}

type ParsedReply = Pick<ReplyObject, 'body' | 'notes'>;

function applyAction(asked: HookQuestion, action: Action, { body, notes }: ParsedReply): Decoded<Answer> {
  const { name } = asked.entry;
  const extras = { metadata: metadataOf(body) };
  switch (action) {
    case 'continue':
    case 'modify':
      return applyChanges(asked, { body, notes }, decoded);
    case 'respond':
      return readRespond(asked.entry, body, notes);
    case 'deny_tool':
      return decoded(answers.deny(reasonOf(body, `hook "${name}" denied the call`), extras), notes);
    case 'abort_turn':
      return decoded(answers.abort(reasonOf(body, `hook "${name}" ended the turn`), 'turn', extras), notes);
    case 'hard_abort':
      return decoded(
        answers.abort(reasonOf(body, `hook "${name}" ended the session`), 'session', extras),
        notes,
      );
  }
}

type Finish = (answer: Answer, notes: readonly Note[]) => Decoded<Answer>;

function applyChanges(asked: HookQuestion, { body, notes }: ParsedReply, finish: Finish): Decoded<Answer> {
  const { entry, question, point } = asked;
  const rules = actionRules[point];
  const object = nonNull(body.get(rules.object));
  const reason = reasonOf(body);
  if (object === undefined) return finish(answers.allow({ reason, metadata: metadataOf(body) }), notes);
  let changes: Changes;
  try {
    changes = rules.read(entry, question, object);
  } catch (thrown) {
    return readUnusable(asked, toRuntimeError(thrown, 'REPLY_MALFORMED'), notes);
  }
  if ('deny' in changes) return denyFailure(entry, changes.deny, { notes });
  const all = [...notes, ...(changes.notes ?? [])];
  const beside = { reason, metadata: metadataOf(body, changes.beside) };
  const isSame = Object.keys(changes.replace).length === 0;
  return finish(isSame ? answers.allow(beside) : answers.modify(changes.replace, beside), all);
}

function readUnusable(
  { entry, point }: HookQuestion,
  error: RuntimeError,
  notes: readonly Note[],
): Decoded<Answer> {
  const what = `gave an unusable answer: ${error.message}`;
  const closes = actionRules[point].unusableDenies && entry.settings.version === '0.2.8-doc';
  return closes
    ? denyFailure(entry, what, { error, notes })
    : decodeFailure(entry, point, { cause: 'bad_result', what, error, notes });
}

function readApproval(entry: HookEntry<unknown>, result: Json | undefined): Decoded<Answer> {
  const given = nonNull(result);
  if (given === undefined) return denyFailure(entry, 'answered nothing, so the call is not approved');
  if (!isObject(given.value)) {
    const what = `answered with something other than an object, so the call is not approved: ${excerpt(given.text)}`;
    return denyFailure(entry, what, { error: malformed(what) });
  }
  const { body, notes, isAmbiguous } = readReplyObject(given, 'approve_tool', [
    'approved',
    'reason',
    'message',
  ]);
  const refuse = (what: string) => denyFailure(entry, what, { notes });
  if (isAmbiguous) return refuse('gave its verdict more than once');
  const approved = nonNull(body.get('approved'))?.value;
  const beside = { metadata: metadataOf(body) };
  if (approved === false) {
    const reason = reasonOf(body, `hook "${entry.name}" did not approve the call`);
    return decoded(answers.deny(reason, beside), notes);
  }
  const denial = findDenial(body) ?? denialIn(body.get('action'));
  if (denial !== undefined) return denyAsWritten(entry, denial, notes);
  const reason = nonNull(body.get('reason'))?.value;
  if (approved === true && reason !== undefined && typeof reason !== 'string') {
    return refuse('approved with a reason that is not a string, which PicoClaw cannot read');
  }
  if (approved === true) return decoded(answers.allow({ reason: reasonOf(body), ...beside }), notes);
  return refuse('answered without `approved: true`');
}

/** An approver has no actions. A denying action beside `approved: true` makes the approval doubtful. */
function denialIn(action: Json | undefined): string | undefined {
  return action !== undefined && denyingActions.includes(action.value) ? `action: ${action.text}` : undefined;
}

function readRespond(entry: HookEntry<unknown>, body: Body, notes: readonly Note[]): Decoded<Answer> {
  const refuse = (what: string) => denyFailure(entry, `answered in place of the tool ${what}`, { notes });
  const result = resultOf(body);
  if (result === undefined) return refuse('without a result');
  if (!isObject(result.value)) return refuse('with something other than an object');
  const { for_llm: text, is_error, ...others } = membersOf(foldObject(result, '`result`', resultKeys).json);
  if (typeof text?.value !== 'string') return refuse('without a `for_llm`');
  const isError = nonNull(is_error)?.value ?? false;
  if (typeof isError !== 'boolean') return refuse('with an `is_error` that is neither true nor false');
  const respond = answers.respond(text, {
    reason: reasonOf(body),
    metadata: metadataOf(body, { ...(is_error && { is_error }), ...pick(others, recordedKeys) }),
  });
  const { response_handled: handledFlag, silent, for_user: forUser, media } = others;
  // No channel takes media here. PicoClaw then clears `response_handled` and calls the model again.
  const isUndelivered = Array.isArray(media?.value) && media.value.length > 0;
  const isHandled = handledFlag?.value === true && !isUndelivered;
  const handled = isHandled ? { handled: silent?.value === true ? '' : textOf(forUser) } : {};
  return decoded({ ...respond, ...(isError && { isError }), ...handled }, [
    ...notes,
    ...(isUndelivered ? [undelivered] : []),
  ]);
}

const undelivered: Note = {
  level: 'warn',
  message: 'it answered with `media`, which is not forwarded: the references are in metadata.picoclaw.media',
};

const recordedKeys = ['for_user', 'silent', 'media', 'artifact_tags', 'response_handled'];

function resultOf(body: Body): Json | undefined {
  const call = body.get('call');
  const own = nonNull(body.get('result'));
  if (own !== undefined || call === undefined || !isObject(call.value)) return own;
  return nonNull(foldObject(call, '`call`', ['hook_result']).get('hook_result'));
}

function pick(parts: Readonly<Record<string, Json>>, keys: readonly string[]) {
  return Object.fromEntries(Object.entries(parts).filter(([key]) => keys.includes(key)));
}

function textOf(json: Json | undefined): string {
  return typeof json?.value === 'string' ? json.value : '';
}
