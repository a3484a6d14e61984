import type { ClaudeSettings } from '../../config/foreign.ts';
import type { Answer } from '../../contract/hook.ts';
import { RuntimeError } from '../../errors.ts';
import type { ProcessReply, Reply } from '../../transport/transport.ts';
import { excerpt, malformed } from '../body.ts';
import { type Decoded, decoded } from '../dialect.ts';
import type { Question, Seat } from '../foreign.ts';
import { type Asking, block, letPass, silence, toAsking, withReason } from './asking.ts';
import { capStops } from './cap.ts';
import { withEnvFile } from './env-file.ts';
import { notesOn, readExit2 } from './exit-2.ts';
import { parsePrinted } from './output.ts';
import { readFault } from './read/fault.ts';
import { readHttp } from './read/http.ts';
import { readOutput } from './read/output.ts';
import { readWorktree } from './read/worktree.ts';

/**
 * What a handler's exit code, stdout and stderr mean, or the fault in their place. Source: the hooks reference, "Exit
 * code output" and "JSON output".
 */
export function read(
  seat: Seat<ClaudeSettings>,
  question: Question,
  reply: Reply | RuntimeError,
): Decoded<Answer> {
  const asking = toAsking(seat, question);
  if (reply instanceof RuntimeError) return withEnvFile(question, readFault(asking, reply));
  if (reply.via === 'rpc') throw malformed('a Claude Code hook is no server');
  return withEnvFile(question, capStops(asking, withReason(asking, readReply(asking, reply))));
}

function readReply(asking: Asking, reply: ProcessReply): Decoded<Answer> {
  if (asking.question.point === 'WorktreeCreate') return readWorktree(asking, reply);
  return reply.httpStatus === undefined ? readProcess(asking, reply) : readHttp(asking, reply);
}

function readProcess(asking: Asking, reply: ProcessReply): Decoded<Answer> {
  const { exitCode, signal } = reply;
  const printed = parsePrinted(reply.stdout);
  const blocked = exitCode === 2 ? readExit2(reply) : undefined;
  if (printed.kind === 'object') return readOutput(asking, printed.output, blocked);
  if (blocked !== undefined) return decoded(block(asking, blocked.message), notesOn(asking.rule, blocked));
  if (exitCode !== 0) {
    const what = signal === null ? `exited with code ${exitCode}` : `was ended by ${signal}`;
    return letPass(asking, { cause: 'claude.exit_other', what });
  }
  switch (printed.kind) {
    case 'nothing':
      return decoded(silence(asking));
    case 'bad_json':
      return readBadJson(asking, printed.text);
    case 'text':
      return readText(asking, printed.text);
  }
}

/** An answer that was cut off, or with something behind it, may have been a denial. As a text it is still a text. */
function readBadJson(asking: Asking, text: string): Decoded<Answer> {
  const what = 'printed what begins as a JSON object and is none';
  // An object that is only wrong within was never meant for the model.
  const isText = asking.rule.takesText === true && !text.endsWith('}');
  return letPass(asking, { cause: 'claude.bad_json', what }, isText ? [text] : []);
}

/** Text is for the model at some events, for the log at the others. */
function readText(asking: Asking, text: string): Decoded<Answer> {
  const context = asking.rule.takesText === true ? [text] : [];
  if (/\n\{/.test(text)) {
    const what = 'printed text before what may be its JSON answer';
    return letPass(asking, { cause: 'claude.text_before_json', what }, context);
  }
  const message = `stdout: ${excerpt(text)}`;
  return decoded(silence(asking, { context }), [{ level: 'debug', message }]);
}
