import type { PicoclawSettings } from '../../../config/foreign.ts';
import { type Answer, answers } from '../../../contract/hook.ts';
import { type RuntimeError, toRuntimeError } from '../../../errors.ts';
import { isObject, type Json } from '../../../json/json.ts';
import { type Body, excerpt, present, toBody } from '../../body.ts';
import { type Decoded, decoded, type Note } from '../../dialect.ts';
import type { Question, Seat } from '../../foreign.ts';
import { isAmbiguous, noteUnknownKeys } from '../../keys.ts';
import type { Changes } from '../changes.ts';
import { denied, failed } from '../failure.ts';
import { findDenial, noteTrap } from '../foreign-denial.ts';
import { foldBody } from '../json-parts.ts';
import type { ActionPoint } from '../points.ts';
import { metadataOf, reasonOf } from '../said.ts';
import { readCall } from './call.ts';
import { readRequest } from './request.ts';
import { readRespond } from './respond.ts';
import { readResponse } from './response.ts';
import { readResult } from './result.ts';

type Action = 'continue' | 'modify' | 'respond' | 'deny_tool' | 'abort_turn' | 'hard_abort';

interface Stage {
  readonly actions: readonly Action[];
  /** The member that has what the hook made of the event. */
  readonly object: string;
  readonly read: (seat: Seat<PicoclawSettings>, question: Question, object: Json) => Changes;
  /** By the page, an object that fits no form denies: the sender meant to change what gets out. */
  readonly misfitDenies: boolean;
}

const everywhere: readonly Action[] = ['continue', 'modify', 'abort_turn', 'hard_abort'];

const stages: Readonly<Record<ActionPoint, Stage>> = {
  before_llm: { actions: everywhere, object: 'request', read: readRequest, misfitDenies: false },
  after_llm: { actions: everywhere, object: 'response', read: readResponse, misfitDenies: true },
  before_tool: {
    actions: [...everywhere, 'respond', 'deny_tool'],
    object: 'call',
    read: readCall,
    misfitDenies: false,
  },
  after_tool: { actions: everywhere, object: 'result', read: readResult, misfitDenies: true },
};

interface Asked {
  readonly seat: Seat<PicoclawSettings>;
  readonly question: Question;
  readonly point: ActionPoint;
}

/** What the result of one of the four methods with an `action` means. */
export function readAction(asked: Asked, result: Json | undefined): Decoded<Answer> {
  const { seat, point } = asked;
  const given = present(result);
  if (given === undefined) return failed(seat, point, { cause: 'no_action', what: 'answered nothing' });
  if (!isObject(given.value)) {
    const what = `answered with what is no object: ${excerpt(given.text)}`;
    return failed(seat, point, { cause: 'bad_result', what });
  }
  const known = [
    'action',
    'reason',
    'message',
    stages[point].object,
    ...(point === 'before_tool' ? ['result'] : []),
  ];
  const body = foldBody(
    toBody(given),
    known.filter((key) => key !== 'action'),
  );
  const notes = [...noteUnknownKeys(body, known), ...noteTrap(body, point)];
  if (isAmbiguous(body, 'action') || isAmbiguous(body, 'approved')) {
    return denied(seat, 'gave its verdict twice', { notes });
  }
  return readVerdict(asked, body, notes);
}

function readVerdict(asked: Asked, body: Body, notes: readonly Note[]): Decoded<Answer> {
  const { seat, point } = asked;
  const action = present(body.get('action'))?.value ?? '';
  const fitting = stages[point].actions.find((known) => known === action);
  if (fitting !== undefined) return act(asked, fitting, { body, notes });
  const denial = findDenial(body);
  if (denial !== undefined) return denied(seat, `denied with ${excerpt(denial)}`, { notes });
  if (action === '') return readNoAction(asked, { body, notes });
  const cause = typeof action === 'string' ? 'unknown_action' : 'bad_result';
  const what = `answered with the action ${excerpt(JSON.stringify(action))}, which ${point} does not have`;
  return failed(seat, point, { cause, what, notes });
}

/** PicoClaw reads it as `continue`, so what the hook made of the event counts. */
function readNoAction(asked: Asked, said: Said): Decoded<Answer> {
  const { seat, point } = asked;
  const what = 'answered without an action';
  return pass(asked, said, (answer, notes) =>
    failed(seat, point, { cause: 'no_action', what, notes, answer }),
  );
}

interface Said {
  readonly body: Body;
  readonly notes: readonly Note[];
}

function act(asked: Asked, action: Action, { body, notes }: Said): Decoded<Answer> {
  const { name } = asked.seat;
  const beside = { metadata: metadataOf(body) };
  switch (action) {
    case 'continue':
    case 'modify':
      return pass(asked, { body, notes }, decoded);
    case 'respond':
      return readRespond(asked.seat, body, notes);
    case 'deny_tool':
      return decoded(answers.deny(reasonOf(body, `hook "${name}" denied the call`), beside), notes);
    case 'abort_turn':
      return decoded(answers.abort(reasonOf(body, `hook "${name}" ended the turn`), 'turn', beside), notes);
    case 'hard_abort':
      return decoded(
        answers.abort(reasonOf(body, `hook "${name}" ended the session`), 'session', beside),
        notes,
      );
  }
}

type Give = (answer: Answer, notes: readonly Note[]) => Decoded<Answer>;

/** Lets the event pass as the hook made it, in the way that `give` says. */
function pass(asked: Asked, { body, notes }: Said, give: Give): Decoded<Answer> {
  const { seat, question, point } = asked;
  const stage = stages[point];
  const object = present(body.get(stage.object));
  const reason = reasonOf(body);
  if (object === undefined) return give(answers.allow({ reason, metadata: metadataOf(body) }), notes);
  let changes: Changes;
  try {
    changes = stage.read(seat, question, object);
  } catch (thrown) {
    return misfit(asked, toRuntimeError(thrown, 'REPLY_MALFORMED'), notes);
  }
  if ('deny' in changes) return denied(seat, changes.deny, { notes });
  const all = [...notes, ...(changes.notes ?? [])];
  const beside = { reason, metadata: metadataOf(body, changes.beside) };
  const isSame = Object.keys(changes.replace).length === 0;
  return give(isSame ? answers.allow(beside) : answers.modify(changes.replace, beside), all);
}

function misfit({ seat, point }: Asked, error: RuntimeError, notes: readonly Note[]): Decoded<Answer> {
  const what = `gave what cannot be used: ${error.message}`;
  const closes = stages[point].misfitDenies && seat.settings.version === '0.2.8-doc';
  return closes
    ? denied(seat, what, { error, notes })
    : failed(seat, point, { cause: 'bad_result', what, error, notes });
}
