import { type Answer, answers } from '../../../contract/hook.ts';
import { type RuntimeError, toFault } from '../../../errors.ts';
import { type Decoded, decoded } from '../../dialect.ts';
import { type HookQuestion, letPass } from '../hook-question.ts';

/**
 * The answer for a fault in the place of a reply. Throws the fault where no rule of Claude Code lets it pass.
 */
export function readFault(asked: HookQuestion, error: RuntimeError): Decoded<Answer> {
  const failure = failureOf(error);
  const { point } = asked.question;
  if (failure === undefined || point === 'WorktreeCreate') throw error;
  if (point === 'PreModelSwitch' && failure.cause !== 'claude.http_error') {
    const reason = `hook "${asked.entry.name}" ${failure.what}`;
    return decoded(answers.deny(reason, { error: toFault(error) }));
  }
  return letPass(asked, { ...failure, error });
}

function failureOf({ code, message, details }: RuntimeError) {
  const isHttp = details['http'] === true;
  if (code === 'PROCESS_TIMEOUT') return { cause: 'claude.timeout', what: 'did not answer in time' };
  if (isHttp && (code === 'PROCESS_START' || code === 'REPLY_MALFORMED')) {
    return { cause: 'claude.http_error', what: `could not be asked (${message})` };
  }
  if (code === 'PROCESS_START') return { cause: 'claude.spawn', what: `could not be started (${message})` };
  return undefined;
}
