import type { PicoclawSettings } from '../../config/foreign.ts';
import type { Answer } from '../../contract/hook.ts';
import { RuntimeError, toRuntimeError } from '../../errors.ts';
import type { Reply } from '../../transport/transport.ts';
import { malformed } from '../body.ts';
import type { Decoded } from '../dialect.ts';
import type { Question, Seat } from '../foreign.ts';
import { isActionPoint } from './points.ts';
import { readAction } from './read/action.ts';
import { readApproval } from './read/approval.ts';
import { readFault, readRpcError } from './read/fault.ts';

/** What a reply means, or the fault in the place of one. Throws REPLY_MALFORMED for what nobody can read. */
export function read(
  seat: Seat<PicoclawSettings>,
  question: Question,
  reply: Reply | RuntimeError,
): Decoded<Answer> {
  try {
    return readAny(seat, question, reply);
  } catch (thrown) {
    // A peer can nest deeper than recursion goes.
    throw toRuntimeError(thrown, 'REPLY_MALFORMED');
  }
}

function readAny(
  seat: Seat<PicoclawSettings>,
  question: Question,
  reply: Reply | RuntimeError,
): Decoded<Answer> {
  const { point } = question;
  if (reply instanceof RuntimeError) return readFault(seat, point, reply);
  if (reply.via === 'process') throw malformed('a PicoClaw hook answers as a server only');
  const { error, beside } = reply;
  if (error !== undefined) return readRpcError(seat, point, { error, beside });
  if (isActionPoint(point)) return readAction({ seat, question, point }, reply.result);
  if (point === 'approve_tool') return readApproval(seat, reply.result);
  throw new RuntimeError('INTERNAL', `nobody answers at the point "${point}"`);
}
