import { type Answer, answers } from '../../../contract/hook.ts';
import { type RuntimeError, toRuntimeError } from '../../../errors.ts';
import { isObject, type Json } from '../../../json/json.ts';
import { excerpt, malformed, nonNull } from '../../body.ts';
import { type Decoded, decoded, type Note } from '../../dialect.ts';
import type { HookEntry, Question } from '../../foreign-dialect.ts';
import type { PicoclawSettings } from '../config/settings.ts';
import { decodeFailure, denyAsWritten, denyFailure } from '../failure.ts';
import { findDenial } from '../misplaced-denial.ts';
import type { ActionPoint } from '../points.ts';
import { type Changes, readCall, readResponse, readResult } from './changes.ts';
import { metadataOf, type ReplyObject, readReplyObject, reasonOf } from './reply.ts';
import { readRequest } from './request.ts';
import { readRespond } from './respond.ts';

type Action = 'continue' | 'modify' | 'respond' | 'deny_tool' | 'abort_turn' | 'hard_abort';

interface ActionRules {
  readonly actions: readonly Action[];
  /** The member that has what the hook made of the event. */
  readonly object: string;
  readonly read: (seat: HookEntry<PicoclawSettings>, question: Question, object: Json) => Changes;
  /** Whether an unusable object denies, as the published page says: it was meant to change the event. */
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

/** Decodes the result of one of the four methods that answer with an `action`. */
export function readAction(asked: HookQuestion, result: Json | undefined): Decoded<Answer> {
  const { entry, point } = asked;
  const given = nonNull(result);
  if (given === undefined)
    return decodeFailure(entry, point, { cause: 'no_action', what: 'answered nothing' });
  if (!isObject(given.value)) {
    const what = `answered with what is no object: ${excerpt(given.text)}`;
    return decodeFailure(entry, point, { cause: 'bad_result', what, error: malformed(what) });
  }
  const beside = point === 'before_tool' ? ['result'] : [];
  const known = ['action', 'reason', 'message', actionRules[point].object, ...beside];
  const { body, notes, isAmbiguous } = readReplyObject(given, point, known);
  if (isAmbiguous) return denyFailure(entry, 'gave its verdict twice', { notes });
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

/** PicoClaw reads it as `continue`, so what the hook made of the event counts. */
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

/** Reads the changes of the hook and makes the answer from them. */
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
  const what = `gave what cannot be used: ${error.message}`;
  const closes = actionRules[point].unusableDenies && entry.settings.version === '0.2.8-doc';
  return closes
    ? denyFailure(entry, what, { error, notes })
    : decodeFailure(entry, point, { cause: 'bad_result', what, error, notes });
}
