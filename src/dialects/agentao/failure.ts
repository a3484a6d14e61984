import { type Answer, answers } from '../../contract/hook.ts';
import type { ErrorCode, RuntimeError } from '../../errors.ts';
import { type Decoded, decoded } from '../dialect.ts';
import { type FailureRule, failOpen } from '../failed-open.ts';
import { type PointName, requirePoint } from './points.ts';
import { type Asked, attach } from './record.ts';
import type { Left } from './reply.ts';
import { remember, type Said, saidIn } from './said.ts';

const rules: Partial<Readonly<Record<ErrorCode, Omit<FailureRule, 'error'>>>> = {
  PROCESS_TIMEOUT: { cause: 'agentao.timeout', what: 'did not answer in time' },
  PROCESS_START: { cause: 'agentao.spawn', what: 'could not be started' },
};

/**
 * What a rule that left no reply means. Source: `_run_subprocess` of agentao/plugins/hooks/_dispatcher.py, which
 * lets two failures pass; every other one denies where anything can be denied.
 */
export function readFault(asked: Asked, error: RuntimeError): Decoded<Answer> {
  const rule = rules[error.code];
  if (rule !== undefined) return passFailure(asked, { ...rule, error });
  const point = requirePoint(asked.question.point);
  if (isDeaf(point) || point === 'SessionStart') {
    return decoded(answers.allow(), [{ level: 'warn', message: `it failed: ${error.message}` }]);
  }
  throw error;
}

/** A process that ended badly and left no answer. Source: `_run_command_hook` of the same file. */
export function readBadExit(asked: Asked, what: string, left: Left, said: Said = {}): Decoded<Answer> {
  return passFailure(asked, { cause: 'agentao.exit_nonzero', what }, { said, stderr: left.stderr });
}

/** Text that began as an answer. As a text it still counts, unless the failure is to deny. */
export function readBadJson({ seat, question }: Asked, { output, notes }: Decoded<Answer>): Decoded<Answer> {
  const rule = { cause: 'agentao.bad_json', what: 'printed what begins as a JSON object and is none' };
  const isClosable = closable.includes(question.point);
  const read = failOpen(seat, rule, { answer: output, notes, isClosable });
  const said = keepsRecords(question.point) ? remember(read.output, saidIn(output)) : read.output;
  return decoded(said, read.notes);
}

/** Points whose hooks are only told. */
export function isDeaf(point: PointName): boolean {
  return point === 'SessionEnd' || point === 'PreCompact';
}

/** The points that have a result of their own, with what each rule did. */
function keepsRecords(point: string): boolean {
  return point === 'UserPromptSubmit' || point === 'PreToolUse' || point === 'Stop';
}

/** The points at which there is something to deny when a failure must not pass. */
const closable: readonly string[] = ['UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'];

function passFailure(
  asked: Asked,
  rule: FailureRule,
  { said = {}, stderr = '' }: { readonly said?: Said; readonly stderr?: string } = {},
): Decoded<Answer> {
  const { seat, question } = asked;
  const onFailure = closable.includes(question.point) ? seat.onFailure : 'own';
  const { output, notes } = failOpen({ name: seat.name, onFailure }, rule);
  if (!keepsRecords(question.point)) return decoded(output, notes);
  const payload = { warning: `Hook ${rule.what}`, ...(stderr !== '' && { stderr: stderr.slice(0, 500) }) };
  const messages = [...(said.messages ?? []), attach(asked, 'hook_success', payload)];
  return decoded(remember(output, { ...said, messages }), notes);
}
