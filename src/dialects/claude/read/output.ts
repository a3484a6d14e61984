import { type Answer, answers } from '../../../contract/hook.ts';
import { type Decoded, decoded, type Note } from '../../dialect.ts';
import type { Answered } from '../answered.ts';
import { type Asking, letPass, silence } from '../asking.ts';
import { besideOf } from '../beside.ts';
import { type Blocked, notesOn } from '../exit-2.ts';
import { type Output, textAt } from '../output.ts';
import { findMisfit } from '../schema.ts';
import { notesOnStray } from '../stray.ts';
import { readElicitation } from './elicitation.ts';
import { readPermission } from './permission.ts';
import { readPlain } from './plain.ts';
import { readTool } from './tool.ts';

/** A JSON answer, which counts whatever the exit code. */
export function readOutput(asking: Asking, output: Output, blocked: Blocked | undefined): Decoded<Answer> {
  const { rule, question } = asking;
  const misfit = findMisfit(question.point, rule, output);
  const { beside, notes: said } = misfit === undefined ? besideOf(asking, output) : { beside: {}, notes: [] };
  const answered = { output, blocked, misfit, beside };
  const notes: Note[] = [...said, ...notesOn(rule, blocked)];
  const answer = readHalt(asking, answered) ?? readVerdict(asking, answered);
  if (answer === undefined && misfit !== undefined) {
    return letPass(asking, { cause: 'claude.bad_schema', what: misfit });
  }
  if (misfit !== undefined) notes.push({ level: 'warn', message: `it ${misfit}; only what stops counts` });
  const given = answer ?? silence(asking, beside);
  return decoded(given, [...notes, ...notesOnStray(asking, output, given)]);
}

/** `continue: false` ends the turn and beats every decision. */
function readHalt({ rule, seat }: Asking, { output, beside }: Answered): Answer | undefined {
  if (rule.ignoresContinue || rule.isTold || seat.settings.isAsync) return undefined;
  const isHalt = output.body.members.some(
    ({ key, start, end }) => key === 'continue' && output.body.json.text.slice(start, end) === 'false',
  );
  return isHalt ? answers.abort(textAt(output.body, 'stopReason'), 'turn', beside) : undefined;
}

/** Undefined when it decides nothing. */
function readVerdict(asking: Asking, answered: Answered): Answer | undefined {
  switch (asking.rule.verdict) {
    case 'permissionDecision':
      return readTool(asking, answered);
    case 'decision':
      return readPermission(asking, answered);
    case 'action':
      return readElicitation(asking, answered);
    default:
      return readPlain(asking, answered);
  }
}
