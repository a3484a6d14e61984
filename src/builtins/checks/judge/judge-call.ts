import { type Fault, toFault } from '../../../base/errors.ts';
import { stringifyJson } from '../../../base/json/json.ts';
import { type EvalOutcome, unscored } from '../../../contract/eval.ts';
import type { CheckInput } from '../check.ts';
import { exactParam } from '../tools/exact-values.ts';
import { type Evidence, type JudgePrompt, writePrompt } from './judge-prompt.ts';
import { readVerdict } from './verdict.ts';

/** Sends the evidence to the judge and reads its score. Never rejects: a failed judge is unscored, with its fault. */
export async function askJudge(input: CheckInput, evidence: Evidence): Promise<EvalOutcome> {
  const judged = listTexts({ ...evidence, extra: exactParam(input, 'extra') });
  return await askModel(input, writePrompt(input, evidence), (answer) =>
    readVerdict(answer, judged, input.params),
  );
}

/** Sends a prompt to the judge and reads its answer. Repeats the call once after a malformed answer. Never rejects. */
export async function askModel(
  { params, judge, signal }: CheckInput,
  task: JudgePrompt,
  read: (answer: string) => EvalOutcome | Promise<EvalOutcome>,
): Promise<EvalOutcome> {
  const question = {
    provider: optionalText(params['provider']),
    model: optionalText(params['model']),
    ...task,
    signal,
  };
  try {
    const answer = await judge(question);
    const outcome = await read(answer);
    if (outcome.status === 'scored' || outcome.error?.code !== 'REPLY_MALFORMED') return outcome;
    const complaint = `Your answer cannot be used: it ${complaintOf(outcome.error)}. Answer again, with one JSON object of the form that was asked for, and nothing else.`;
    return await read(await judge({ ...question, repair: { answer, complaint } }));
  } catch (thrown) {
    const fault = toFault(thrown);
    return unscored(`the judge failed: ${fault.message}`, fault);
  }
}

function complaintOf({ details }: Fault): string {
  return String(details?.['flaw'] ?? 'cannot be read');
}

function optionalText(param: unknown): string | undefined {
  return typeof param === 'string' ? param : undefined;
}

/** Collects every text in the value as plain text, without JSON escapes. */
export function listTexts(value: unknown): string {
  const texts: string[] = [];
  JSON.parse(stringifyJson(value), (_key, member: unknown) => {
    if (typeof member === 'string') texts.push(member);
    return member;
  });
  return texts.join('\n');
}
