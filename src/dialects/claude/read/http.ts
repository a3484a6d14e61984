import type { Answer } from '../../../contract/hook.ts';
import type { ProcessReply } from '../../../transport/transport.ts';
import { type Decoded, decoded } from '../../dialect.ts';
import { type Asking, letPass, silence } from '../asking.ts';
import { parsePrinted } from '../output.ts';
import { readOutput } from './output.ts';

/** An HTTP handler's answer: only the JSON of a 2xx can decide. Source: the hooks reference, "HTTP response handling". */
export function readHttp(asking: Asking, { httpStatus = 0, stdout }: ProcessReply): Decoded<Answer> {
  if (!isSuccess(httpStatus)) {
    return letPass(asking, { cause: 'claude.http_error', what: `answered with HTTP status ${httpStatus}` });
  }
  const printed = parsePrinted(stdout);
  if (printed.kind === 'nothing') return decoded(silence(asking));
  if (printed.kind === 'object') return readOutput(asking, printed.output, undefined);
  const what = `answered HTTP status ${httpStatus} with a body that is no JSON object`;
  return letPass(asking, { cause: 'claude.http_error', what });
}

export function isSuccess(httpStatus: number): boolean {
  return httpStatus >= 200 && httpStatus < 300;
}
