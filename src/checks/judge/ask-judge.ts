import { type EvalOutcome, unscored } from '../../contract/eval.ts';
import { toFault } from '../../errors.ts';
import { stringifyJson } from '../../json/json.ts';
import type { Asked } from '../check.ts';
import { exactParam } from '../tools/exact.ts';
import { type Evidence, writePrompt } from './prompt.ts';
import { readVerdict } from './verdict.ts';

/** Puts the evidence before the judge and reads its score. A judge that fails is unscored, with its fault. */
export async function askJudge(asked: Asked, evidence: Evidence): Promise<EvalOutcome> {
  const { params, judge, signal } = asked;
  const { system, prompt } = writePrompt(asked, evidence);
  const question = {
    provider: wordOf(params['provider']),
    model: wordOf(params['model']),
    system,
    prompt,
    signal,
  };
  try {
    return readVerdict(await judge(question), listTexts({ ...evidence, extra: exactParam(asked, 'extra') }));
  } catch (thrown) {
    const fault = toFault(thrown);
    return unscored(`the judge failed: ${fault.message}`, fault);
  }
}

function wordOf(param: unknown): string | undefined {
  return typeof param === 'string' ? param : undefined;
}

/** Every text in the value, as it is and not as JSON writes it. */
function listTexts(value: unknown): string {
  const texts: string[] = [];
  JSON.parse(stringifyJson(value), (_key, member: unknown) => {
    if (typeof member === 'string') texts.push(member);
    return member;
  });
  return texts.join('\n');
}
