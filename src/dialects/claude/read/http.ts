import type { ProcessReply } from '../../../contract/exchange.ts';
import type { Answer } from '../../../contract/hook.ts';
import { type Decoded, decoded } from '../../dialect.ts';
import { type HookQuestion, letPass, noDecision } from '../hook-question.ts';
import { parsePrinted } from '../reply-object.ts';
import { readObject } from './object.ts';

/** An HTTP handler's answer: only the JSON of a 2xx can decide. Source: the hooks reference, "HTTP response handling". */
export function readHttp(asked: HookQuestion, { httpStatus = 0, stdout }: ProcessReply): Decoded<Answer> {
  if (!isSuccess(httpStatus)) {
    return letPass(asked, { cause: 'claude.http_error', what: `answered with HTTP status ${httpStatus}` });
  }
  const printed = parsePrinted(stdout);
  if (printed.kind === 'nothing') return decoded(noDecision(asked));
  if (printed.kind === 'object') return readObject(asked, printed.output, undefined);
  const what = `answered HTTP status ${httpStatus} with a body that is no JSON object`;
  return letPass(asked, { cause: 'claude.http_error', what });
}

export function isSuccess(httpStatus: number): boolean {
  return httpStatus >= 200 && httpStatus < 300;
}
